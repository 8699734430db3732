// The law of the drift, and state spaces that keep what they promise.
#include "codec/sync/limits.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <numeric>

namespace firn::codec::sync {
namespace {

const Channel kDriftChannels[] = {
    {0.01, 0.01, 0}, {0.1, 0.05, 0.1}, {0, 0.1, 0}, {0.2, 0, 0}, {0, 0, 0}};

// S_T by summing over the events of each bit: the change over one bit is g insertions and a
// deletion or none.
std::vector<double> convolved_law(int bits, const Channel& channel, int reach) {
  std::vector<double> law(static_cast<std::size_t>(2 * reach + 1), 0);
  law[static_cast<std::size_t>(reach)] = 1;
  for (int t = 0; t < bits; ++t) {
    std::vector<double> next(law.size(), 0);
    for (int from = -reach; from <= reach; ++from) {
      double weight = law[static_cast<std::size_t>(from + reach)];
      for (int to = from; to <= reach; ++to, weight *= channel.insertion) {
        next[static_cast<std::size_t>(to + reach)] += weight * channel.transmission();
        if (to > -reach)
          next[static_cast<std::size_t>(to - 1 + reach)] += weight * channel.deletion;
      }
    }
    law = next;
  }
  return law;
}

TEST_CASE("the law of the drift is the one that summing over every bit's events gives") {
  for (const Channel& channel : kDriftChannels) {
    for (const int bits : {0, 1, 7, 120}) {
      const int reach = 150;
      const auto expected = convolved_law(bits, channel, reach);
      const DriftLaw law(static_cast<std::size_t>(bits), channel);
      double sum = 0;
      for (int m = -reach; m <= reach; ++m) {
        const double p = law.probability(m);
        sum += p;
        REQUIRE(std::abs(p - expected[static_cast<std::size_t>(m + reach)]) < 1e-12);
      }
      CHECK(sum == doctest::Approx(1).epsilon(1e-10));
    }
  }
}

TEST_CASE("a range of the drift's law leaves out at most what it may, and no side needlessly") {
  for (const Channel& channel : {Channel{0.01, 0.01, 0}, Channel{0.1, 0.05, 0.1}}) {
    for (const double excluded : {1e-3, 1e-6, 1e-10}) {
      const DriftLaw law(300, channel);
      const DriftRange range = law.range(excluded);
      double inside = 0;
      for (int m = range.low; m <= range.high; ++m) inside += law.probability(m);
      CHECK(1 - inside <= excluded);
      CHECK(1 - inside + std::min(law.probability(range.low), law.probability(range.high)) >
            excluded);
    }
  }
}

TEST_CASE("a long frame's range is no wider for the errors of many probabilities") {
  constexpr double kExcluded = 2.5e-11;
  const DriftLaw law(16 * 840, {1e-3, 1e-3, 0});
  const DriftRange range = law.range(kExcluded);
  CHECK(range.size() < 80);
  double outside = 0;
  for (int beyond = 1; beyond <= 60; ++beyond)
    outside += law.probability(range.low - beyond) + law.probability(range.high + beyond);
  CHECK(outside <= kExcluded);
  CHECK(outside + law.probability(range.low) + law.probability(range.high) > kExcluded);
}

TEST_CASE("rigorous limits exclude at most what they may, and endpoint limits exclude more") {
  for (const double p : {1e-3, 1e-2, 1e-1}) {
    for (const double excluded : {1e-4, 1e-10}) {
      CAPTURE(p);
      const Channel channel{p, p, 0};
      const std::size_t n = 10, length = 210;
      const StateLimits limits = rigorous_limits(n, length, channel, excluded);
      REQUIRE(limits.valid());
      CHECK(corridor_exclusion(n, length, channel, limits) <= excluded);
      CHECK(band_exclusion(n * length, channel, limits.frame) <= excluded);
      const StateLimits endpoint = endpoint_limits(n, length, channel, excluded);
      REQUIRE(endpoint.valid());
      CHECK(corridor_exclusion(n, length, channel, endpoint) > excluded);
    }
  }
}

TEST_CASE("a channel without errors needs one state") {
  const StateLimits limits = rigorous_limits(8, 100, {}, 1e-10);
  CHECK(limits == StateLimits{{0, 0}, {0, 0}});
  CHECK(corridor_exclusion(8, 100, {}, limits) == 0);
}

// The frame's range may be a state wider on either side, as the inner nodes of the superposed form
// are kept as well, or narrower, as the order in which the sides grow is not the only one.
TEST_CASE("rigorous limits are those that were published for these codes") {
  struct Row {
    std::size_t n, length;
    double p;
    DriftRange codeword, frame;
  };
  for (const Row& row :
       {Row{10, 210, 1e-3, {-5, 5}, {-16, 17}}, Row{10, 210, 1e-2, {-7, 8}, {-45, 45}},
        Row{10, 210, 1e-1, {-10, 18}, {-142, 147}}, Row{8, 512, 1e-2, {-6, 8}, {-61, 62}},
        Row{16, 256, 1e-2, {-8, 9}, {-61, 62}}}) {
    CAPTURE(row.n);
    CAPTURE(row.p);
    const StateLimits limits = rigorous_limits(row.n, row.length, {row.p, row.p, 0}, 1e-10);
    CHECK(limits.codeword == row.codeword);
    CHECK(std::abs(limits.frame.low - row.frame.low) <= 1);
    CHECK(std::abs(limits.frame.high - row.frame.high) <= 1);
  }
}

// Whether a path has a node outside of the limits: of its codeword's corridor, or of the frame.
bool leaves(const std::vector<int>& drifts, const std::vector<int>& peaks, std::size_t n,
            const StateLimits& limits) {
  int start = 0;
  for (std::size_t t = 0; t < peaks.size(); ++t) {
    if (t % n == 0) start = drifts[t];
    for (const int node : {peaks[t], drifts[t + 1]}) {
      if (!limits.frame.contains(node) || !limits.codeword.contains(node - start)) return true;
    }
  }
  return false;
}

TEST_CASE("frames leave the state space as seldom as its limits promise") {
  // FIRN_TEST_SYNC_FRAMES=100000 is the acceptance's number.
  const char* given = std::getenv("FIRN_TEST_SYNC_FRAMES");
  const int frames = given != nullptr ? std::atoi(given) : 300;
  const std::size_t n = 8, length = 128;
  const Channel channel{0.02, 0.02, 0};
  const Bits sent(n * length, 0);
  CoefficientStream random(12, 0);
  const StateLimits tight = rigorous_limits(n, length, channel, 1e-10);
  // Limits of one in fifty show that the count is one.
  const double expected = 0.02;
  const StateLimits loose = rigorous_limits(n, length, channel, expected);
  int left_tight = 0, left_loose = 0;
  std::vector<int> drifts, peaks;
  for (int frame = 0; frame < frames; ++frame) {
    transmit(sent, channel, random, drifts, peaks);
    left_tight += leaves(drifts, peaks, n, tight) ? 1 : 0;
    left_loose += leaves(drifts, peaks, n, loose) ? 1 : 0;
  }
  CHECK(left_tight == 0);
  // Either form excludes at most 0.02: the corridor's and the band's, together at most 0.04.
  CHECK(left_loose > 0);
  CHECK(left_loose < 2 * expected * frames + 5 * std::sqrt(2 * expected * frames));
}

}  // namespace
}  // namespace firn::codec::sync
