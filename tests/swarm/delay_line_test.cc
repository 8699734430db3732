#include "tests/swarm/delay_line.h"

#include <doctest/doctest.h>

using firn::swarm::DelayLine;
using firn::swarm::kNever;

namespace {

std::vector<std::uint8_t> frame(std::size_t bytes, std::uint8_t value) {
  return std::vector<std::uint8_t>(bytes, value);
}

}  // namespace

TEST_CASE("frames leave in order, each the delay after it came") {
  DelayLine line({.delay_us = 5000, .loss = 0, .bytes_max = 1000, .seed = 1});
  CHECK(line.next_due() == kNever);
  line.put(frame(10, 1), 100);
  line.put(frame(20, 2), 300);
  CHECK(line.next_due() == 5100);
  CHECK(line.take() == frame(10, 1));
  CHECK(line.next_due() == 5300);
  CHECK(line.take() == frame(20, 2));
  CHECK(line.next_due() == kNever);
  CHECK(line.counts().passed == 2);
}

TEST_CASE("what a full line has no room for is dropped, and room comes back") {
  DelayLine line({.delay_us = 10, .loss = 0, .bytes_max = 100, .seed = 1});
  line.put(frame(60, 1), 0);
  line.put(frame(41, 2), 0);
  line.put(frame(40, 3), 0);
  CHECK(line.counts().overflowed == 1);
  CHECK(line.take() == frame(60, 1));
  line.put(frame(60, 4), 20);
  CHECK(line.take() == frame(40, 3));
  CHECK(line.take() == frame(60, 4));
  CHECK(line.counts().overflowed == 1);
}

TEST_CASE("about as many frames get lost as were told to, the same ones for a seed") {
  const auto lost = [](double part, std::uint64_t seed) {
    DelayLine line({.delay_us = 0, .loss = part, .bytes_max = 1 << 20, .seed = seed});
    std::vector<std::uint64_t> at;
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      line.put(frame(1, 0), i);
      if (line.counts().lost > at.size()) at.push_back(i);
    }
    CHECK(line.counts().lost == at.size());
    return at;
  };
  CHECK(lost(0, 1).empty());
  CHECK(lost(1, 1).size() == 20'000);
  const auto some = lost(0.02, 1);
  CHECK(some.size() > 300);  // 400 expected, a deviation of 20
  CHECK(some.size() < 500);
  CHECK(some == lost(0.02, 1));
  CHECK(some != lost(0.02, 2));
}
