#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# in-clean-root.sh RELEASE [PACKAGE...]
#
# Runs `./dev test` on the working tree in a new root of that release of Debian,
# which holds the base system and these packages: whatever else it needs, dev
# installs.  It needs root, debootstrap, and apt's mirror of Debian.  What fails
# leaves its root behind.

set -eu
cd "$(dirname "$0")/.."
. tests/clean-root.sh
release=$1
shift
need_roots "the tests in a clean $release"

name=$release-bare
[ $# -eq 0 ] || name=$release-more
root=$PWD/build-root-$name
echo "$name: the base system" >&2
make_root "$root" "$release"
put_tree "$root/clone"
echo "$name: ./dev test" >&2
# shellcheck disable=SC2016 # for the inner shell
in_root "$root" sh -euc '
  cd /clone
  apt-get -qq update
  [ $# -eq 0 ] || apt-get -qq -y --no-install-recommends install "$@" >/dev/null
  ./dev test' dev "$@" || {
  echo "$name: failed; it is still in $root" >&2
  exit 1
}
rm -rf "$root" "$root.log"
