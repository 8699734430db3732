// A core by itself and the origin that it may ask, for which the test speaks.
#pragma once

#include <doctest/doctest.h>

#include <deque>
#include <set>
#include <utility>
#include <vector>

#include "tests/core/facts.h"
#include "tests/core/fixture.h"

namespace firn::test {

using GenerationNumbers = std::set<std::uint32_t>;  // of generations

struct OriginBench : Fixture {
  static constexpr std::uint32_t kRows = 4, kRowBytes = 16;  // of a generation
  static constexpr std::uint64_t kBytes = std::uint64_t{kRows} * kRowBytes;
  // A peer that knows nothing of how fast an origin is, and waits for its turn, has begun.
  static constexpr TimeUs kBegun = facts::kUsualAtFirst + kSecond / 2;
  // So long neighbours that bring nothing hold it up.
  static constexpr TimeUs kHeldUp = facts::lapses_after(facts::kUsualAtFirst);

  explicit OriginBench(std::uint32_t generations, core::Options options = plain_options())
      : Fixture(plain_manifest(generations, kRows, kRowBytes), std::move(options)) {}

  void open_origin(bool open = true) {
    core.origin_open(open, now);
    drain();
  }
  // Runs asked for since the last call.
  std::vector<core::FetchFromOrigin> runs() {
    const auto some = take<core::FetchFromOrigin>();
    for (const core::FetchFromOrigin& run : some)
      for (std::uint32_t i = 0; i < run.count; ++i) waiting.push_back(run.first + i);
    return some;
  }
  // The same, as generations; none of them was asked for already.
  GenerationNumbers asked() {
    GenerationNumbers all;
    for (const core::FetchFromOrigin& run : runs())
      for (std::uint32_t i = 0; i < run.count; ++i) CHECK(all.insert(run.first + i).second);
    return all;
  }
  GenerationNumbers asked_within(TimeUs time) {
    pass(time);
    return asked();
  }
  void answer(std::uint32_t g, bool verified = true) {
    std::erase(waiting, g);
    core.generation_fetched(g, verified, now);
    drain();
  }
  // Each generation comes `each` after the one before, until nothing has been asked for during
  // `patience`. Returns what came.
  GenerationNumbers serve(TimeUs each, TimeUs patience) {
    GenerationNumbers came;
    for (TimeUs last = now; now - last < patience;) {
      asked();
      if (waiting.empty()) {
        pass(patience / 4);
        continue;
      }
      pass(each);
      came.insert(waiting.front());
      answer(waiting.front());
      last = now;
    }
    return came;
  }
  // A neighbour sends rows of g that are new here.
  void give_rows(PeerKey peer, std::uint32_t g, std::uint32_t first, std::uint32_t count) {
    for (std::uint32_t i = first; i < first + count; ++i) say(peer, block(g, ++sequence, i));
  }
  void say_fetching(PeerKey peer, std::vector<proto::Span> fetching,
                    std::vector<proto::Span> complete = {}) {
    proto::State state;
    state.fetching = std::move(fetching);
    state.complete = std::move(complete);
    say(peer, state);
  }

  std::deque<std::uint32_t> waiting;  // asked for, not answered
  std::uint32_t sequence = 0;         // of the one neighbour that sends rows
};

}  // namespace firn::test
