#include <doctest/doctest.h>

#include <random>

#include "client/content/division.h"
#include "proto/base/limits.h"

namespace firn::content {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
constexpr std::uint64_t kGiB = 1024 * kMiB;
constexpr std::uint64_t kTiB = 1024 * kGiB;

Shape chosen(std::uint64_t bytes, std::uint32_t n = 0, std::uint32_t k = 0) {
  const Result<Shape> shape = choose_shape(bytes, n, k);
  REQUIRE_MESSAGE(shape.ok(), (shape ? "" : shape.error().message()));
  return *shape;
}

bool within_limits(const Shape& shape) {
  return shape.generation_size >= 1 && shape.generation_size <= limits::kGenerationSizeMax &&
         shape.block_bytes >= 1 && shape.block_bytes <= limits::kBlockBytesMax &&
         shape.generation_bytes() <= limits::kGenerationBytesMax &&
         shape.generation_count() <= limits::kGenerationCountMax;
}

TEST_CASE("empty content has no generation") {
  CHECK(chosen(0).generation_count() == 0);
  CHECK(within_limits(chosen(0)));
}

TEST_CASE("from 16 MiB on, generations are 64 blocks of 16 KiB") {
  for (const std::uint64_t bytes : {16 * kMiB, 64 * kMiB, 4 * kGiB, 100 * kGiB, 128 * kGiB}) {
    CAPTURE(bytes);
    CHECK(chosen(bytes) == Shape{64, 16 * kKiB, bytes});
  }
}

TEST_CASE("every size gives a shape within the limits that covers it with little padding") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 2000; ++round) {
    const std::uint64_t bytes = (random() >> (random() % 46 + 18)) + 1;  // up to 64 TiB
    CAPTURE(bytes);
    const Shape shape = chosen(bytes);
    CHECK(within_limits(shape));
    CHECK(shape.content_bytes == bytes);
    const std::uint64_t padded = shape.block_count() * shape.block_bytes;
    CHECK(padded >= bytes);
    CHECK(padded - bytes < shape.block_bytes);
    if (bytes >= 512 * kKiB) {
      CHECK(shape.generation_count() >= 4);
      CHECK(shape.generation_size >= 64);
      CHECK(shape.generation_size * (bytes < kMiB ? 32 : 64) <= shape.block_bytes);
    }
    if (bytes <= 8 * kTiB) CHECK(shape.generation_count() <= 1 << 17);
  }
}

TEST_CASE("small contents still have several generations of at least 16 blocks of 1 KiB") {
  for (const std::uint64_t bytes : {64 * kKiB, 100 * kKiB, 700 * kKiB, 3 * kMiB, 15 * kMiB}) {
    CAPTURE(bytes);
    const Shape shape = chosen(bytes);
    CHECK(shape.generation_count() >= 4);
    CHECK(shape.generation_size >= 16);
    CHECK(shape.block_bytes >= kKiB);
  }
  CHECK(chosen(1).generation_count() == 1);
}

TEST_CASE("the largest content has the largest generations, and one byte more is refused") {
  const std::uint64_t most = limits::kGenerationCountMax * std::uint64_t{64 * kMiB};
  CHECK(chosen(most).generation_count() == limits::kGenerationCountMax);
  const Result<Shape> more = choose_shape(most + 1);
  REQUIRE_FALSE(more.ok());
  CHECK(more.error().code == ErrorCode::kBadInput);
  CHECK_FALSE(choose_shape(UINT64_MAX).ok());
}

TEST_CASE("wishes are kept to the letter") {
  CHECK(chosen(5 * kGiB, 100, 12'345) == Shape{100, 12'345, 5 * kGiB});
  CHECK(chosen(1, 1, 1) == Shape{1, 1, 1});
  CHECK(chosen(5 * kGiB, 128).generation_size == 128);
  CHECK(chosen(5 * kGiB, 0, 5000).block_bytes == 5000);
  CHECK(chosen(kMiB, 4096).generation_size == 4096);
  CHECK(within_limits(chosen(kMiB, 4096)));
  CHECK(chosen(kMiB, 0, 1 << 20).block_bytes == 1 << 20);
  CHECK(within_limits(chosen(kMiB, 0, 1 << 20)));
}

TEST_CASE("wishes out of bounds are refused with a reason") {
  const struct {
    std::uint64_t bytes;
    std::uint32_t n, k;
    const char* reason;
  } cases[] = {{kMiB, 4097, 0, "at most 4096 blocks"},
               {kMiB, 0, (1 << 20) + 1, "1048576 bytes"},
               {kMiB, 4096, 1 << 20, "67108864"},
               {4 * kGiB, 1, 1, "larger blocks"}};
  for (const auto& wish : cases) {
    CAPTURE(wish.reason);
    const Result<Shape> shape = choose_shape(wish.bytes, wish.n, wish.k);
    REQUIRE_FALSE(shape.ok());
    CHECK(shape.error().code == ErrorCode::kBadInput);
    CHECK(shape.error().message().find(wish.reason) != std::string::npos);
  }
}

}  // namespace
}  // namespace firn::content
