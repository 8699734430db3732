// The hash of block checks on a device, beside its memory's rate and the CPU's hash of the same
// run:
//   bench_tags [--quick] [RESULT.json]
// GB/s are 10^9 bytes of source blocks a second, which lie in the device's memory; the median of
// seven samples of at least 20 ms. "One call" is what a peer would wait for: key material in, the
// sums of so many generations, sums out, in microseconds of wall clock (median of 201); "a peer's"
// goes through its backend. The CPU's are those of one thread. Sums are compared with the CPU's
// before they are timed.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench_program.h"
#include "codec/check_sums.h"
#include "codec/random.h"
#include "cuda_kernels/batch/batch.h"
#include "cuda_kernels/host/device_backend.h"
#include "cuda_kernels/runtime/memory.h"
#include "cuda_kernels/runtime/stopwatch.h"

namespace firn::cuda {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kSourceBytes = 1024 * kMiB;
constexpr int kSamples = 7;
constexpr double kSampleSeconds = 0.02;

void must(bool good, const std::string& what) {
  if (good) return;
  std::fprintf(stderr, "bench_tags: %s\n", what.c_str());
  std::exit(1);
}
void must(const Status& status) {
  must(status.ok(), status.detail);
}

double median_of(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

double wall_seconds(const std::function<void()>& work) {
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

class Bench {
 public:
  explicit Bench(const Device& device) : device_(device) {
    must(stream_.open(device));
    must(watch_.open(device));
    must(source_.allocate(device, kSourceBytes));
    must(other_.allocate(device, kSourceBytes));
    must(keys_.allocate(device, 512 * kMiB));
    must(tags_.allocate(device, 64 * kMiB));
    must(pinned_.allocate(device, 256 * kMiB));
    must(launch_coefficients(stream_, 1, 0, 0, 1, source_.size(), source_.data()));
    must(launch_coefficients(stream_, 2, 0, 0, 1, keys_.size(), keys_.data()));
    must(stream_.wait());
  }

  Json run(bool quick) {
    Json result{{"device", device_.name}, {"multiprocessors", device_.multiprocessors}};
    const double copied =
        2.0 * kSourceBytes / seconds_of([&] {
          must(stream_.copy_on_device(other_.data(), source_.data(), kSourceBytes));
        });
    const double sent = static_cast<double>(pinned_.size()) / seconds_of([&] {
                          must(stream_.copy_in(other_.data(), pinned_.data(), pinned_.size()));
                        });
    result["device_copy_GB_per_s_read_and_written"] = copied / 1e9;
    result["host_to_device_GB_per_s"] = sent / 1e9;
    std::printf("%s: device copy %.0f GB/s read and written, host to device %.1f GB/s\n",
                device_.name.c_str(), copied / 1e9, sent / 1e9);
    for (const std::size_t t : {8, 4, 16}) {
      for (const std::size_t n : {64, 128, 256, 512, 1024, 16}) {
        for (const std::size_t k : {16384, 4096, 32768}) {
          if (quick && (k != 16384 || t != 8)) continue;
          result["rates"].push_back(rate(n, k, t, copied / 1e9));
        }
      }
    }
    for (const std::size_t n : {64, 512, 1024}) {
      for (const std::size_t generations : {1, 4, 16, 64}) {
        if (n * generations > 16384) continue;
        result["calls"].push_back(call(n, generations));
      }
    }
    for (const std::size_t n : {64, 512, 1024}) {
      for (const std::size_t generations : {1, 4, 16}) {
        result["peer"].push_back(peer(n, generations));
      }
    }
    for (const codec::CheckKernels* kernels : codec::available_check_kernels()) {
      if (kernels->name != std::string("scalar")) result["cpu"].push_back(cpu(*kernels));
    }
    return result;
  }

 private:
  static std::size_t key_bytes(std::size_t k, std::size_t t) {
    return codec::CheckKey::material_bytes(k, t);
  }

  double seconds_of(const std::function<void()>& work) {
    const auto timed = [&](int runs) {
      must(watch_.start(stream_));
      for (int i = 0; i < runs; ++i) work();
      must(watch_.stop(stream_));
      double seconds = 0;
      must(watch_.read(seconds));
      return seconds / runs;
    };
    timed(1);
    const int runs = std::max(1, static_cast<int>(kSampleSeconds / timed(2)));
    std::vector<double> samples;
    for (int i = 0; i < kSamples; ++i) samples.push_back(timed(runs));
    return median_of(samples);
  }

  // Of the last generation.
  void check(const Shape& shape, std::size_t t) {
    const std::size_t n = shape.generation_size, k = shape.block_bytes, g = shape.generations - 1;
    Bytes blocks(n * k), material(key_bytes(k, t)), tags(n * t);
    must(stream_.copy_out(blocks.data(), source_.data() + g * n * k, blocks.size()));
    must(stream_.copy_out(material.data(), keys_.data() + g * material.size(), material.size()));
    must(stream_.copy_out(tags.data(), tags_.data() + g * tags.size(), tags.size()));
    must(stream_.wait());
    std::vector<const std::uint8_t*> rows;
    for (std::size_t i = 0; i < n; ++i) rows.push_back(&blocks[i * k]);
    const codec::CheckSums sums(codec::CheckKey(k, t, material), rows);
    must(std::equal(tags.begin(), tags.end(), sums.bytes().begin()), "sums are not the CPU's");
  }

  Json rate(std::size_t n, std::size_t k, std::size_t t, double copied) {
    const Shape shape{kSourceBytes / (n * k), n, 0, k};
    const auto work = [&] {
      must(launch_tags(stream_, shape, t, keys_.data(), {source_.data(), k}, tags_.data()));
    };
    must(shape.generations * key_bytes(k, t) <= keys_.size(), "too many keys");
    work();
    check(shape, t);
    const double rate = static_cast<double>(shape.generations * n * k) / seconds_of(work) / 1e9;
    std::printf("t=%-3zu n=%-5zu k=%-6zu %7.0f GB/s, %.2f of the copy's\n", t, n, k, rate,
                rate / copied);
    std::fflush(stdout);
    return {{"t", t}, {"n", n}, {"k", k}, {"GB_per_s", rate}};
  }

  Json call(std::size_t n, std::size_t generations) {
    const std::size_t k = 16384, t = codec::CheckKey::kTagBytes;
    const Shape shape{generations, n, 0, k};
    const std::size_t in = generations * key_bytes(k, t), out = generations * n * t;
    std::vector<double> samples;
    for (int i = 0; i < 201; ++i) {
      // Other blocks each time, as far as there are others.
      const std::size_t all = kSourceBytes / (n * k * generations);
      const std::uint8_t* blocks = source_.data() + i % all * n * k * generations;
      samples.push_back(
          1e6 * wall_seconds([&] {
            must(stream_.copy_in(keys_.data(), pinned_.data(), in));
            must(launch_tags(stream_, shape, t, keys_.data(), {blocks, k}, tags_.data()));
            must(stream_.copy_out(pinned_.data() + 128 * kMiB, tags_.data(), out));
            must(stream_.wait());
          }));
    }
    const double us = median_of(samples);
    std::printf("one call: n=%-5zu generations=%-3zu %7.1f us, %6.2f a MiB\n", n, generations, us,
                us / static_cast<double>(generations * n * k) * kMiB);
    return {{"n", n}, {"k", k}, {"generations", generations}, {"us", us}};
  }

  // The same as a peer's backend has it, for generations that it keeps.
  Json peer(std::size_t n, std::size_t generations) {
    const std::size_t k = 16384, t = codec::CheckKey::kTagBytes;
    DeviceBackend backend(device_, {.work_bytes = 64 * kMiB});
    Bytes source(n * k), vector(n), block(k), material(key_bytes(k, t));
    std::uint8_t* const out = block.data();
    codec::CoefficientStream random(4, n);
    random.fill(material);
    random.fill(vector);
    std::vector<Bytes> sums(generations, Bytes(n * t));
    std::vector<codec::SumsWork> works;
    for (std::size_t g = 0; g < generations; ++g) {
      random.fill(source);
      must(backend.encode({g, n, k, source, vector, {&out, 1}}));
      works.push_back({g, n, k, t, material, sums[g]});
    }
    std::vector<double> samples;
    for (int i = 0; i < 201; ++i) {
      for (codec::SumsWork& work : works) work.made = false;
      samples.push_back(1e6 * wall_seconds([&] { must(backend.make_sums(works)); }));
      for (const codec::SumsWork& work : works) must(work.made, "a generation is not kept");
    }
    const double us = median_of(samples);
    std::printf("a peer's: n=%-5zu generations=%-3zu %7.1f us, %6.2f a MiB\n", n, generations, us,
                us / static_cast<double>(generations * n * k) * kMiB);
    return {{"n", n}, {"k", k}, {"generations", generations}, {"us", us}};
  }

  // Sets of 64 blocks of 16 KiB, over and over and from memory.
  Json cpu(const codec::CheckKernels& kernels) {
    const std::size_t n = 64, k = 16384, t = codec::CheckKey::kTagBytes;
    Bytes blocks(256 * kMiB), material(key_bytes(k, t));
    codec::CoefficientStream random(3, 1);
    random.fill(blocks);
    random.fill(material);
    unsigned sink = 0;
    const auto make = [&](std::size_t first) {
      std::vector<const std::uint8_t*> rows;
      for (std::size_t i = 0; i < n; ++i) rows.push_back(&blocks[first + i * k]);
      const codec::CheckSums sums(codec::CheckKey(k, t, material, kernels), rows);
      sink += sums.bytes()[0];
    };
    std::vector<double> cached, memory;
    for (int i = 0; i < 201; ++i) cached.push_back(wall_seconds([&] { make(0); }));
    for (int i = 0; i < 7; ++i) {
      memory.push_back(wall_seconds([&] {
        for (std::size_t at = 0; at < blocks.size(); at += n * k) make(at);
      }));
    }
    const double us = 1e6 * median_of(cached);
    const double far = static_cast<double>(blocks.size()) / median_of(memory) / 1e9;
    std::printf("CPU %-12s a set of 1 MiB %6.1f us, %5.1f GB/s; sets from memory %5.1f GB/s%s\n",
                kernels.name, us, n * k / us / 1e3, far, sink == 1 ? " " : "");
    return {{"kernels", kernels.name}, {"set_us", us}, {"memory_GB_per_s", far}};
  }

  Device device_;
  Stream stream_;
  Stopwatch watch_;
  DeviceMemory source_, other_, keys_, tags_;
  PinnedMemory pinned_;
};

Json measure_all(const Device& device, bool quick) {
  const std::time_t now = std::time(nullptr);
  char date[32] = {};
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  Json result = Bench(device).run(quick);
  result["date"] = date;
  return result;
}

}  // namespace
}  // namespace firn::cuda

int main(int argc, char** argv) {
  return firn::cuda::run_bench_program(argc, argv, firn::cuda::measure_all);
}
