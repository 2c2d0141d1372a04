#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# in-clean-root.sh RELEASE [PACKAGE...]
#
# Runs `./dev test` on the working tree in a new root of that release of Debian,
# which holds the base system: whatever else it needs, dev installs.  Where
# packages are named, they are installed then, and what was built is tested
# again.  It needs root, debootstrap, and apt's mirror of Debian.  What fails
# leaves its root behind.

set -eu
cd "$(dirname "$0")/.."
release=$1
shift

skip() {
  echo "skipped: the tests in a clean $release: $*" >&2
  exit 77
}

[ "$(id -u)" -eq 0 ] || skip 'they need root'
for tool in debootstrap unshare apt-get git; do
  command -v "$tool" >/dev/null || skip "$tool is missing"
done
# shellcheck disable=SC2016 # apt's own
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Label: Debian' |
  sed -n 1p)
[ -n "$mirror" ] || skip 'apt knows no mirror of Debian'

root=$PWD/build-root-$release
rm -rf "$root"
mkdir "$root"
echo "$release: the base system" >&2
debootstrap --variant=minbase "$release" "$root" "$mirror" >"$root.log" 2>&1 || {
  tail -n 5 "$root.log" >&2
  exit 1
}

# As a clone would be, with what is not committed yet; and no service starts.
mkdir "$root/clone"
git ls-files -z --cached --others --exclude-standard |
  tar --create --null --files-from - --ignore-failed-read 2>/dev/null |
  tar --extract --directory "$root/clone"
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod +x "$root/usr/sbin/policy-rc.d"

# What is mounted, and whatever still runs, ends with the program that unshare
# starts.
# shellcheck disable=SC2016 # for the inner shells
unshare --mount --pid --fork --kill-child sh -c '
  root=$1
  shift
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  mount --bind /tmp "$root/tmp" # so that no two displays have one number
  exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    DEBIAN_FRONTEND=noninteractive \
    ${QM_TEST_FULL:+QM_TEST_FULL="$QM_TEST_FULL"} sh -eu -c "
      release=\$1
      shift
      cd /clone
      apt-get -qq update
      failed=\"\"
      echo \"\$release: ./dev test, bare\"
      ./dev test || failed=\" bare\"
      if [ \$# -gt 0 ]; then
        apt-get -qq -y --no-install-recommends install \"\$@\" >/dev/null
        echo \"\$release: ./dev test, with \$*\"
        ./dev test || failed=\"\$failed with-packages\"
      fi
      [ -z \"\$failed\" ] || {
        echo \"\$release: failed:\$failed\"
        exit 1
      }" dev "$@"
' in-clean-root "$root" "$release" "$@" || {
  echo "$release: it failed, and is still in $root" >&2
  exit 1
}
rm -rf "$root" "$root.log"
