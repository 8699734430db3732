// Buffers that are used again, and where the memory of others goes.
#include "client/app/runtime/buffer_pool.h"

#include <malloc.h>
#include <unistd.h>

#include <doctest/doctest.h>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include "proto/base/sanitized.h"

using namespace firn;
using app::Buffer;
using app::BufferPool;

namespace {

constexpr std::size_t kMiB = 1 << 20;

std::size_t resident_bytes() {
  std::size_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST_CASE("a buffer that was given back is used again for the same size alone") {
  BufferPool pool(4 * kMiB);
  auto first = pool.take(kMiB);
  const std::uint8_t* const at = first->bytes().data();
  CHECK(reinterpret_cast<std::uintptr_t>(at) % Buffer::kAlignment == 0);
  CHECK(first->bytes().size() == kMiB);
  first.reset();
  const auto other = pool.take(kMiB / 2);
  CHECK(other->bytes().data() != at);
  CHECK(pool.take(kMiB)->bytes().data() == at);
}

TEST_CASE("buffers of any size are aligned, and outlive their pool") {
  auto pool = std::make_unique<BufferPool>(kMiB);
  std::vector<std::shared_ptr<Buffer>> buffers;
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{4096}, std::size_t{4097}, 3 * kMiB + 5}) {
    buffers.push_back(pool->take(bytes));
    CHECK(buffers.back()->bytes().size() == bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(buffers.back()->bytes().data()) % Buffer::kAlignment ==
          0);
    std::memset(buffers.back()->bytes().data(), 1, bytes);
  }
  pool.reset();
  for (const auto& buffer : buffers) std::memset(buffer->bytes().data(), 2, buffer->bytes().size());
}

TEST_CASE("memory beyond what is kept goes back to the kernel, whatever lies between") {
  if (kSanitized) return;                // buffers are the sanitizer's then
  ::mallopt(M_MMAP_THRESHOLD, 4 << 20);  // as the program has it
  BufferPool pool(2 * kMiB);
  std::vector<std::shared_ptr<Buffer>> buffers;
  std::vector<std::unique_ptr<char[]>> between;
  const std::size_t before = resident_bytes();
  for (int i = 0; i < 64; ++i) {
    buffers.push_back(pool.take(kMiB));
    std::memset(buffers.back()->bytes().data(), 1, kMiB);
    between.push_back(std::make_unique<char[]>(2 * Buffer::kAlignment));
  }
  REQUIRE(resident_bytes() > before + 60 * kMiB);
  buffers.clear();
  CHECK(resident_bytes() < before + 8 * kMiB);
}
