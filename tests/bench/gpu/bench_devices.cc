// How rates add up over the devices of a host, on data that is resident on each:
//   bench_devices [RESULT.json]
// Every device has its own generations, stream and host thread. Each rate is taken over about two
// seconds, first of every device alone and then of all at once; GB/s are 10^9 bytes of coded or
// decoded payload per second. The last generation of every device is compared with the CPU's.
#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "codec/kernels.h"
#include "cuda_kernels/batch/batch.h"
#include "cuda_kernels/choice/tuner.h"
#include "cuda_kernels/runtime/memory.h"
#include "cuda_kernels/runtime/stream.h"

namespace firn::cuda {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr double kSeconds = 2;

void must(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "bench_devices: %s\n", status.detail.c_str());
  std::exit(1);
}

// One device's share: the same shape everywhere, other data.
class Share {
 public:
  Share(const Device& device, const Shape& shape, bool decode) : shape_(shape), decode_(decode) {
    const std::size_t n = shape.generation_size, k = shape.block_bytes;
    must(tune(device, ""));
    must(stream_.open(device));
    must(vectors_.allocate(device, shape.generations * n * n));
    must(source_.allocate(device, shape.generations * n * k));
    must(out_.allocate(device, source_.size()));
    must(ranks_.allocate(device, shape.generations * sizeof(std::uint32_t)));
    const std::size_t scratch =
        std::max(product_scratch(device, shape).best, decode_scratch(device, shape).best);
    must(scratch_.allocate(device, std::max<std::size_t>(scratch, 256)));
    const auto seed = static_cast<std::uint64_t>(device.index);
    must(launch_coefficients(stream_, seed, 1, 0, 1, vectors_.size(), vectors_.data()));
    must(launch_coefficients(stream_, seed, 2, 0, 1, source_.size(), source_.data()));
    run(1);
    if (!decode) check();
    const auto begin = Clock::now();
    run(3);
    runs_ = 1 + static_cast<int>(kSeconds * 3 /
                                 std::chrono::duration<double>(Clock::now() - begin).count());
  }
  int runs() const { return runs_; }
  double bytes() const { return static_cast<double>(source_.size()); }

  void run(int times) {
    const std::size_t k = shape_.block_bytes;
    const Scratch scratch{scratch_.data(), scratch_.size()};
    for (int i = 0; i < times; ++i) {
      if (decode_) {
        must(launch_decode(stream_, shape_, vectors_.data(), {source_.data(), k}, {out_.data(), k},
                           {reinterpret_cast<std::uint32_t*>(ranks_.data()), nullptr}, scratch));
      } else {
        must(launch_product(stream_, shape_, vectors_.data(), {source_.data(), k}, {out_.data(), k},
                            scratch));
      }
    }
    must(stream_.wait());
  }

 private:
  void check() {
    const std::size_t n = shape_.generation_size, k = shape_.block_bytes;
    const std::size_t last = shape_.generations - 1;
    std::vector<std::uint8_t> c(n * n), in(n * k), got(n * k), wanted(n * k);
    must(stream_.copy_out(c.data(), vectors_.data() + last * n * n, c.size()));
    must(stream_.copy_out(in.data(), source_.data() + last * n * k, in.size()));
    must(stream_.copy_out(got.data(), out_.data() + last * n * k, got.size()));
    must(stream_.wait());
    std::vector<const std::uint8_t*> rows;
    std::vector<std::uint8_t*> to;
    for (std::size_t i = 0; i < n; ++i) rows.push_back(&in[i * k]), to.push_back(&wanted[i * k]);
    codec::kernels().combine_rows(to.data(), n, rows.data(), n, c.data(), n, k);
    if (got != wanted) must({Code::kFailed, "a product is not the CPU's"});
  }

  Shape shape_;
  bool decode_;
  Stream stream_;
  DeviceMemory vectors_, source_, out_, ranks_, scratch_;
  int runs_ = 1;
};

// GB/s of these shares together, each on its own thread, from a common start to the last end.
double rate_of(const std::vector<Share*>& shares) {
  std::barrier start(static_cast<std::ptrdiff_t>(shares.size()) + 1);
  std::vector<std::thread> threads;
  double bytes = 0;
  for (Share* share : shares) {
    bytes += share->bytes() * share->runs();
    threads.emplace_back([share, &start] {
      start.arrive_and_wait();
      share->run(share->runs());
    });
  }
  start.arrive_and_wait();
  const auto begin = Clock::now();
  for (std::thread& thread : threads) thread.join();
  return bytes / std::chrono::duration<double>(Clock::now() - begin).count() / 1e9;
}

Json measure(const std::vector<Device>& all, const char* what, std::size_t n, std::size_t k,
             bool decode) {
  const Shape shape{512 * kMiB / (n * k), n, n, k};
  std::vector<std::unique_ptr<Share>> shares;
  for (const Device& device : all) shares.push_back(std::make_unique<Share>(device, shape, decode));
  Json row{{"what", what}, {"n", n}, {"k", k}, {"generations_each", shape.generations}};
  double sum = 0;
  std::vector<Share*> together;
  for (const auto& share : shares) {
    const double alone = rate_of({share.get()});
    row["alone_GB_per_s"].push_back(alone);
    sum += alone;
    together.push_back(share.get());
  }
  const double rate = rate_of(together), mean = sum / static_cast<double>(all.size());
  row["together_GB_per_s"] = rate;
  row["times_one"] = rate / mean;
  std::printf("%-8s n=%-5zu k=%-6zu one %8.1f GB/s, %zu together %8.1f GB/s: %.3f times\n", what, n,
              k, mean, all.size(), rate, rate / mean);
  return row;
}

}  // namespace
}  // namespace firn::cuda

int main(int argc, char** argv) {
  using namespace firn::cuda;
  const std::vector<Device> all = devices();
  if (all.empty()) {
    std::printf("%s: nothing to measure\n", no_device_reason().c_str());
    return 77;
  }
  Json result{{"device", all[0].name}, {"devices", all.size()}, {"seconds_each", kSeconds}};
  for (const std::size_t n : {64, 128, 512}) {
    result["rates"].push_back(measure(all, "product", n, 16384, false));
  }
  result["rates"].push_back(measure(all, "decode", 128, 16384, true));
  if (argc > 1) std::ofstream(argv[1]) << result.dump(1) << "\n";
  return 0;
}
