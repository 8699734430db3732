#include <doctest/doctest.h>

#include "client/app/runtime/buffer_pool.h"
#include "client/app/runtime/generation_cache.h"

namespace firn::app {
namespace {

SharedBuffer buffer_of(std::size_t bytes) {
  return std::make_shared<const Buffer>(bytes);
}

TEST_CASE("the cache keeps what was used last and forgets what was used first") {
  GenerationCache cache(300);
  const auto first = buffer_of(100);
  cache.insert(0, 1, first);
  cache.insert(0, 2, buffer_of(100));
  cache.insert(0, 3, buffer_of(100));
  CHECK(cache.find(0, 1) == first);  // used: now 2 is the oldest
  cache.insert(0, 4, buffer_of(100));
  CHECK(cache.find(0, 1) == first);
  CHECK(cache.find(0, 2) == nullptr);
  CHECK(cache.find(0, 3) != nullptr);
  CHECK(cache.find(0, 4) != nullptr);
  CHECK(cache.bytes() == 300);
}

TEST_CASE("the cache holds the last generation even if it alone is above the bound") {
  GenerationCache cache(50);
  const auto large = buffer_of(1000);
  cache.insert(0, 1, large);
  CHECK(cache.find(0, 1) == large);
  cache.insert(0, 2, buffer_of(1000));
  CHECK(cache.find(0, 1) == nullptr);
  CHECK(cache.find(0, 2) != nullptr);
  CHECK(cache.bytes() == 1000);
}

TEST_CASE("contents do not see each other's generations") {
  GenerationCache cache(1000);
  cache.insert(0, 1, buffer_of(10));
  CHECK(cache.find(1, 1) == nullptr);
  cache.insert(1, 1, buffer_of(20));
  CHECK(cache.find(0, 1)->bytes().size() == 10);
  cache.erase(0, 1);
  CHECK(cache.find(0, 1) == nullptr);
  CHECK(cache.find(1, 1)->bytes().size() == 20);
  CHECK(cache.bytes() == 20);
}

TEST_CASE("inserting again replaces and counts once") {
  GenerationCache cache(1000);
  cache.insert(0, 1, buffer_of(100));
  cache.insert(0, 1, buffer_of(60));
  CHECK(cache.bytes() == 60);
  CHECK(cache.find(0, 1)->bytes().size() == 60);
}

TEST_CASE("a buffer comes back to its pool and goes out again") {
  BufferPool pool(100);
  auto first = pool.take(64);
  const void* const place = first->bytes().data();
  CHECK(reinterpret_cast<std::uintptr_t>(place) % 64 == 0);
  auto second = pool.take(64);
  CHECK(second->bytes().data() != place);
  first.reset();
  second.reset();  // above what the pool keeps idle: freed
  CHECK(pool.take(64)->bytes().data() == place);
  CHECK(pool.take(63)->bytes().size() == 63);
}

TEST_CASE("a buffer outlives its pool") {
  std::shared_ptr<Buffer> buffer;
  {
    BufferPool pool(1000);
    buffer = pool.take(10);
  }
  buffer->bytes()[9] = 1;
  CHECK(buffer->bytes()[9] == 1);
}

}  // namespace
}  // namespace firn::app
