// Rate limits in virtual time: whatever the rate, the size of blocks and the number of neighbours,
// what moves is what is allowed.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/sim/lab/lab.h"

using namespace firn;
using namespace firn::sim;
using core::kMillisecond;
using core::kSecond;

namespace {

constexpr std::uint32_t kN = 16;

struct Setting {
  std::uint64_t rate;
  std::uint32_t neighbours;
  std::uint32_t k;
  bool down;
  TimeUs delay = 1 * kMillisecond;
};

// What the start brings (windows that grow, a first peer exchange) is left out.
constexpr TimeUs kWarm = 2 * kSecond;

// Fewer seconds where blocks are many; 0: too many for a test.
double seconds_for(const Setting& s, double blocks_max) {
  const double blocks_a_second = static_cast<double>(s.rate) / s.k * (s.down ? 1 : s.neighbours);
  const double seconds = blocks_max / blocks_a_second - 1e-6 * kWarm;
  return seconds < 3 ? 0 : std::min(seconds, 20.0);
}

// Bytes a second that the limited peer moved, over the limit. One that receives has sources alone
// for neighbours; one that sends is the only source.
double used(const Setting& s, double seconds) {
  const double blocks = static_cast<double>(s.rate) * (seconds + 3) / s.k;
  const auto generations = static_cast<std::uint32_t>(2 * blocks / kN) + 64;
  Lab lab(generations, kN, s.k, 7);
  const LabLink link{.up = 1e9, .delay = s.delay};
  LabPeerSpec limited{.link = link, .source = !s.down};
  (s.down ? limited.receive_limit : limited.send_limit) = s.rate;
  const std::size_t peer = lab.add(limited);
  for (std::uint32_t i = 0; i < s.neighbours; ++i) lab.add({.link = link, .source = s.down});
  const auto moved = [&] {
    const core::Report report = lab.report(peer);
    return static_cast<double>(s.down ? report.bytes_received : report.bytes_sent);
  };
  lab.run(kWarm);
  const double before = moved();
  CHECK_FALSE(lab.run(kWarm + static_cast<TimeUs>(seconds * kSecond)));
  return (moved() - before) / seconds / static_cast<double>(s.rate);
}

// 3 %, or two blocks if those are more.
void check(const Setting& s, double blocks_max) {
  const double seconds = seconds_for(s, blocks_max);
  if (seconds <= 0) return;
  const double share = used(s, seconds);
  const double two_blocks = 2.0 * s.k / (static_cast<double>(s.rate) * seconds);
  CAPTURE(s.rate);
  CAPTURE(s.neighbours);
  CAPTURE(s.k);
  CAPTURE(s.down);
  CAPTURE(seconds);
  CHECK(std::abs(share - 1) <= std::max(0.03, two_blocks));
  if (std::getenv("FIRN_SIM_TABLE") != nullptr) {
    std::printf("%s %9llu B/s %2u neighbours k=%6u %5.1f s %.4f\n", s.down ? "down" : "up  ",
                static_cast<unsigned long long>(s.rate), s.neighbours, s.k, seconds, share);
  }
}

double blocks_max() {
  const char* const given = std::getenv("FIRN_SIM_BLOCKS");
  return given != nullptr ? std::atof(given) : 12'000;
}

}  // namespace

TEST_CASE("a limit is kept to and used, whatever the rate, the blocks and the neighbours") {
  for (const bool down : {true, false}) {
    for (const std::uint32_t k : {1u << 10, 16u << 10, 256u << 10}) {
      for (const std::uint32_t neighbours : {1u, 3u, 12u}) {
        for (const std::uint64_t rate :
             {50'000u, 100'000u, 300'000u, 700'000u, 1'000'000u, 1'048'576u, 1'200'000u, 1'500'000u,
              2'000'000u, 5'000'000u, 10'000'000u, 40'000'000u, 100'000'000u}) {
          check({rate, neighbours, k, down}, blocks_max());
        }
      }
    }
  }
}

TEST_CASE("a limit is kept to and used over long paths too") {
  for (const bool down : {true, false}) {
    for (const std::uint32_t neighbours : {1u, 3u, 12u}) {
      for (const std::uint64_t rate : {100'000u, 1'048'576u, 1'200'000u, 5'000'000u}) {
        check({rate, neighbours, 16u << 10, down, 50 * kMillisecond}, blocks_max());
      }
    }
  }
}
