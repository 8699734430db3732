// Tests of the GPU codec. Cases of the suite "device" need a GPU; on a machine without one they are
// left out, and doctest's summary counts them as skipped.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>

#include "cuda_kernels/runtime.h"

int main(int argc, char** argv) {
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
