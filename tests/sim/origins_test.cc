// Swarms in which an origin gives what no peer has. Every byte is checked.
#include <array>

#include "tests/sampled.h"
#include "tests/sim/scenario.h"

using namespace firn;
using namespace firn::sim;

namespace {

constexpr TimeUs kGenerationTime = kSecond;  // for a generation from the origin

// Generations that all peers asked of the origin, as a share of the content's.
double copies_asked(Network& network) {
  std::uint32_t asked = 0;
  for (std::size_t i = 0; i < network.size(); ++i) asked += network.peer(i).asked_of_origin;
  return asked / static_cast<double>(network.content().manifest.info.shape.generation_count());
}

}  // namespace

TEST_CASE("a swarm without a source completes from an origin, with few copies asked of it") {
  for (std::uint64_t seed = 300; seed < 306; ++seed) {
    CAPTURE(seed);
    const Content content(24, 16, 16, seed, seed % 2 == 0);
    Network network(content, seed);
    network.watch_progress();
    for (int i = 0; i < 8; ++i) network.add({.link = {8 * kMbit}, .origin = kGenerationTime});
    run_to_completion(network);
    MESSAGE("seed " << seed << ": copies " << copies_asked(network));
    CHECK(copies_asked(network) >= 1);
    CHECK(copies_asked(network) <= 1.25);
  }
}

TEST_CASE("one peer that knows an origin feeds all that know none") {
  const Content content(12, 16, 16, 3);
  Network network(content, 310);
  network.add({.link = {8 * kMbit}, .origin = kGenerationTime});
  for (int i = 0; i < 6; ++i) network.add({.link = {8 * kMbit}});
  run_to_completion(network);
  CHECK(network.peer(0).asked_of_origin == 12);
}

TEST_CASE("an origin, crashes, restarts and cut connections end in complete peers") {
  for (std::uint64_t seed = 320; seed < 328; ++seed) {
    CAPTURE(seed);
    const Content content(12, 16, 16, seed);
    Network network(content, seed);
    for (int i = 0; i < 10; ++i)
      network.add({.link = {4 * kMbit}, .origin = kGenerationTime, .origin_fails = 0.2});
    auto& random = network.random();
    for (int i = 0; i < 30; ++i) {
      const auto victim = random.below(10);
      const TimeUs at = random.below(8'000'000);
      const TimeUs back = at + 100'000 + random.below(3'000'000);
      network.events().at(at, [&network, victim] { network.crash(victim); });
      network.events().at(back, [&network, victim] { network.restart(victim); });
    }
    for (int i = 0; i < 40; ++i)
      network.events().at(random.below(10'000'000), [&network] { network.cut_some_connection(); });
    network.events().run(12 * kSecond, [] { return false; });
    run_to_completion(network, 900);
  }
}

TEST_CASE("an origin gives what a source that crashes half way has not brought") {
  for (std::uint64_t seed = 330; seed < 334; ++seed) {
    CAPTURE(seed);
    const Content content(24, 16, 16, seed);
    Network network(content, seed);
    network.add({.link = {8 * kMbit}, .source = true});
    for (int i = 0; i < 8; ++i) network.add({.link = {8 * kMbit}, .origin = kGenerationTime});
    REQUIRE(network.events().run(
        600 * kSecond, [&] { return network.peer(0).uplink().blocks_departed() >= 24 * 16 / 2; }));
    CHECK(copies_asked(network) <= 0.25);  // the source has everything
    network.crash(0);
    run_to_completion(network, 900);
    MESSAGE("seed " << seed << ": copies " << copies_asked(network));
    CHECK(copies_asked(network) >= 0.25);
    CHECK(copies_asked(network) <= 1);
  }
}

TEST_CASE("polluters beside an origin spoil nothing and hold nobody up for ever") {
  for (std::uint64_t seed = 340; seed < 343; ++seed) {
    CAPTURE(seed);
    const Content content(12, 16, 16, seed);
    Network network(content, seed);
    for (int i = 0; i < 6; ++i) network.add({.link = {8 * kMbit}, .origin = kGenerationTime});
    for (int i = 0; i < 2; ++i) network.add({.link = {8 * kMbit}, .lies = true});
    run_to_completion(network, 900);
  }
}
