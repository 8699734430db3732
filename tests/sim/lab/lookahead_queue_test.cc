// Virtual time in windows against one event after the other, and a whole swarm that runs in it.
#include <doctest/doctest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "codec/random.h"
#include "tests/sim/lab/lab.h"
#include "tests/sim/lab/lookahead_queue.h"
#include "tests/sim/lab/time_queue.h"

using namespace firn;
using namespace firn::sim;

namespace {

constexpr std::uint32_t kPeers = 7;
constexpr TimeUs kShortest = 50;

// What each peer sees, in order: time and value of its events.
using Seen = std::vector<std::vector<std::pair<TimeUs, std::uint64_t>>>;

// Every event of a peer makes others, at once or later, for itself or along a path for another: of
// what kind is decided by its value alone, so that both queues are asked to do the same.
template <class Queue>
Seen run(Queue& queue, std::uint64_t seed) {
  Seen seen(kPeers);
  for (std::uint32_t p = 0; p < kPeers; ++p) queue.post({p * 13, 0, p, seed * kPeers + p});
  while (!queue.empty() && queue.taken() < 4000) {
    const LabEvent event = queue.take();
    if (event.time > 20'000) continue;
    seen[event.peer].emplace_back(event.time, event.value);
    codec::CoefficientStream random(event.value, static_cast<std::uint64_t>(event.time));
    for (std::uint32_t i = 0; i < 2; ++i) {
      const std::uint64_t value = random.next_u64();
      const std::uint32_t other = random.below(kPeers);
      const TimeUs apart = random.below(400);
      if (i == 0) {
        const TimeUs path = other == event.peer ? 0 : kShortest;
        queue.post({event.time + path + apart, 0, other, value});
      } else if (random.below(8) == 0) {
        queue.post({event.time + (apart < 200 ? 0 : apart), 0, event.peer, value});
      }
    }
  }
  for (auto& events : seen) std::sort(events.begin(), events.end());
  return seen;
}

}  // namespace

TEST_CASE("in windows every peer sees the events that it sees one after the other") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    TimeQueue plain;
    LookaheadQueue windows;
    windows.set_window(kShortest);
    Seen expected = run(plain, seed), got = run(windows, seed);
    // Both stop after as many events, which is at other times: what came before is compared.
    for (std::uint32_t p = 0; p < kPeers; ++p) {
      const std::size_t both = std::min(expected[p].size(), got[p].size());
      REQUIRE(both > 50);
      expected[p].resize(both);
      got[p].resize(both);
      CHECK(expected[p] == got[p]);
    }
  }
}

TEST_CASE("a peer's events come in the order of their times, those of one time as posted") {
  LookaheadQueue queue;
  queue.set_window(kShortest);
  for (std::uint64_t i = 0; i < 6; ++i) queue.post({100 - static_cast<TimeUs>(i / 2), 0, 1, i});
  std::vector<std::uint64_t> order;
  while (!queue.empty()) {
    const LabEvent event = queue.take();
    order.push_back(event.value);
    if (event.value == 2) queue.post({event.time, 0, 1, 9});  // after the other of its time
  }
  CHECK(order == std::vector<std::uint64_t>{4, 5, 2, 3, 9, 0, 1});
}

TEST_CASE("sixty peers complete, and few blocks and few bytes of States are wasted") {
  Lab lab(4, 32, 16384, 1);
  LabPeerSpec source;
  source.source = true;
  lab.add(source);
  for (TimeUs i = 0; i < 60; ++i) {
    LabPeerSpec spec;
    spec.link.delay = 10'000 + 500 * i;
    lab.add(spec);
  }
  REQUIRE(lab.run(60 * core::kSecond));
  double innovative = 0, redundant = 0, sent = 0, control = 0;
  for (std::size_t i = 0; i < lab.size(); ++i) {
    const LabPeerResult r = lab.result(i);
    innovative += static_cast<double>(r.innovative);
    redundant += static_cast<double>(r.redundant);
    sent += r.bytes_sent;
    control += r.control_bytes;
  }
  CHECK(innovative == 60 * static_cast<double>(lab.blocks_in_content()));
  CHECK(redundant / innovative < 0.2);  // 0.12 to 0.17 by seed
  CHECK(control / sent < 0.05);
}
