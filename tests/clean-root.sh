# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
#
# Roots of Debian with nothing but the base system, for scripts that source this
# file at the root of the project:
#
#   need_roots WHAT            ends the script with 77 where there can be none
#   make_root FOLDER RELEASE   a new one
#   copy_root FOLDER RELEASE   the same, of one in build-packages/ that is made once
#   put_tree FOLDER            the working tree there, as a clone would have it
#   in_root FOLDER COMMAND [ARGUMENT...]
#                              runs it in a root, as root, with the network; where
#                              QM_PACKAGE_CUDA names a CUDA, that is lent to it in
#                              /usr/local/cuda

need_roots() {
  [ "$(id -u)" -eq 0 ] || skip "$1: they need root"
  for tool in debootstrap unshare apt-get git; do
    command -v "$tool" >/dev/null || skip "$1: $tool is missing"
  done
  # shellcheck disable=SC2016 # apt's own
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Label: Debian' |
    sed -n 1p)
  [ -n "$mirror" ] || skip "$1: apt knows no mirror of Debian"
}

skip() {
  echo "skipped: $*" >&2
  exit 77
}

make_root() {
  rm -rf "$1"
  mkdir -p "$1"
  debootstrap --variant=minbase "$2" "$1" "$mirror" >"$1.log" 2>&1 || {
    tail -n 5 "$1.log" >&2
    exit 1
  }
  # It need not outlive this machine.
  echo force-unsafe-io >"$1/etc/dpkg/dpkg.cfg.d/unsafe-io"
  # No service starts.
  printf '#!/bin/sh\nexit 101\n' >"$1/usr/sbin/policy-rc.d"
  chmod +x "$1/usr/sbin/policy-rc.d"
}

copy_root() {
  kept=$PWD/build-packages/base-$2
  if [ ! -d "$kept" ]; then
    make_root "$kept.new" "$2"
    rm "$kept.new.log"
    mv "$kept.new" "$kept"
  fi
  rm -rf "$1"
  cp -a "$kept" "$1"
}

# With what is not committed yet.
put_tree() {
  mkdir -p "$1"
  git ls-files -z --cached --others --exclude-standard |
    tar --create --null --files-from - --ignore-failed-read 2>/dev/null |
    tar --extract --directory "$1"
}

# What is mounted, and whatever still runs, ends with the program that unshare
# starts.
in_root() {
  # shellcheck disable=SC2016 # for the inner shell
  unshare --mount --pid --fork --kill-child sh -c '
    root=$1
    shift
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount --bind /tmp "$root/tmp" # so that no two displays have one number
    if [ -n "${QM_PACKAGE_CUDA:-}" ] && [ -d "$root/usr/local/cuda" ]; then
      mount --bind "$QM_PACKAGE_CUDA" "$root/usr/local/cuda"
    fi
    exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
      DEBIAN_FRONTEND=noninteractive \
      ${QM_TEST_FULL:+QM_TEST_FULL="$QM_TEST_FULL"} "$@"
    ' in-root "$@"
}
