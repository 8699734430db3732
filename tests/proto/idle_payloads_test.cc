// Memory of payloads that is kept for the next ones.
#include "proto/idle_payloads.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "proto/messages.h"

using firn::proto::IdlePayloads;
using firn::proto::Payload;

namespace {

bool aligned(const std::uint8_t* data) {
  return reinterpret_cast<std::uintptr_t>(data) % 64 == 0;
}

}  // namespace

TEST_CASE("memory that was given back is bounded, whatever the sizes") {
  IdlePayloads pool;
  for (const std::size_t bytes : {std::size_t{1} << 12, std::size_t{1} << 14, std::size_t{1} << 20,
                                  std::size_t{5000}, std::size_t{70000}, std::size_t{1} << 16}) {
    std::vector<std::uint8_t*> taken;
    for (int i = 0; i < 2000 && taken.size() * bytes < (std::size_t{16} << 20); ++i) {
      taken.push_back(pool.take(bytes));
      REQUIRE(aligned(taken.back()));
      std::memset(taken.back(), i, bytes);
    }
    for (std::uint8_t* data : taken) pool.give_back(data, bytes);
    CHECK(pool.idle_bytes() <= IdlePayloads::kIdleMax);
  }
}

TEST_CASE("memory is used again, also of a size that comes later") {
  if (!IdlePayloads::keeps()) return;
  IdlePayloads pool;
  for (const std::size_t bytes : {std::size_t{16384}, std::size_t{32768}, std::size_t{4096},
                                  std::size_t{8192}, std::size_t{65536}, std::size_t{16384}}) {
    CAPTURE(bytes);
    std::vector<std::uint8_t*> first;
    for (std::size_t i = 0; i < IdlePayloads::kIdleMax / bytes; ++i)
      first.push_back(pool.take(bytes));
    for (std::uint8_t* data : first) pool.give_back(data, bytes);
    CHECK(pool.idle_bytes() == IdlePayloads::kIdleMax);
    const std::set<std::uint8_t*> known(first.begin(), first.end());
    std::vector<std::uint8_t*> second;
    for (std::size_t i = 0; i < first.size(); ++i) second.push_back(pool.take(bytes));
    CHECK(pool.idle_bytes() == 0);
    CHECK(std::ranges::all_of(second, [&](std::uint8_t* data) { return known.contains(data); }));
    for (std::uint8_t* data : second) pool.give_back(data, bytes);
  }
}

TEST_CASE("memory in use is never handed out again") {
  IdlePayloads pool;
  std::set<std::uint8_t*> in_use;
  for (int round = 0; round < 5000; ++round) {
    const std::size_t bytes = round % 3 == 0 ? 4096 : 16384;
    std::uint8_t* const data = pool.take(bytes);
    REQUIRE(in_use.insert(data).second);
    if (round % 4 == 0) continue;
    in_use.erase(data);
    pool.give_back(data, bytes);
  }
  for (std::uint8_t* data : in_use) pool.give_back(data, 100);  // small: to the allocator
  CHECK(pool.idle_bytes() <= IdlePayloads::kIdleMax);
}

TEST_CASE("payloads of several threads keep what was written into them") {
  const auto work = [](std::uint8_t mark) {
    for (int i = 0; i < 2000; ++i) {
      Payload payload = Payload::allocate(8192);
      std::memset(payload.writable().data(), mark, payload.size());
      const Payload shared = payload;
      const auto bytes = shared.bytes();
      REQUIRE(std::ranges::all_of(bytes, [mark](std::uint8_t byte) { return byte == mark; }));
    }
  };
  std::vector<std::thread> threads;
  for (const std::uint8_t mark : {1, 2, 3, 4}) threads.emplace_back(work, mark);
  for (std::thread& thread : threads) thread.join();
}
