#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# image.sh
#
# Makes the image of data/packages/Containerfile from the newest archive in
# build-packages/ with podman or docker, and runs it without a network.  IMAGE_BASE
# names another base than the Containerfile does.

set -eu
cd "$(dirname "$0")/../.."
skip() { echo "skipped: the image: $*" >&2 && exit 77; }

engine=''
for program in podman docker; do
  if "$program" info >/dev/null 2>&1; then
    engine=$program
    break
  fi
done
[ -n "$engine" ] || skip 'neither podman nor docker works here'
# shellcheck disable=SC2012 # names of our own
archive=$(ls -t build-packages/qm-bench-*.tar.gz 2>/dev/null | head -n 1)
[ -n "$archive" ] || skip './dev package archive comes first'

"$engine" build --quiet --tag qm-bench --build-arg "ARCHIVE=${archive##*/}" \
  ${IMAGE_BASE:+--build-arg "BASE=$IMAGE_BASE"} \
  --file data/packages/Containerfile build-packages >&2
run() { "$engine" run --rm --network none qm-bench "$@"; }
run --version >&2
run devices >&2
run plan --model pythia-1b --gpu rtx4090 | tail -n 1 >&2
"$engine" image inspect --format '{{.Size}} bytes' qm-bench
