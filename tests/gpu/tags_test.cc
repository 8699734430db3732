// The hash of block checks on a device against the CPU's, under keys of each generation's own.
#include <doctest/doctest.h>

#include "codec/check_sums.h"
#include "on_device.h"

namespace firn::cuda {
namespace {

struct BlockPlacing {
  std::size_t gap = 0;     // beyond the fast pitch
  std::size_t offset = 0;  // of the blocks from alignment
};

// What the CPU makes of blocks that stand `pitch` apart.
Bytes tags_by_cpu(const Shape& shape, std::size_t t, const Bytes& keys, const Bytes& blocks,
                  std::size_t pitch) {
  const std::size_t n = shape.generation_size, k = shape.block_bytes;
  const std::size_t key_bytes = codec::CheckKey::material_bytes(k, t);
  Bytes tags;
  for (std::size_t g = 0; g < shape.generations; ++g) {
    std::vector<const std::uint8_t*> rows;
    for (std::size_t i = 0; i < n; ++i) rows.push_back(&blocks[(g * n + i) * pitch]);
    const codec::CheckKey key(k, t, std::span(keys).subspan(g * key_bytes, key_bytes));
    const codec::CheckSums sums(key, rows);
    tags.insert(tags.end(), sums.bytes().begin(), sums.bytes().end());
  }
  return tags;
}

// Bytes between blocks are random as well: what is beyond k counts for nothing.
void check_tags(OnDevice& on, const Shape& shape, std::size_t t, codec::CoefficientStream& random,
                const BlockPlacing& placing = {}) {
  INFO(describe(shape), " t=", t, " gap=", placing.gap, " offset=", placing.offset);
  const std::size_t n = shape.generation_size, g = shape.generations;
  const std::size_t pitch = fast_pitch(shape.block_bytes) + placing.gap;
  const Bytes keys =
      random_bytes(g * codec::CheckKey::material_bytes(shape.block_bytes, t), random);
  const Bytes blocks = random_bytes(g * n * pitch, random);
  Guarded key(on.stream, keys), source(on.stream, blocks, placing.offset);
  Guarded tags(on.stream, g * n * t);
  require(launch_tags(on.stream, shape, t, key.data(), {source.data(), pitch}, tags.data()));
  check_equal(tags.read(), tags_by_cpu(shape, t, keys, blocks, pitch));
}

}  // namespace

TEST_SUITE("device") {
  TEST_CASE("tags are the CPU's one either side of every step in k") {
    OnDevice on;
    if (!on.device.has_binary_mma()) return;
    codec::CoefficientStream random(66, 1);
    for (const std::size_t t : {4, 8, 16}) {
      for (const std::size_t k : {1,   2,   3,   15,  16,  17,  63,  64,  65,  127,  128,  129,
                                  191, 192, 193, 255, 256, 257, 511, 512, 513, 1000, 16384}) {
        check_tags(on, {3, 5, 0, k}, t, random);
      }
    }
  }

  TEST_CASE("tags are the CPU's one either side of every share of n") {
    OnDevice on;
    if (!on.device.has_binary_mma()) return;
    codec::CoefficientStream random(66, 2);
    for (const std::size_t t : {4, 8, 16}) {
      for (const std::size_t n : {1,  7,   8,   9,   15,  16,  17,  31,  32,  33,  63,   64,
                                  65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024}) {
        check_tags(on, {2, n, 0, 700}, t, random);
      }
    }
  }

  TEST_CASE("blocks need not be aligned to be hashed") {
    OnDevice on;
    if (!on.device.has_binary_mma()) return;
    codec::CoefficientStream random(66, 3);
    for (const std::size_t k : {100, 300, 1024}) {
      check_tags(on, {2, 40, 0, k}, 8, random, {.gap = 1});
      check_tags(on, {2, 40, 0, k}, 8, random, {.offset = 3});
      check_tags(on, {2, 40, 0, k}, 16, random, {.gap = 16});
      check_tags(on, {2, 40, 0, k}, 4, random, {.gap = 5, .offset = 11});
    }
  }

  TEST_CASE("many generations get tags under keys of their own, as does a long block") {
    OnDevice on;
    if (!on.device.has_binary_mma()) return;
    codec::CoefficientStream random(66, 4);
    check_tags(on, {700, 64, 0, 256}, 8, random);
    check_tags(on, {40, 200, 0, 1500}, 8, random);
    check_tags(on, {33'000, 1, 0, 20}, 4, random);  // more than one launch
    check_tags(on, {1, 64, 0, 16384}, 8, random);
    check_tags(on, {1, 2, 0, 5'000'000}, 16, random);
  }

  TEST_CASE("what the hash does not take is refused in words") {
    OnDevice on;
    Guarded memory(on.stream, 65536);
    const ConstBlocks blocks{memory.data(), 64};
    std::uint8_t* const tags = memory.data() + 32768;
    const auto code = [&](const Shape& shape, std::size_t t, const std::uint8_t* keys) {
      const Status status = launch_tags(on.stream, shape, t, keys, blocks, tags);
      CHECK_FALSE(status.detail.empty());
      return status.code;
    };
    CHECK(code({1, 4, 0, 64}, 12, memory.data()) == Code::kUnsupported);
    CHECK(code({1, 4, 0, 64}, 8, memory.data() + 1) == Code::kUnsupported);
    CHECK(code({1, 0, 0, 64}, 8, memory.data()) == Code::kUnsupported);
    CHECK(code({1, 4, 0, 0}, 8, memory.data()) == Code::kUnsupported);
    Device turing = on.device;
    turing.major = 7, turing.minor = 5;
    Stream stream;
    require(stream.open(turing));
    CHECK(launch_tags(stream, {1, 4, 0, 64}, 8, memory.data(), blocks, tags).code ==
          Code::kUnsupported);
  }
}

}  // namespace firn::cuda
