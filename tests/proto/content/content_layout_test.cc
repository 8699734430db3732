#include "proto/content/content_layout.h"

#include <doctest/doctest.h>

#include <random>

#include "proto/content/manifest.h"

using namespace firn;

namespace {

Info laid_out(std::uint32_t n, std::uint32_t k, const std::vector<std::uint64_t>& sizes) {
  Info info;
  info.shape = {n, k, 0};
  for (const std::uint64_t bytes : sizes) {
    info.files.push_back({.path = "f" + std::to_string(info.files.size()), .bytes = bytes});
    info.shape.content_bytes += bytes;
  }
  lay_out(info);
  return info;
}

}  // namespace

TEST_CASE("small files follow one another, and need no table") {
  const Info info = laid_out(4, 10, {10, 0, 35, 3});
  CHECK_FALSE(info.shape.filled);
  CHECK(info.files[2].offset == 10);
  CHECK(info.files[3].offset == 45);
  CHECK(info.shape.generation_count() == 2);
  CHECK(info.shape.blocks_in(0) == 4);
  CHECK(info.shape.bytes_in_generation(1) == 8);
  CHECK(info.shape.blocks_in(1) == 1);
  CHECK(info.shape.block_count() == 5);
}

TEST_CASE("a file of a generation's bytes begins at a boundary, and small ones fill its last") {
  const Info info = laid_out(4, 10, {15, 40, 95, 7, 39});
  CHECK(info.files[0].offset == 0);
  CHECK(info.files[1].offset == 40);
  CHECK(info.files[2].offset == 80);
  CHECK(info.files[3].offset == 175);
  CHECK(info.files[4].offset == 182);
  REQUIRE(info.shape.generation_count() == 6);
  const std::uint64_t bytes[] = {15, 40, 40, 40, 40, 21};
  const std::uint32_t blocks[] = {2, 4, 4, 4, 4, 3};
  for (std::uint32_t g = 0; g < 6; ++g) {
    CHECK(info.shape.bytes_in_generation(g) == bytes[g]);
    CHECK(info.shape.blocks_in(g) == blocks[g]);
    CHECK(info.shape.padded_bytes(g) == blocks[g] * 10);
  }
  CHECK(info.shape.block_count() == 21);
}

TEST_CASE("a file alone is cut without gaps, whatever its size") {
  for (const std::uint64_t bytes : {0, 1, 39, 40, 41, 400, 401}) {
    const Info info = laid_out(4, 10, {bytes});
    CHECK_FALSE(info.shape.filled);
    CHECK(info.files[0].offset == 0);
  }
}

TEST_CASE("any sizes: the generations hold the files' bytes, each once, and blocks cover them") {
  std::mt19937_64 random(4);
  for (int round = 0; round < 500; ++round) {
    const auto n = static_cast<std::uint32_t>(random() % 8 + 1);
    const auto k = static_cast<std::uint32_t>(random() % 20 + 1);
    std::vector<std::uint64_t> sizes(random() % 12);
    for (std::uint64_t& bytes : sizes) bytes = random() % (random() % 2 ? 3 * n * k + 1 : 9);
    const Info info = laid_out(n, k, sizes);
    CAPTURE(round);
    std::vector<int> used(info.shape.generation_count() * info.shape.generation_bytes(), 0);
    for (const FileEntry& file : info.files) {
      if (file.bytes >= info.shape.generation_bytes())
        CHECK(file.offset % info.shape.generation_bytes() == 0);
      for (std::uint64_t i = 0; i < file.bytes; ++i) ++used.at(file.offset + i);
    }
    std::uint64_t sum = 0, blocks = 0;
    for (std::uint32_t g = 0; g < info.shape.generation_count(); ++g) {
      const std::uint64_t bytes = info.shape.bytes_in_generation(g);
      sum += bytes;
      blocks += info.shape.blocks_in(g);
      REQUIRE(bytes > 0);
      for (std::uint64_t i = 0; i < info.shape.generation_bytes(); ++i)
        CHECK(used[g * info.shape.generation_bytes() + i] == (i < bytes ? 1 : 0));
      CHECK(info.shape.padded_bytes(g) - bytes < k);
    }
    CHECK(sum == info.shape.content_bytes);
    CHECK(blocks == info.shape.block_count());
  }
}
