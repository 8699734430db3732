// What happens when a device has too little memory: smaller batches, then the CPU.
#include <doctest/doctest.h>

#include <list>
#include <memory>

#include "codec/shared_backend.h"
#include "cuda_kernels/host/device_backend.h"
#include "cuda_kernels/host/host_codec.h"
#include "limited_memory.h"
#include "on_device.h"

namespace firn::cuda {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

// Generations of full rank, their coded blocks, and room for them decoded.
struct CodedGenerations {
  CodedGenerations(std::size_t count, std::size_t n, std::size_t k,
                   codec::CoefficientStream& random)
      : shape{count, n, n, k}, vectors(count * n * n), payloads(count * n * k), out(count * n * k) {
    source = random_bytes(out.size(), random);
    random.fill(vectors);  // of full rank but for one in 256: then both sides say so
    multiply_on_cpu(shape, vectors, source, k, payloads, k);
    for (std::size_t r = 0; r < count * n; ++r) {
      row_of.push_back(&vectors[r * n]);
      payload_of.push_back(&payloads[r * k]);
    }
  }
  std::vector<codec::GenerationWork> work() {
    const std::size_t n = shape.generation_size, k = shape.block_bytes;
    std::vector<codec::GenerationWork> all;
    for (std::size_t g = 0; g < shape.generations; ++g) {
      all.push_back({n, k, std::span(row_of).subspan(g * n, n),
                     std::span(payload_of).subspan(g * n, n),
                     std::span(out).subspan(g * n * k, n * k)});
    }
    return all;
  }
  Shape shape;
  Bytes vectors, payloads, out, source;
  std::vector<const std::uint8_t*> row_of, payload_of;
};

// All devices decode batches, each with `limit` bytes of memory.
void decode_shared(std::size_t limit, bool by_devices) {
  std::list<LimitedMemory> memory;  // outlives the backends
  std::vector<std::unique_ptr<codec::Backend>> backends;
  for (const Device& device : devices()) {
    backends.push_back(std::make_unique<DeviceBackend>(
        memory.emplace_back(limit).of(device),
        DeviceBackend::Options{.batch_bytes = 4 * kMiB, .work_bytes = 64 * kMiB}));
  }
  codec::CoefficientStream random(9, limit);
  CodedGenerations coded(6, 96, 2000, random);
  codec::SerialExecutor executor;
  int dropped = 0;
  codec::SharedBackend shared(
      std::move(backends), std::make_unique<codec::CpuBackend>(executor, codec::kernels()),
      codec::SharedBackend::Policy::kDevices, [&](const std::string&, const std::string& why) {
        ++dropped;
        CHECK_FALSE(why.empty());
      });
  for (int batch = 0; batch < 3; ++batch) {
    std::fill(coded.out.begin(), coded.out.end(), Guarded::kPoison);
    auto work = coded.work();
    REQUIRE(shared.decode(work).ok());
    for (std::size_t g = 0; g < work.size(); ++g) {
      if (!work[g].decoded) continue;
      const std::size_t bytes = work[g].out.size();
      CHECK(std::equal(work[g].out.begin(), work[g].out.end(), &coded.source[g * bytes]));
    }
  }
  CHECK((shared.counts().decoded_by_devices > 0) == by_devices);
  if (by_devices) CHECK(dropped == 0);
  CHECK(shared.counts().decoded_by_devices + shared.counts().decoded_by_cpu >= 15);
}

}  // namespace

TEST_SUITE("device") {
  TEST_CASE("with little memory a pipeline is opened with less, and its results stay right") {
    const OnDevice on;
    codec::CoefficientStream random(9, 1);
    CodedGenerations coded(40, 64, 3000, random);
    Bytes out(coded.out.size(), Guarded::kPoison);
    for (const std::size_t limit : {48 * kMiB, 9 * kMiB, 3 * kMiB}) {
      LimitedMemory memory(limit);
      HostCodec pipeline;
      require(pipeline.open(memory.of(on.device), 256 * kMiB));
      CHECK(pipeline.device_bytes() <= limit);
      CHECK(pipeline.device_bytes() > limit / 3);
      require(pipeline.product(coded.shape, coded.vectors.data(), coded.source.data(), out.data()));
      check_equal(out, coded.payloads);
    }
    LimitedMemory memory(kMiB / 2);
    HostCodec pipeline;
    CHECK(pipeline.open(memory.of(on.device), 256 * kMiB).code == Code::kOutOfMemory);
  }

  TEST_CASE("a batch is decoded by all devices; without their memory by the CPU") {
    decode_shared(~std::size_t{0}, true);
    decode_shared(6 * kMiB, true);
    decode_shared(kMiB / 4, false);
  }
}

}  // namespace firn::cuda
