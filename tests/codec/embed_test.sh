#!/bin/bash
# Installs the codec as a library, and builds and runs docs/examples against what was installed, as a
# program of somebody else would. Exit status 77 (skipped) without pkg-config.
#   embed_test.sh SOURCE_FOLDER BUILD_FOLDER COMPILER...
set -eu
source=$1 build=$2
shift 2
command -v pkg-config >/dev/null || { echo "skipped: pkg-config is not installed"; exit 77; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
DESTDIR="$folder" meson install -C "$build" --no-rebuild --tags devel --quiet
PKG_CONFIG_PATH=$(dirname "$(find "$folder" -name firn-codec.pc)")
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR="$folder"
# shellcheck disable=SC2046 # several flags, separated by spaces
"$@" -std=c++20 "$source/docs/examples/relay.cc" $(pkg-config --cflags --libs firn-codec) \
  -o "$folder/relay"
output=$("$folder/relay")
echo "$output"
[[ $output == right:* ]]
