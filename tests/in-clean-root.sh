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
. tests/clean-root.sh
release=$1
shift
need_roots "the tests in a clean $release"

root=$PWD/build-root-$release
echo "$release: the base system" >&2
make_root "$root" "$release"
put_tree "$root/clone"
# shellcheck disable=SC2016 # for the inner shell
in_root "$root" sh -euc '
  release=$1
  shift
  cd /clone
  apt-get -qq update
  failed=""
  echo "$release: ./dev test, bare"
  ./dev test || failed=" bare"
  if [ $# -gt 0 ]; then
    apt-get -qq -y --no-install-recommends install "$@" >/dev/null
    echo "$release: ./dev test, with $*"
    ./dev test || failed="$failed with-packages"
  fi
  [ -z "$failed" ] || {
    echo "$release: failed:$failed"
    exit 1
  }' dev "$release" "$@" || {
  echo "$release: it failed, and is still in $root" >&2
  exit 1
}
rm -rf "$root" "$root.log"
