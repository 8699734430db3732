#include "cuda_kernels/host/host_codec.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "on_device.h"

namespace firn::cuda {
namespace {

PinnedMemory pinned(const Device& device, std::size_t bytes) {
  PinnedMemory memory;
  require(memory.allocate(device, bytes));
  std::fill_n(memory.data(), bytes, Guarded::kPoison);
  return memory;
}

}  // namespace

TEST_SUITE("device") {
  TEST_CASE("host to host, products and decoding are the CPU's in many slices") {
    OnDevice on;
    codec::CoefficientStream random(4, 1);
    HostCodec codec;
    require(codec.open(on.device, std::size_t{24} << 20));
    for (const auto& [generations, n, k] : {std::array<std::size_t, 3>{300, 32, 1000},
                                            {100, 128, 2048},
                                            {9, 256, 777},
                                            {1, 100, 4000},
                                            {3, 512, 1024}}) {
      const Shape shape{generations, n, n, k};
      INFO(describe(shape));
      Bytes vectors = random_bytes(generations * n * n, random);
      const PinnedMemory source = pinned(on.device, generations * n * k);
      random.fill({source.data(), source.size()});
      const Bytes blocks(source.data(), source.data() + source.size());

      const PinnedMemory coded = pinned(on.device, generations * n * k);
      require(codec.product(shape, vectors.data(), source.data(), coded.data()));
      Bytes wanted(coded.size());
      multiply_on_cpu(shape, vectors, blocks, k, wanted, k);
      check_equal(Bytes(coded.data(), coded.data() + coded.size()), wanted);

      const PinnedMemory decoded = pinned(on.device, generations * n * k);
      std::vector<std::uint32_t> ranks(generations);
      Bytes dependent(generations * n, Guarded::kPoison);
      require(codec.decode(shape, vectors.data(), coded.data(), decoded.data(),
                           {ranks.data(), dependent.data()}));
      for (std::size_t g = 0; g < generations; ++g) {
        const auto lacking =
            std::count(dependent.begin() + static_cast<std::ptrdiff_t>(g * n),
                       dependent.begin() + static_cast<std::ptrdiff_t>((g + 1) * n), 1);
        CHECK(ranks[g] == n - static_cast<std::size_t>(lacking));
        if (lacking == 0) {
          CHECK(std::equal(decoded.data() + g * n * k, decoded.data() + (g + 1) * n * k,
                           source.data() + g * n * k));
        }
      }
    }
  }

  TEST_CASE("a generation that does not fit is refused, and one that does still works") {
    OnDevice on;
    codec::CoefficientStream random(4, 2);
    HostCodec codec;
    require(codec.open(on.device, 1 << 20));
    Bytes coefficients = random_bytes(16 * 16, random), source = random_bytes(16 * 100, random);
    Bytes out(16 * 100), wanted(16 * 100);
    CHECK(
        codec.product({1, 64, 64, 1 << 20}, coefficients.data(), source.data(), out.data()).code ==
        Code::kOutOfMemory);
    const Shape shape{1, 16, 16, 100};
    require(codec.product(shape, coefficients.data(), source.data(), out.data()));
    multiply_on_cpu(shape, coefficients, source, 100, wanted, 100);
    check_equal(out, wanted);
  }

  TEST_CASE("a device with too little memory gives what it has") {
    OnDevice on;
    HostCodec codec;
    require(codec.open(on.device, on.device.memory_bytes * 3));
    CHECK(codec.device_bytes() > 0);
    CHECK(codec.device_bytes() < on.device.memory_bytes);
  }

  TEST_CASE("thousands of batches leave the device's memory as it was") {
    OnDevice on;
    codec::CoefficientStream random(4, 3);
    HostCodec codec;
    require(codec.open(on.device, 8 << 20));
    const Shape shape{3, 140, 140, 64};
    const Bytes vectors = random_bytes(3 * 140 * 140, random),
                data = random_bytes(3 * 140 * 64, random);
    Bytes out(data.size());
    std::vector<std::uint32_t> ranks(3);
    const auto round = [&] {
      require(codec.product(shape, vectors.data(), data.data(), out.data()));
      require(
          codec.decode(shape, vectors.data(), data.data(), out.data(), {ranks.data(), nullptr}));
    };
    round();
    std::size_t before = 0, after = 0;
    require(free_memory(on.device, before));
    for (int i = 0; i < 2000; ++i) round();
    require(free_memory(on.device, after));
    CHECK(after >= before);
  }
}

}  // namespace firn::cuda
