// Downlinks with a bounded buffer, what a connection may have on its way to them, and swarms whose
// downlinks are the narrowest links.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "codec/random.h"
#include "tests/sim/lab/bound.h"
#include "tests/sim/lab/downlink.h"
#include "tests/sim/lab/lab.h"

using namespace firn;
using namespace firn::sim;

namespace {

LabLink link(double up, double down) {
  return {up * kMbit, down * kMbit, 20'000, 100'000};
}

}  // namespace

TEST_CASE("what the buffer has no room for is lost, and no more") {
  Downlink down(link(8, 8));  // 1 byte a microsecond; 100,000 and a bucket of 15,140
  CHECK(down.take(200'000, 0, 0).bytes == 115'140);
  CHECK(down.backlog(0) == 115'140);
  CHECK(down.take(1, 0, 0).bytes == 0);
  CHECK(down.take(10'000, 0, 5'000).bytes == 5'000);
  CHECK(down.backlog(120'140) == 0);
}

TEST_CASE("a burst that came no faster than the link takes it waits for nothing") {
  Downlink down(link(8, 8));
  const Downlink::Taken taken = down.take(1'000'000, 1'000'000, 1'000'000);
  CHECK(taken.bytes == 1'000'000);
  CHECK(taken.through == 0);
  // Twice as fast: half of it has gone out meanwhile.
  const Downlink::Taken fast = down.take(200'000, 100'000, 1'100'000);
  CHECK(fast.bytes == 200'000);
  CHECK(fast.through == 100'000);
}

TEST_CASE("under any bursts the link carries its rate, and its queue keeps its length") {
  codec::CoefficientStream random(1, 2);
  Downlink down(link(8, 10));
  const double rate = 10 * kMbit * 1e-6;
  double taken = 0, offered = 0;
  TimeUs now = 0;
  for (int i = 0; i < 20'000; ++i) {
    now += random.below(20'000);
    const std::uint32_t bytes = 60 + random.below(24'000);
    const Downlink::Taken t = down.take(bytes, static_cast<TimeUs>(bytes), now);
    REQUIRE(t.bytes <= bytes);
    REQUIRE(t.through == down.backlog(now));
    REQUIRE(static_cast<double>(t.through) * rate <= 0.1e6 * rate + 10 * kSegment + 1);
    taken += t.bytes;
    offered += bytes;
    REQUIRE(taken <= rate * static_cast<double>(now + t.through) + 1);
  }
  CHECK(taken < offered);  // 0.96 of the rate on average, so some are lost
  CHECK(taken > 0.9 * offered);
}

TEST_CASE(
    "a window grows while it holds its connection up, and shrinks once for a round's losses") {
  CongestionWindow window;
  const auto round = [&window](std::uint32_t lost_segments) {
    const std::uint32_t bytes = window.may_send(std::numeric_limits<std::uint32_t>::max());
    window.sent(bytes);
    CHECK(window.may_send(kSegment) == 0);
    for (std::uint32_t i = 0; i < bytes / kSegment; ++i) {
      i < lost_segments ? window.lost(kSegment) : window.acknowledged(kSegment);
    }
    CHECK(window.idle());
    return bytes / kSegment;
  };
  CHECK(round(0) == 10);
  CHECK(round(0) == 20);  // slow start doubles
  CHECK(round(9) == 40);
  CHECK(round(0) == 28);  // 0.7, once
  for (int i = 0; i < 9; ++i) round(0);
  const std::uint32_t later = round(0);
  CHECK(later >= 32);  // 0.53 segments a round
  CHECK(later <= 34);
  for (int i = 0; i < 30; ++i) round(1);
  CHECK(round(0) == 2);
}

TEST_CASE("a window that is not used does not grow") {
  CongestionWindow window;
  for (int i = 0; i < 100; ++i) {
    window.sent(kSegment);
    window.acknowledged(kSegment);
  }
  CHECK(window.may_send(100 * kSegment) <= 11 * kSegment);
}

TEST_CASE("a stream through a narrow downlink takes its rate, and few bytes go twice") {
  Lab lab(32, 64, 16384, 1);
  for (const bool source : {true, false}) {
    LabPeerSpec spec;
    spec.source = source;
    spec.link = link(100, source ? 0 : 8);
    lab.add(spec);
  }
  const double bound = fluid_bound(run_of(lab));
  REQUIRE(lab.run(static_cast<TimeUs>(3 * bound * 1e6)));
  const double ratio = static_cast<double>(lab.result(1).completed) * 1e-6 / bound;
  MESSAGE("ratio " << ratio << ", sent " << lab.result(0).bytes_sent / lab.content_bytes());
  CHECK(ratio >= 1.05);  // what LabWire adds
  CHECK(ratio < 1.15);
  CHECK(lab.result(0).bytes_sent < 1.15 * lab.content_bytes());
}

// Frames that were under way, or lost, when their connection ended must neither arrive later nor
// be taken for others.
TEST_CASE("narrow downlinks, and peers that come, leave and crash: who stays has everything") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    Lab lab(8, 16, 16384, seed);
    codec::CoefficientStream random(seed, 7);
    for (std::uint32_t i = 0; i <= 10; ++i) {
      LabPeerSpec spec;
      spec.source = i == 0;
      spec.link = link(4 + random.below(30), random.below(4) == 0 ? 0 : 3 + random.below(10));
      spec.link.queue = 1000 * random.below(100);
      spec.link.delay = 1000 * random.below(60);
      if (!spec.source) {
        spec.joins = 1000 * random.below(800);
        if (random.below(4) == 0) spec.crashes = 500'000 + 1000 * random.below(3000);
        if (random.below(3) == 0) spec.leaves_after = 1000 * random.below(50);
      }
      lab.add(spec);
    }
    const double bound = fluid_bound(run_of(lab));
    REQUIRE(lab.run(static_cast<TimeUs>(10 * bound * 1e6)));
    for (std::size_t i = 1; i < lab.size(); ++i) {
      const LabPeerResult r = lab.result(i);
      CHECK((r.completed >= 0 || r.gone >= 0));
      if (r.completed >= 0) CHECK(r.innovative == lab.blocks_in_content());
    }
  }
}

// Twelve home lines and a fast source, which almost all must come from. Its rate is what the
// windows allow that peers grant over their full uplinks.
TEST_CASE("a grant that waits for a full uplink holds up no fast source") {
  Lab lab(16, 64, 16384, 1);
  for (int i = 0; i <= 12; ++i) {
    LabPeerSpec spec;
    spec.source = i == 0;
    spec.link = spec.source ? link(100, 0) : link(1, 8);
    lab.add(spec);
  }
  const double bound = fluid_bound(run_of(lab));
  REQUIRE(lab.run(static_cast<TimeUs>(5 * bound * 1e6)));
  TimeUs last = 0;
  for (std::size_t i = 1; i < lab.size(); ++i) last = std::max(last, lab.result(i).completed);
  const double ratio = static_cast<double>(last) * 1e-6 / bound;
  MESSAGE("ratio " << ratio);
  CHECK(ratio < 1.4);
}
