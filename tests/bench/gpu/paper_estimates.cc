#include "paper_estimates.h"

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

#include "codec/kernels.h"

namespace firn::cuda::papers {
namespace {

// The CPU's clock from a chain of additions that depend on each other, one a cycle.
double cpu_hertz() {
  constexpr std::uint64_t kSteps = 200'000'000;
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t left = kSteps;
  // The compiler must not see that the loop only counts.
  while (left != 0) asm volatile("sub $1, %0" : "+r"(left));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return kSteps / took.count();
}

double gpu_hertz(const Device& device) {
  int kilohertz = 0;
  (void)cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device.index);
  return 1e3 * kilohertz;
}

// Table I's rows for one machine. `cycles` is what one product of `width` bytes takes a core.
struct Machine {
  const char* name;
  double hertz;
  int cores, width;
  double cycles;
  double measured;  // byte products a second, 0 if the paper gives none

  double estimate() const { return hertz * cores * width / cycles; }
};

// Bytes that the chosen kernels multiply in a cycle of one core at best: what the instructions'
// execution ports allow, as measured on Sapphire Rapids.
double bytes_per_cycle(std::string_view kernels) {
  if (kernels == "avx512-gfni") return 64;
  if (kernels == "avx2-gfni") return 47;
  return 23;
}

}  // namespace

nlohmann::ordered_json estimate_computing_power(const Device& device, std::size_t cpu_threads,
                                                double word_products_per_s,
                                                double cpu_byte_products_per_s) {
  // The loop by hand takes 9 instructions a round on Hopper, as disassembled: 6 for the integer
  // lanes, of which a multiprocessor has 64; two shifts, which the assembler makes multiplications
  // for the other lanes; and the branch. 0xff takes 8 rounds, and one product is a word of 4 bytes.
  constexpr double kRounds = 8, kIntegerInstructions = 6;
  constexpr int kLanes = 64;
  const std::string_view kernels = codec::kernels().name;
  const std::vector<Machine> machines = {
      {"Mac Pro, 8 cores (paper, cc3)", 2.8e9, 8, 16, 8 * 5, 7168.0 * 1024 * 2048 / 1.672},
      {"8800 GT (paper, cc3)", 1.5e9, 112, 4, 8 * 10.5, 7168.0 * 1024 * 2048 / 1.905},
      {"this CPU, the codec", cpu_hertz(), static_cast<int>(cpu_threads),
       static_cast<int>(bytes_per_cycle(kernels)), 1, cpu_byte_products_per_s},
      {"this GPU, the loop by hand", gpu_hertz(device), device.multiprocessors * kLanes, 4,
       kRounds * kIntegerInstructions, 4 * word_products_per_s},
  };
  nlohmann::ordered_json table;
  std::printf("Table I redone\n%-32s %6s %6s %6s %7s %12s %12s\n", "", "GHz", "cores", "width",
              "cycles", "estimated/s", "measured/s");
  for (const Machine& one : machines) {
    std::printf("%-32s %6.2f %6d %6d %7.1f %12.3g %12.3g\n", one.name, one.hertz / 1e9, one.cores,
                one.width, one.cycles, one.estimate(), one.measured);
    table.push_back({{"machine", one.name},
                     {"GHz", one.hertz / 1e9},
                     {"cores", one.cores},
                     {"width_bytes", one.width},
                     {"cycles_per_product", one.cycles},
                     {"estimated_byte_products_per_s", one.estimate()},
                     {"measured_byte_products_per_s", one.measured}});
  }
  return table;
}

}  // namespace firn::cuda::papers
