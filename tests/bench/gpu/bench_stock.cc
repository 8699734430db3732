// What filling a seed's stock of coded blocks costs, with coding vectors drawn by the CPU, as the
// peer does it, and drawn by the device:
//   bench_stock [--quick] [RESULT.json]
// Source blocks are resident; payloads and vectors end in ordinary memory. Microseconds for `rows`
// blocks of one generation, the median of 201 (--quick: 51). Both ways must give the CPU's bytes.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench_program.h"
#include "codec/encode.h"
#include "codec/kernels.h"
#include "codec/random.h"
#include "cuda_kernels/batch/batch.h"
#include "cuda_kernels/host/device_backend.h"
#include "cuda_kernels/runtime/memory.h"
#include "cuda_kernels/runtime/stream.h"

namespace firn::cuda {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t kSeed = 77;

void must(bool good, const std::string& what) {
  if (good) return;
  std::fprintf(stderr, "bench_stock: %s\n", what.c_str());
  std::exit(1);
}
void must(const Status& status) {
  must(status.ok(), status.detail);
}

double median_us(int samples, const std::function<void()>& work) {
  for (int i = 0; i < 5; ++i) work();
  std::vector<double> all;
  for (int i = 0; i < samples; ++i) {
    const auto begin = Clock::now();
    work();
    all.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

// Coded blocks of one resident generation with vectors made on the device.
class DrawnOnDevice {
 public:
  DrawnOnDevice(const Device& device, const Shape& shape, const Bytes& source)
      : shape_(shape), pitch_(fast_pitch(shape.block_bytes)) {
    const std::size_t n = shape.generation_size, m = shape.rows, k = shape.block_bytes;
    must(stream_.open(device));
    must(source_.allocate(device, n * pitch_));
    must(vectors_.allocate(device, m * n));
    must(made_.allocate(device, m * pitch_));
    must(
        scratch_.allocate(device, std::max<std::size_t>(256, product_scratch(device, shape).best)));
    must(pinned_.allocate(device, m * (n + k)));
    must(stream_.copy_rows_in(source_.data(), pitch_, source.data(), k, k, n));
    must(stream_.wait());
  }
  void fill(std::uint64_t stream, Bytes& vectors, const std::vector<std::uint8_t*>& out) {
    const std::size_t n = shape_.generation_size, m = shape_.rows, k = shape_.block_bytes;
    must(launch_coefficients(stream_, kSeed, stream, 0, 1, m * n, vectors_.data()));
    must(stream_.copy_out(pinned_.data(), vectors_.data(), m * n));
    must(launch_product(stream_, shape_, vectors_.data(), {source_.data(), pitch_},
                        {made_.data(), pitch_}, {scratch_.data(), scratch_.size()}));
    must(stream_.copy_rows_out(pinned_.data() + m * n, k, made_.data(), pitch_, k, m));
    must(stream_.wait());
    std::memcpy(vectors.data(), pinned_.data(), m * n);
    for (std::size_t r = 0; r < m; ++r) std::memcpy(out[r], pinned_.data() + m * n + r * k, k);
  }

 private:
  Shape shape_;
  std::size_t pitch_;
  Stream stream_;
  DeviceMemory source_, vectors_, made_, scratch_;
  PinnedMemory pinned_;
};

Json measure(const Device& device, std::size_t n, std::size_t k, std::size_t rows, int samples) {
  codec::CoefficientStream random(1, n);
  Bytes source(n * k);
  random.fill(source);
  std::vector<Bytes> blocks(rows, Bytes(k)), wanted(rows, Bytes(k));
  std::vector<std::uint8_t*> out, expected;
  std::vector<const std::uint8_t*> in;
  for (Bytes& block : blocks) out.push_back(block.data());
  for (Bytes& block : wanted) expected.push_back(block.data());
  for (std::size_t j = 0; j < n; ++j) in.push_back(&source[j * k]);
  Bytes vectors(rows * n);
  const auto check = [&] {
    codec::kernels().combine_rows(expected.data(), rows, in.data(), n, vectors.data(), n, k);
    must(blocks == wanted, "coded blocks are not the CPU's");
  };

  const double drawing = median_us(samples, [&] {
    for (std::size_t r = 0; r < rows; ++r) {
      const Bytes vector = codec::random_vector(n, random);
      std::copy(vector.begin(), vector.end(), vectors.begin() + static_cast<std::ptrdiff_t>(r * n));
    }
  });
  DeviceBackend backend(device, {});
  backend.prepare(n, k);
  const double given = median_us(samples, [&] {
    const auto status = backend.encode({1, n, k, source, vectors, out});
    must(status.ok(), status.detail);
  });
  check();
  DrawnOnDevice drawn(device, {1, n, rows, k}, source);
  std::uint64_t stream = 0;
  const double on_device = median_us(samples, [&] { drawn.fill(++stream, vectors, out); });
  check();
  codec::CoefficientStream same(kSeed, stream);
  Bytes again(rows * n);
  same.fill(again);
  must(again == vectors, "the device's vectors are not the CPU's");

  std::printf(
      "n=%-5zu k=%-6zu rows=%-3zu drawn by the CPU %7.1f = %6.1f + %7.1f us, by the device "
      "%7.1f us: %.2f times as fast\n",
      n, k, rows, drawing + given, drawing, given, on_device, (drawing + given) / on_device);
  return {{"n", n},
          {"k", k},
          {"rows", rows},
          {"drawing_us", drawing},
          {"encoding_us", given},
          {"drawn_on_device_us", on_device}};
}

Json measure_all(const Device& device, bool quick) {
  const std::time_t now = std::time(nullptr);
  char date[32] = {};
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  Json result{{"date", date}, {"device", device.name}};
  for (const std::size_t n : {64, 128, 256, 512, 1024}) {
    const std::size_t rows = std::clamp<std::size_t>(n / 8, 8, 64) / 2;  // a refill of the stock
    result["stocks"].push_back(measure(device, n, 16384, rows, quick ? 51 : 201));
    result["stocks"].push_back(measure(device, n, 16384, 64, quick ? 51 : 201));
  }
  return result;
}

}  // namespace
}  // namespace firn::cuda

int main(int argc, char** argv) {
  return firn::cuda::run_bench_program(argc, argv, firn::cuda::measure_all);
}
