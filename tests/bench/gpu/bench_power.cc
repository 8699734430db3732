// What holds a busy device back: rates in a burst and for seconds, with power and clock beside
// them, and what each part of the kernel for n <= 128 costs.
//   bench_power [--quick] [RESULT.json]
//   bench_power --once N K     launches that product four times and ends, for a profiler
// Every load is measured twice. A burst is 12 launches after a second of rest, so at the highest
// clock; then the same goes on for two seconds (--quick: one), in whose second half power, clock
// and the driver's reasons for it are read (NVML). GB/s are 10^9 bytes of coded or decoded payload
// per second; at the same energy for a byte, a rate is power over energy.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "bench_program.h"
#include "ceilings.h"
#include "cuda_kernels/batch/batch.h"
#include "cuda_kernels/choice/tuner.h"
#include "cuda_kernels/runtime/memory.h"
#include "cuda_kernels/runtime/stopwatch.h"
#include "left_out.h"
#include "power_meter.h"

namespace firn::cuda {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kSourceBytes = 512 * kMiB;
constexpr double kRestSeconds = 1;
constexpr int kBurst = 12;

void must(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "bench_power: %s\n", status.detail.c_str());
  std::exit(1);
}

class Bench {
 public:
  Bench(const Device& device, double seconds) : device_(device), seconds_(seconds), meter_(device) {
    must(tune(device, ""));
    must(stream_.open(device));
    must(watch_.open(device));
    must(source_.allocate(device, kSourceBytes + kMiB));
    must(out_.allocate(device, kSourceBytes + kMiB));
    must(coefficients_.allocate(device, 64 * kMiB));
    must(scratch_.allocate(device, 1200 * kMiB));
    must(ranks_.allocate(device, kMiB));
    must(launch_coefficients(stream_, 1, 0, 0, 1, source_.size(), source_.data()));
    must(launch_coefficients(stream_, 2, 0, 0, 1, coefficients_.size(), coefficients_.data()));
    must(stream_.wait());
  }

  Json run();
  void once(std::size_t n, std::size_t k) {
    for (int i = 0; i < 4; ++i) product(shape(n, k), Path::kBest);
    must(stream_.wait());
  }

 private:
  static Shape shape(std::size_t n, std::size_t k) { return {kSourceBytes / (n * k), n, n, k}; }
  static double bytes(const Shape& s) {
    return static_cast<double>(s.generations * s.generation_size * s.block_bytes);
  }
  void product(const Shape& s, Path path) {
    must(launch_product(stream_, s, coefficients_.data(), {source_.data(), s.block_bytes},
                        {out_.data(), s.block_bytes}, {scratch_.data(), scratch_.size()}, path));
  }
  void decode(const Shape& s) {
    must(launch_decode(stream_, s, coefficients_.data(), {source_.data(), s.block_bytes},
                       {out_.data(), s.block_bytes},
                       {reinterpret_cast<std::uint32_t*>(ranks_.data()), nullptr},
                       {scratch_.data(), scratch_.size()}));
  }
  double seconds_of(const std::function<void()>& work, int runs) {
    must(watch_.start(stream_));
    for (int i = 0; i < runs; ++i) work();
    must(watch_.stop(stream_));
    double seconds = 0;
    must(watch_.read(seconds));
    return seconds / runs;
  }
  void measure(const std::string& what, Json row, double bytes, const std::function<void()>& work);
  void ceiling(std::size_t n, double products_for_one, bool copies);
  void note(const std::string& what, Json row, double burst, double lasting,
            const PowerMeter::Reading& read);

  const Device device_;
  const double seconds_;
  PowerMeter meter_;
  Stream stream_;
  Stopwatch watch_;
  DeviceMemory source_, out_, coefficients_, scratch_, ranks_;
  Json rates_;
};

void Bench::measure(const std::string& what, Json row, double bytes,
                    const std::function<void()>& work) {
  work();
  must(stream_.wait());
  (void)meter_.watch(kRestSeconds);
  const double burst = seconds_of(work, kBurst);
  const int runs = static_cast<int>(seconds_ / 2 / burst) + 1;
  meter_.start();
  (void)seconds_of(work, runs);  // the chip's power reaches its limit
  const double lasting = seconds_of(work, runs);
  note(what, row, bytes / burst / 1e9, bytes / lasting / 1e9, meter_.stop());
}

