// Rates of the GPU codec, next to what the device could do at best, measured in the same run:
//   bench_gpu [--quick] [RESULT.json]
// Prints a table and writes everything as JSON. GB/s are 10^9 bytes of coded or decoded payload per
// second. A rate is the median of seven samples of at least 20 ms each, and its spread; "sustained"
// is one sample of 3 s; --quick measures a few products only. Before it is timed, a part of each
// result is compared with the CPU's.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bench_program.h"
#include "ceilings.h"
#include "codec/kernels.h"
#include "codec/random.h"
#include "cuda_kernels/batch/batch.h"
#include "cuda_kernels/choice/tuner.h"
#include "cuda_kernels/host/host_codec.h"
#include "cuda_kernels/runtime/memory.h"
#include "cuda_kernels/runtime/stopwatch.h"

namespace firn::cuda {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kSourceBytes = 512 * kMiB;  // well beyond the second-level cache
constexpr std::size_t kHostBytes = 4096 * kMiB;   // the longest batch from and to the host
constexpr int kSamples = 7;
constexpr double kSampleSeconds = 0.02, kSustainedSeconds = 3;

void must(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "bench_gpu: %s\n", status.detail.c_str());
  std::exit(1);
}

struct Rate {
  double seconds = 0, spread = 0;  // of one run; (slowest - fastest) / median
};

class Bench {
 public:
  explicit Bench(const Device& device, bool quick) : device_(device), quick_(quick) {
    const auto begin = std::chrono::steady_clock::now();
    must(tune(device, ""));
    tuning_seconds_ =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    must(stream_.open(device));
    must(watch_.open(device));
    must(source_.allocate(device, 1100 * kMiB));
    must(out_.allocate(device, 1100 * kMiB));
    must(coefficients_.allocate(device, 600 * kMiB));
    must(scratch_.allocate(device, 1200 * kMiB));
    must(ranks_.allocate(device, 16 * kMiB));
    must(launch_coefficients(stream_, 1, 0, 0, 1, source_.size(), source_.data()));
    must(launch_coefficients(stream_, 2, 0, 0, 1, coefficients_.size(), coefficients_.data()));
    must(stream_.wait());
  }

  Json run();

 private:
  double time_of(const std::function<void()>& work, int runs) {
    must(watch_.start(stream_));
    for (int i = 0; i < runs; ++i) work();
    must(watch_.stop(stream_));
    double seconds = 0;
    must(watch_.read(seconds));
    return seconds;
  }

  Rate rate_of(const std::function<void()>& work) {
    time_of(work, 1);
    const double once = time_of(work, 2) / 2;
    const int runs = std::max(1, static_cast<int>(kSampleSeconds / once));
    std::vector<double> samples;
    for (int i = 0; i < kSamples; ++i) samples.push_back(time_of(work, runs) / runs);
    std::sort(samples.begin(), samples.end());
    const double median = samples[kSamples / 2];
    return {median, (samples.back() - samples.front()) / median};
  }

  double sustained(const std::function<void()>& work) {
    const double once = time_of(work, 3) / 3;
    const int runs = static_cast<int>(kSustainedSeconds / once) + 1;
    return time_of(work, runs) / runs;
  }

  Shape shape(std::size_t n, std::size_t k) const {
    return {std::max<std::size_t>(1, kSourceBytes / (n * k)), n, n, k};
  }
  ConstBlocks source(std::size_t k) const { return {source_.data(), k}; }
  Blocks out(std::size_t k) const { return {out_.data(), k}; }
  Scratch scratch() const { return {scratch_.data(), scratch_.size()}; }
  Ranks ranks() const {
    return {reinterpret_cast<std::uint32_t*>(ranks_.data()), ranks_.data() + 4 * kMiB};
  }

  void add(const char* what, Path path, const Shape& shape, double bytes, const Rate& rate,
           double limit);
  void check_product(const Shape& shape);

  void ceilings();
  void product(Path path, const Shape& shape, bool long_run);
  void products();
  void decoding();
  void others();
  void host_to_host();

  Device device_;
  bool quick_;
  Stream stream_;
  Stopwatch watch_;
  DeviceMemory source_, out_, coefficients_, scratch_, ranks_;
  double tuning_seconds_ = 0;
  double bit_products_ = 0;  // per second, in a burst
  Json result_;
};

void Bench::add(const char* what, Path path, const Shape& shape, double bytes, const Rate& rate,
                double limit) {
  const double gigabytes = bytes / rate.seconds / 1e9;
  const std::string path_name(name(path));
  std::printf("%-22s %-7s n=%-5zu k=%-8zu x%-7zu %8.1f GB/s  +-%4.1f %%", what, path_name.c_str(),
              shape.generation_size, shape.block_bytes, shape.generations, gigabytes,
              50 * rate.spread);
  if (limit > 0) std::printf("  %5.1f %% of %.0f", 100 * gigabytes / limit, limit);
  std::printf("\n");
  std::fflush(stdout);
  Json row{{"what", what},          {"path", path_name},      {"n", shape.generation_size},
           {"m", shape.rows},       {"k", shape.block_bytes}, {"generations", shape.generations},
           {"GB_per_s", gigabytes}, {"spread", rate.spread}};
  if (limit > 0) row["limit_GB_per_s"] = limit;
  result_["rates"].push_back(row);
}

