#include "proto/base/digest.h"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/proto/hex.h"
#include "tests/proto/wire_frames.h"

using namespace firn;
using namespace firn::test;

namespace {

std::string hex(const Digest& digest) {
  return to_hex(digest.raw());
}

// The definition, RFC 9162, section 2.1.1, word for word.
Digest root_by_definition(std::span<const Digest> leaves) {
  if (leaves.empty()) return sha256({});
  if (leaves.size() == 1) return leaves[0];
  const std::size_t split = std::bit_floor(leaves.size() - 1);
  const std::string message = std::string("\x01")
                                  .append(root_by_definition(leaves.first(split)).raw())
                                  .append(root_by_definition(leaves.subspan(split)).raw());
  return sha256(bytes_of(message));
}

std::vector<std::uint8_t> random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> bytes(count);
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

}  // namespace

TEST_CASE("SHA-256 is that of FIPS 180-4") {
  CHECK(hex(sha256({})) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hex(sha256(bytes_of("abc"))) ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("leaves and nodes are hashed apart") {
  CHECK(merkle_leaf(bytes_of("abc")) == sha256(bytes_of(std::string("\0abc", 4))));
  const Digest a = merkle_leaf(bytes_of("a")), b = merkle_leaf(bytes_of("b"));
  const std::string node = std::string("\x01").append(a.raw()).append(b.raw());
  CHECK(merkle_root(std::vector{a, b}) == sha256(bytes_of(node)));
}

TEST_CASE("Merkle roots are those of RFC 9162 for any number of leaves") {
  std::vector<Digest> leaves;
  for (unsigned count = 0; count <= 130; ++count) {
    CAPTURE(count);
    CHECK(merkle_root(leaves) == root_by_definition(leaves));
    const std::string text = "leaf " + std::to_string(count);
    leaves.push_back(merkle_leaf(bytes_of(text)));
  }
}

TEST_CASE("leaves made many at once are those made one by one") {
  // Around the numbers of blocks that are worth the lanes, and of lanes; around the block lengths
  // where the last chunk of SHA-256 has room for the length and where not.
  for (const std::size_t blocks : {0, 1, 9, 10, 15, 16, 17, 25, 26, 32, 64}) {
    for (const std::size_t block_bytes :
         {1, 53, 54, 55, 56, 62, 63, 64, 117, 118, 119, 127, 1000}) {
      CAPTURE(blocks);
      CAPTURE(block_bytes);
      const auto data = random_bytes(blocks * block_bytes, static_cast<unsigned>(block_bytes));
      const std::vector<Digest> leaves = merkle_leaves(data, block_bytes);
      REQUIRE(leaves.size() == blocks);
      for (std::size_t i = 0; i < blocks; ++i)
        CHECK(leaves[i] == merkle_leaf(std::span(data).subspan(i * block_bytes, block_bytes)));
    }
  }
}

TEST_CASE("making leaves reads nothing outside the blocks") {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const room = ::mmap(nullptr, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(room != MAP_FAILED);
  auto* const data = static_cast<std::uint8_t*>(room) + page;
  REQUIRE(::mprotect(data, page, PROT_READ | PROT_WRITE) == 0);
  const auto bytes = random_bytes(page, 11);
  std::copy(bytes.begin(), bytes.end(), data);
  for (const std::size_t block_bytes : {page / 16, page / 32, page / 16 - 1}) {
    // From the first byte of the page, and to its last.
    for (const std::size_t offset : {std::size_t{0}, page - page / block_bytes * block_bytes}) {
      const std::span whole(data + offset, page / block_bytes * block_bytes);
      const std::vector<Digest> leaves = merkle_leaves(whole, block_bytes);
      CHECK(leaves.back() == merkle_leaf(whole.last(block_bytes)));
    }
  }
  ::munmap(room, 3 * page);
}

TEST_CASE("a generation's digest is the root over its blocks' leaves") {
  for (const std::size_t blocks : {1, 2, 3, 7, 64, 100}) {
    for (const std::size_t block_bytes : {1, 63, 64, 1000}) {
      const auto data = random_bytes(blocks * block_bytes, static_cast<unsigned>(blocks));
      std::vector<Digest> leaves;
      for (std::size_t i = 0; i < blocks; ++i)
        leaves.push_back(merkle_leaf(std::span(data).subspan(i * block_bytes, block_bytes)));
      CHECK(generation_digest(data, block_bytes) == merkle_root(leaves));
    }
  }
}

TEST_CASE("a generation's digest tells every changed byte and every swap of blocks") {
  auto data = random_bytes(8 * 32, 9);
  const Digest good = generation_digest(data, 32);
  for (auto& byte : data) {
    byte ^= 1;
    CHECK(generation_digest(data, 32) != good);
    byte ^= 1;
  }
  std::swap_ranges(data.begin(), data.begin() + 32, data.begin() + 32);
  CHECK(generation_digest(data, 32) != good);
}

TEST_CASE("digests are made on several threads at once") {
  const auto data = random_bytes(64 * 1024, 4);
  const Digest expected = generation_digest(data, 1024);
  std::vector<Digest> results(4);
  {
    std::vector<std::jthread> threads;
    for (Digest& result : results)
      threads.emplace_back([&] {
        for (int i = 0; i < 20; ++i) result = generation_digest(data, 1024);
      });
  }
  for (const Digest& result : results) CHECK(result == expected);
}
