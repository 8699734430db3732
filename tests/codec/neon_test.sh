#!/bin/bash
# Builds the codec and its tests for AArch64 and runs them under qemu: the NEON kernels against the
# scalar ones, and the synchronisation decoder on them against enumeration. Exit status 77 (skipped) where the cross compiler or qemu is not installed.
#   neon_test.sh SOURCE_FOLDER BUILD_FOLDER
set -eu
source=$1 build=$2

if [ -n "${CI:-}" ]; then
  echo "skipped: too long for every change; scripts/prove neon runs it"
  exit 77
fi

for program in aarch64-linux-gnu-g++ qemu-aarch64 meson ninja; do
  if ! command -v "$program" >/dev/null; then
    echo "skipped: $program is not installed (Debian: g++-aarch64-linux-gnu qemu-user)"
    exit 77
  fi
done
# What the outer build was set up with is meant for the machine it runs on.
unset CC CXX CFLAGS CXXFLAGS LDFLAGS CPPFLAGS
if [ ! -f "$build/build.ninja" ]; then
  rm -rf "$build"
  meson setup -Dcodec_only=true -Dunity=on -Dunity_size=5 --cross-file "$source/tests/codec/aarch64.ini" "$build" "$source" \
    >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
fi
ninja -j2 -C "$build" tests/codec/codec_test tests/codec/sync/sync_test >"$build.log" 2>&1 || { tail -n 40 "$build.log"; exit 1; }
qemu-aarch64 "$build/tests/codec/codec_test" "${@:3}"
exec qemu-aarch64 "$build/tests/codec/sync/sync_test" --test-case='*lattice kernel*,*enumerating*'