// The last generation's first and last bytes of every row, against the CPU.
void Bench::check_product(const Shape& shape) {
  const std::size_t n = shape.generation_size, k = shape.block_bytes, g = shape.generations - 1;
  const std::size_t bytes = std::min<std::size_t>(k, 512);
  Bytes c(n * n), in(n * bytes), got(n * bytes), wanted(n * bytes);
  for (const std::size_t from : {std::size_t{0}, k - bytes}) {
    must(stream_.copy_out(c.data(), coefficients_.data() + g * n * n, n * n));
    must(stream_.copy_rows_out(in.data(), bytes, source_.data() + g * n * k + from, k, bytes, n));
    must(stream_.copy_rows_out(got.data(), bytes, out_.data() + g * n * k + from, k, bytes, n));
    must(stream_.wait());
    std::vector<const std::uint8_t*> rows;
    std::vector<std::uint8_t*> to;
    for (std::size_t i = 0; i < n; ++i) {
      rows.push_back(&in[i * bytes]);
      to.push_back(&wanted[i * bytes]);
    }
    codec::kernels().combine_rows(to.data(), n, rows.data(), n, c.data(), n, bytes);
    if (got != wanted) must({Code::kFailed, "a product is not the CPU's"});
  }
}

void Bench::ceilings() {
  Json& at = result_["ceilings"];
  if (device_.has_binary_wgmma()) {
    double burst = 0, long_run = 0;
    must(measure_binary_wgmma(stream_, 0.02, burst));
    must(measure_binary_wgmma(stream_, kSustainedSeconds, long_run));
    bit_products_ = burst;
    at["binary_wgmma_bit_products_per_s"] = burst;
    at["binary_wgmma_bit_products_per_s_sustained"] = long_run;
    std::printf("binary wgmma %.3g bit products/s in a burst, %.3g sustained\n", burst, long_run);
  }
  const std::size_t bytes = 1024 * kMiB;
  const auto copy = [&] { must(stream_.copy_on_device(out_.data(), source_.data(), bytes)); };
  const double on_device = 2.0 * static_cast<double>(bytes) / rate_of(copy).seconds / 1e9;
  PinnedMemory from, to;
  must(from.allocate(device_, 256 * kMiB));
  must(to.allocate(device_, 256 * kMiB));
  const auto half = static_cast<double>(from.size());
  const auto copy_in = [&] { must(stream_.copy_in(source_.data(), from.data(), from.size())); };
  const auto copy_out = [&] { must(stream_.copy_out(to.data(), out_.data(), to.size())); };
  at["device_copy_GB_per_s_read_and_written"] = on_device;
  at["host_to_device_GB_per_s"] = half / rate_of(copy_in).seconds / 1e9;
  at["device_to_host_GB_per_s"] = half / rate_of(copy_out).seconds / 1e9;
  std::printf("device copy %.0f GB/s read and written; host to device %.1f, device to host %.1f\n",
              on_device, at["host_to_device_GB_per_s"].get<double>(),
              at["device_to_host_GB_per_s"].get<double>());
  must(launch_coefficients(stream_, 1, 0, 0, 1, source_.size(), source_.data()));
}

void Bench::product(Path path, const Shape& s, bool long_run) {
  const std::size_t n = s.generation_size, k = s.block_bytes;
  const auto work = [&] {
    must(launch_product(stream_, s, coefficients_.data(), source(k), out(k), scratch(), path));
  };
  must(stream_.fill(out_.data(), 0xa5, out_.size()));
  work();
  check_product(s);
  const double bytes = static_cast<double>(s.generations * n * k);
  const double limit = path == Path::kBest && device_.has_binary_wgmma()
                           ? bit_products_ / 64 / static_cast<double>(n) / 1e9
                           : 0;
  add("product", path, s, bytes, rate_of(work), limit);
  if (long_run) add("product, sustained", path, s, bytes, {sustained(work), 0}, limit);
}

void Bench::products() {
  const std::vector<std::size_t> sizes{32, 64, 128, 256, 512, 1024};
  for (const std::size_t n : sizes) {
    for (const std::size_t k : {1024, 4096, 16384, 65536, 1 << 20}) {
      if (!quick_ || k == 16384) product(Path::kBest, shape(n, k), k == 16384);
    }
  }
  for (const Path path : {Path::kWgmma, Path::kTower, Path::kMma, Path::kTables}) {
    if (!has_path(device_, path)) continue;
    for (const std::size_t n : sizes) {
      if (path == Path::kTower && n < 128) continue;
      product(path, shape(n, 16384), path == Path::kWgmma || path == Path::kTower);
    }
  }
}

