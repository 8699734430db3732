// Tests of the GPU codec. Cases of the suite "device" need a GPU; on a machine without one they are
// left out, and doctest's summary counts them as skipped.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>

#include "cuda_kernels/runtime/device.h"

int main(int argc, char** argv) {
  // Tests start from the device's properties and leave the user's cache alone; those of the
  // self-tune say where they keep theirs.
  setenv("FIRN_GPU_TUNING", "off", 0);
  doctest::Context context(argc, argv);
  const auto devices = firn::cuda::devices();
  if (devices.empty()) {
    std::printf("%s: tests on a device are skipped\n", firn::cuda::no_device_reason().c_str());
    context.addFilter("test-suite-exclude", "device");
  }
  for (const auto& device : devices) {
    std::printf("device %d: %s\n", device.index, device.name.c_str());
  }
  std::fflush(stdout);
  return context.run();
}
