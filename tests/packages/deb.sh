#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# deb.sh [RELEASE]
#
# Builds the Debian packages in a clean root of that release (bookworm), where
# nothing is but what they say that they need, has lintian look at them, installs
# them in another one and uses both programs and the window there.  The packages
# are in build-packages/.  DEBFULLNAME and DEBEMAIL say who makes them.
#
# QM_PACKAGE_CUDA=/usr/local/cuda has kernels for GPUs compiled by the CUDA there, for
# those in QM_PACKAGE_GPUS (all that nvcc and we know), which takes an hour of a
# processor.  Without, qm-bench is as in Debian's main, which has no such compiler.

set -eu
cd "$(dirname "$0")/../.."
. tests/clean-root.sh
release=${1:-bookworm}
need_roots 'Debian packages'
say() { echo "deb $release: $*" >&2; }

version=$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)
maker="${DEBFULLNAME:-$(git log -1 --format=%an)} <${DEBEMAIL:-$(git log -1 --format=%ae)}>"
out=$PWD/build-packages
maker_root=$out/root-$release-build
user_root=$out/root-$release-use
mkdir -p "$out"

# The releases of NEWS.md, as Debian writes them.
changelog() {
  sed -n 's/^## \([0-9.]*\) (\(.*\))$/\1 \2/p' NEWS.md |
    while read -r number day; do
      echo "quartermaster ($number) unstable; urgency=medium"
      printf '\n  * NEWS.md says what is new.\n\n -- %s  %s\n\n' "$maker" \
        "$(LC_ALL=C date -u -R -d "$day")"
    done
}

say 'the base system'
copy_root "$maker_root" "$release"

cuda=disabled
if [ -n "${QM_PACKAGE_CUDA:-}" ]; then
  cuda=enabled
  mkdir -p "$maker_root/usr/local/cuda"
fi

source=$maker_root/build/quartermaster-$version
put_tree "$source"
cp -R data/packages/debian "$source/debian"
sed -i "s/@MAINTAINER@/$maker/" "$source/debian/control"
changelog >"$source/debian/changelog"

say 'what it is built with'
# shellcheck disable=SC2016 # for the inner shell
in_root "$maker_root" sh -euc '
  cd "/build/$1"
  apt-get -qq update
  apt-get -qq -y --no-install-recommends install dpkg-dev lintian >/dev/null
  apt-get -qq -y --no-install-recommends build-dep . >/dev/null' \
  deb "quartermaster-$version"
say 'the packages'
# shellcheck disable=SC2016 # for the inner shell
in_root "$maker_root" sh -euc '
  cd "/build/$1"
  QM_PACKAGE_CUDA=$2 QM_PACKAGE_GPUS=$3 DEB_BUILD_OPTIONS="parallel=$(nproc)" \
    dpkg-buildpackage -b -us -uc >../build.log 2>&1 || {
    tail -n 40 ../build.log
    exit 1
  }
  cd ..
  lintian --allow-root --info --fail-on warning,error ./*.changes' \
  deb "quartermaster-$version" "$cuda" \
  "${QM_PACKAGE_GPUS:-75,80,86,89,90a,100,120}" >&2

say 'used where nothing else is'
copy_root "$user_root" "$release"
cp "$maker_root"/build/*.deb "$user_root/root/"
rm "$user_root"/root/*-dbgsym_* 2>/dev/null || true
# shellcheck disable=SC2016 # for the inner shell
in_root "$user_root" sh -euc '
  cd /root
  apt-get -qq update
  apt-get -qq -y --no-install-recommends install ./qm-bench_*.deb >/dev/null
  qm-bench --version
  qm-bench plan --model pythia-1b --gpu rtx4090 | tail -n 1
  qm-bench predict --model pythia-1b --gpu h100-80gb-sxm
  if command -v quartermaster; then exit 1; fi
  apt-get -qq -y --no-install-recommends install ./quartermaster_*.deb \
    xvfb xauth dbus-x11 >/dev/null
  quartermaster --version
  quartermaster advise --model pythia-1b --budget 40000 | head -n 1
  LANG=C.UTF-8 LANGUAGE=de quartermaster advise --model pythia-1b --budget 40000 |
    head -n 1
  status=0
  timeout 20 xvfb-run -a dbus-run-session -- quartermaster || status=$?
  [ "$status" -eq 124 ] # it was still open
  echo "the window opened"
  apt-get -qq -y purge quartermaster qm-bench >/dev/null
  [ ! -e /usr/share/quartermaster ]' >&2

find "$out" -maxdepth 1 -name '*.deb' -delete
cp "$user_root"/root/*.deb "$out/"
rm -rf "$maker_root" "$user_root"
(cd "$out" && du --apparent-size -h ./*.deb)