void Bench::decoding() {
  for (const std::size_t n : {32, 64, 128, 256, 512, 1024}) {
    for (const std::size_t k : {1024, 4096, 16384}) {
      const Shape s = shape(n, k);
      const auto work = [&] {
        must(
            launch_decode(stream_, s, coefficients_.data(), source(k), out(k), ranks(), scratch()));
      };
      add("decode", Path::kBest, s, static_cast<double>(s.generations * n * k), rate_of(work), 0);
    }
  }
}

void Bench::others() {
  for (const std::size_t n : {32, 64, 128, 256, 512, 1024}) {
    const std::size_t count = std::min<std::size_t>(16384, 256 * kMiB / (n * n));
    const auto work = [&] {
      must(
          launch_inverse(stream_, count, n, coefficients_.data(), out_.data(), ranks(), scratch()));
    };
    const Rate rate = rate_of(work);
    const double matrices = static_cast<double>(count) / rate.seconds;
    std::printf("inverse                n=%-5zu x%-6zu %.3g matrices/s, %.3g GF products/s\n", n,
                count, matrices, matrices * static_cast<double>(n * n * n));
    result_["inverses"].push_back(
        {{"n", n}, {"generations", count}, {"matrices_per_s", matrices}, {"spread", rate.spread}});
  }
  const Shape s = shape(128, 16384);
  const double bytes = static_cast<double>(s.generations * 128 * 16384);
  const auto coefficients = [&] {
    must(launch_coefficients(stream_, 2, 0, 0, s.generations, 128 * 128, coefficients_.data()));
  };
  const Rate made = rate_of(coefficients);
  result_["coefficients_GB_per_s"] =
      static_cast<double>(s.generations * 128 * 128) / made.seconds / 1e9;
  std::printf("coefficients           %.0f GB/s\n", result_["coefficients_GB_per_s"].get<double>());
  const auto both = [&] {
    coefficients();
    must(launch_product(stream_, s, coefficients_.data(), source(16384), out(16384), scratch()));
  };
  add("coefficients, product", Path::kBest, s, bytes, rate_of(both), 0);
}

void Bench::host_to_host() {
  HostCodec codec;
  must(codec.open(device_, 1024 * kMiB));
  PinnedMemory from, to, vectors;
  must(from.allocate(device_, kHostBytes));
  must(to.allocate(device_, kHostBytes));
  must(vectors.allocate(device_, kHostBytes / 16));
  for (std::size_t at = 0; at < from.size(); at += 1024 * kMiB)
    must(stream_.copy_out(from.data() + at, source_.data(), 1024 * kMiB));
  must(stream_.copy_out(vectors.data(), coefficients_.data(), vectors.size()));
  must(stream_.wait());
  std::vector<std::uint32_t> ranks(1 << 16);
  const auto timed = [&](const char* what, const Shape& s, const std::function<void()>& work) {
    work();
    std::vector<double> samples;
    for (int i = 0; i < kSamples; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      work();
      samples.push_back(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    std::sort(samples.begin(), samples.end());
    const double median = samples[kSamples / 2];
    add(what, Path::kBest, s,
        static_cast<double>(s.generations * s.generation_size * s.block_bytes),
        {median, (samples.back() - samples.front()) / median}, 0);
  };
  const auto both_ways = [&](std::size_t n, std::size_t bytes) {
    const std::size_t k = 16384;
    const Shape s{bytes / (n * k), n, n, k};
    timed("product, host to host", s,
          [&] { must(codec.product(s, vectors.data(), from.data(), to.data())); });
    timed("decode, host to host", s, [&] {
      must(codec.decode(s, vectors.data(), from.data(), to.data(), {ranks.data(), nullptr}));
    });
  };
  for (const std::size_t n : {64, 128, 256, 512, 1024}) both_ways(n, 1024 * kMiB);
  both_ways(1024, kHostBytes);
}

Json Bench::run() {
  const std::time_t now = std::time(nullptr);
  char date[32] = {};
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  result_ = {
      {"date", date},
      {"device", device_.name},
      {"compute_capability", std::to_string(device_.major) + "." + std::to_string(device_.minor)},
      {"multiprocessors", device_.multiprocessors},
      {"tuning_s", tuning_seconds_},
      {"samples", kSamples}};
  std::printf("%s, %d multiprocessors, %s; self-tune %.2f s\n", device_.name.c_str(),
              device_.multiprocessors, date, tuning_seconds_);
  ceilings();
  products();
  if (quick_) return result_;
  decoding();
  others();
  host_to_host();
  return result_;
}

}  // namespace
}  // namespace firn::cuda

int main(int argc, char** argv) {
  return firn::cuda::run_bench_program(argc, argv,
                                       [](const firn::cuda::Device& device, bool quick) {
                                         return firn::cuda::Bench(device, quick).run();
                                       });
}
