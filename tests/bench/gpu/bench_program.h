// What the programs that measure one device have in common:
//   PROGRAM [--quick] [RESULT.json]
#pragma once

#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "cuda_kernels/runtime/device.h"

namespace firn::cuda {

// main(): `measure(device, quick)` on the first device gives the JSON to write. 77 (skipped)
// without a device.
template <typename Measure>
int run_bench_program(int argc, char** argv, const Measure& measure) {
  bool quick = false;
  std::string file;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--quick") {
      quick = true;
    } else {
      file = argv[i];
    }
  }
  const std::vector<Device> found = devices();
  if (found.empty()) {
    std::printf("%s: nothing to measure\n", no_device_reason().c_str());
    return 77;
  }
  const auto result = measure(found[0], quick);
  if (!file.empty()) std::ofstream(file) << result.dump(1) << "\n";
  return 0;
}

}  // namespace firn::cuda
