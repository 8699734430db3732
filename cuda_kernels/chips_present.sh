#!/bin/sh
# The compute capabilities of this machine's NVIDIA GPUs, as in "80 90"; "none" without one; "all" where
# the driver or a device is there and its capability is not to be had. meson.build asks it.
#   chips_present.sh [ROOT]    ROOT: where /dev and /proc are looked for
root=${1:-}
known=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
        sed -n 's/^ *\([0-9][0-9]*\)\.\([0-9]\) *$/\1\2/p' | sort -un | tr '\n' ' ')
if [ -n "$known" ]; then
  echo "${known% }"
  exit
fi
for trace in "$root"/proc/driver/nvidia/gpus/* "$root"/dev/nvidia[0-9]*; do
  if [ -e "$trace" ]; then
    echo all
    exit
  fi
done
echo none