void Bench::note(const std::string& what, Json row, double burst, double lasting,
                 const PowerMeter::Reading& read) {
  std::printf("%-52s %7.1f in a burst, %7.1f GB/s; %4.0f W %5.0f MHz, at the limit %3.0f %%",
              what.c_str(), burst, lasting, read.watts, read.sm_mhz, 100 * read.at_power_limit);
  std::printf(", %.3f nJ a byte\n", read.watts / lasting);
  std::fflush(stdout);
  row["what"] = what;
  row["burst_GB_per_s"] = burst;
  row["lasting_GB_per_s"] = lasting;
  row["watts"] = read.watts;
  row["sm_MHz"] = read.sm_mhz;
  row["share_at_power_limit"] = read.at_power_limit;
  row["share_otherwise_held"] = read.otherwise_held;
  row["samples"] = read.samples;
  rates_.push_back(row);
}

// Products alone, and products and copies: bounds that no kernel passes. Rates are bytes of a
// product with this n, if each takes that number of bit products.
void Bench::ceiling(std::size_t n, double products_for_one, bool copies) {
  const double products = products_for_one * static_cast<double>(n);
  const auto rate_over = [&](double seconds) {
    double rate = 0;
    if (copies) {
      must(measure_products_and_copies(stream_, products, static_cast<int>(8 * n), source_, out_,
                                       seconds, rate));
    } else {
      must(measure_binary_wgmma(stream_, seconds, rate));
      rate /= products;
    }
    return rate / 1e9;
  };
  must(stream_.wait());
  (void)meter_.watch(kRestSeconds);
  const double burst = rate_over(0.005);
  meter_.start();
  const double lasting = rate_over(seconds_);
  note("tensor cores" + std::string(copies ? " and copies" : "") + ", " +
           std::to_string(static_cast<int>(products_for_one)) + " n, n=" + std::to_string(n),
       {{"n", n}, {"bit_products_per_byte", products}}, burst, lasting, meter_.stop());
}

Json Bench::run() {
  const std::time_t now = std::time(nullptr);
  char date[32] = {};
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  if (!meter_.problem().empty()) {
    std::printf("power and clock cannot be read: %s\n", meter_.problem().c_str());
  }
  std::printf("%s: limit %.0f W, highest clock %.0f MHz\n", device_.name.c_str(),
              meter_.limit_watts(), meter_.sm_mhz_max());
  for (int round = 0; round < 2; ++round) {
    for (const auto& size_of : {std::pair<std::size_t, std::size_t>{64, 16384},
                                {128, 16384},
                                {128, 4096},
                                {256, 16384},
                                {512, 16384},
                                {1024, 16384}}) {
      const std::size_t n = size_of.first, k = size_of.second;
      const Shape s = shape(n, k);
      const std::string size = "n=" + std::to_string(n) + " k=" + std::to_string(k);
      const Json row{{"n", n}, {"k", k}, {"round", round}};
      measure("product " + size, row, bytes(s), [&] { product(s, Path::kBest); });
      if (n == 128) measure("decode " + size, row, bytes(s), [&] { decode(s); });
      if (n > 128 || !device_.has_binary_wgmma()) continue;
      for (const LeftOut part : kLeftOuts) {
        if (part == LeftOut::kNothing || k != 16384) continue;
        measure("product " + size + " without " + std::string(words_for(part)), row, bytes(s), [&] {
          must(launch_left_out(stream_, s, coefficients_.data(), {source_.data(), k},
                               {out_.data(), k}, part));
        });
      }
    }
    if (device_.has_binary_wgmma()) {
      ceiling(128, 64, false);
      for (const std::size_t n : {64, 128, 256}) ceiling(n, 64, true);
      for (const std::size_t n : {256, 512, 1024}) ceiling(n, 48, true);  // as the tower has it
    }
    measure("copy on the device", {{"round", round}}, static_cast<double>(kSourceBytes),
            [&] { must(stream_.copy_on_device(out_.data(), source_.data(), kSourceBytes)); });
  }
  return {{"date", date},
          {"device", device_.name},
          {"driver", driver_version()},
          {"power_limit_watts", meter_.limit_watts()},
          {"sm_MHz_max", meter_.sm_mhz_max()},
          {"rates", rates_}};
}

}  // namespace
}  // namespace firn::cuda

int main(int argc, char** argv) {
  using namespace firn::cuda;
  if (argc == 4 && std::string_view(argv[1]) == "--once") {
    const auto found = devices();
    if (found.empty()) return 77;
    Bench(found[0], 0).once(std::strtoul(argv[2], nullptr, 10), std::strtoul(argv[3], nullptr, 10));
    return 0;
  }
  return run_bench_program(argc, argv, [](const Device& device, bool quick) {
    return Bench(device, quick ? 1 : 2).run();
  });
}
