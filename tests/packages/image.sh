#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# image.sh
#
# Makes the image of data/packages/Containerfile from the newest archive in
# build-packages/ with podman or docker, and runs it without a network.  IMAGE_BASE
# names another base than the Containerfile does.  Where that one is not here and
# cannot be pulled, a clean root of bookworm is taken instead.

set -eu
cd "$(dirname "$0")/../.."
. tests/clean-root.sh
say() { echo "image: $*" >&2; }

engine=''
for program in podman docker; do
  if "$program" info >/dev/null 2>&1; then
    engine=$program
    break
  fi
done
[ -n "$engine" ] || skip 'the image: neither podman nor docker works here'
# shellcheck disable=SC2012 # names of our own
archive=$(ls -t build-packages/qm-bench-*.tar.gz 2>/dev/null | head -n 1)
[ -n "$archive" ] || skip 'the image: ./dev package archive comes first'

base=${IMAGE_BASE:-$(sed -n 's/^ARG BASE=//p' data/packages/Containerfile)}
if ! "$engine" image inspect "$base" >/dev/null 2>&1 &&
  ! "$engine" pull --quiet "$base" >/dev/null 2>&1; then
  say "$base cannot be had: a clean root is its base"
  need_roots 'the image'
  root=$PWD/build-packages/root-image
  base=qm-bench-base
  copy_root "$root" bookworm
  tar --create --directory "$root" --exclude './var/cache/apt/*' \
    --exclude './var/lib/apt/lists/*' . | "$engine" import - "$base" >/dev/null
  rm -rf "$root"
fi

"$engine" build --quiet --network none --tag qm-bench --build-arg "ARCHIVE=${archive##*/}" \
  --build-arg "BASE=$base" --file data/packages/Containerfile build-packages >&2
# Limits that a machine which is itself virtual may set, too.
run() {
  "$engine" run --rm --network none --ulimit nofile=1024:1024 \
    --ulimit nproc=1024:1024 qm-bench "$@"
}
run --version >&2
run devices >&2
run plan --model pythia-1b --gpu rtx4090 | tail -n 1 >&2
"$engine" image inspect --format '{{.Size}} bytes' qm-bench
