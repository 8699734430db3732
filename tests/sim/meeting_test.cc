// How swarms come together: trackers, gossip, links, latecomers, and how they part.
#include "tests/sim/scenario.h"

using namespace firn;
using namespace firn::sim;
using core::SeedPolicy;

TEST_CASE("peers that accept no connections still complete") {
  const Content content(8, 32, 16, 6);
  Network network(content, 12);
  network.add({.link = {8 * kMbit}, .source = true});
  for (int i = 0; i < 12; ++i) network.add({.link = {8 * kMbit}, .listens = i % 2 == 0});
  run_to_completion(network);
}

TEST_CASE("where nobody but one accepts connections everybody completes, also beyond its table") {
  const Content content(4, 16, 16, 6);
  Network network(content, 13);
  network.add({.link = {16 * kMbit}, .source = true});
  for (int i = 0; i < 40; ++i) {
    network.add({.link = {8 * kMbit}, .listens = false, .seeding = {}});
  }
  run_to_completion(network);
}

TEST_CASE("with a link alone the manifest comes from peers, through peers that had none either") {
  const Content content(8, 16, 16, 7);
  Network network(content, 14);
  network.add({.link = {8 * kMbit}, .source = true, .tracker = false});
  for (std::size_t i = 1; i <= 5; ++i) {
    network.add({.link = {8 * kMbit}, .tracker = false, .knows = {i - 1}, .link_only = true});
  }
  run_to_completion(network);
}

TEST_CASE("with a link alone the manifest comes from the tracker before any peer is there") {
  const Content content(8, 16, 16, 8);
  Network network(content, 15);
  network.set_tracker_has_manifest(true);
  for (int i = 0; i < 5; ++i) network.add({.link = {8 * kMbit}, .link_only = true});
  network.events().run(20 * kSecond, [] { return false; });
  for (std::size_t i = 0; i < 5; ++i) CHECK(network.peer(i).core().started());
  network.add({.link = {8 * kMbit}, .source = true});
  run_to_completion(network);
}

TEST_CASE("with a link alone in a swarm with silent and deaf peers the manifest comes in the end") {
  const Content content(8, 16, 16, 9);
  Network network(content, 16);
  network.add({.link = {8 * kMbit}, .source = true});
  for (int i = 0; i < 2; ++i) network.add({.link = {8 * kMbit}, .source = true, .deaf = true});
  network.add({.link = {8 * kMbit}, .source = true, .deeds = {.serves = 0}});
  for (int i = 0; i < 6; ++i) network.add({.link = {8 * kMbit}, .link_only = true});
  run_to_completion(network);
}

TEST_CASE("a limited source hands a large manifest to many who wait for its parts, and bans none") {
  const Content content(10'000, 1, 16, 19);
  REQUIRE(content.manifest.file_bytes.size() > 300'000);
  Network network(content, 24);
  network.add({.link = {8 * kMbit}, .source = true, .tracker = false, .up_limit = 100'000});
  for (int i = 0; i < 8; ++i) {
    network.add({.link = {8 * kMbit}, .tracker = false, .knows = {0}, .link_only = true});
  }
  CHECK(network.events().run(120 * kSecond, [&] {
    for (std::size_t i = 0; i < network.size(); ++i) {
      if (!network.peer(i).alive() || !network.peer(i).core().started()) return false;
    }
    return true;
  }));
  check_honest(network);
  for (std::size_t i = 0; i < network.size(); ++i) CHECK(network.peer(i).warnings.empty());
}

TEST_CASE("gossip alone makes a swarm of who knows only the seed") {
  const Content content(16, 32, 16, 10);
  Network network(content, 17);
  network.set_tracker_up(false);
  network.add({.link = {8 * kMbit}, .source = true, .tracker = false});
  for (int i = 0; i < 12; ++i) {
    network.add({.link = {8 * kMbit}, .knows = {0}, .joins = i * 50'000});
  }
  run_to_completion(network);
  const double ratio =
      totals(network).last_seconds / fluid_bound(content, 8 * kMbit, 12, 8 * kMbit);
  MESSAGE("ratio " << ratio << ", source sent "
                   << static_cast<double>(network.peer(0).uplink().blocks_departed()) / (16.0 * 32)
                   << " copies");
  CHECK(ratio < 1.6);
}

TEST_CASE("a chain of acquaintances becomes a mesh by gossip") {
  const Content content(16, 32, 16, 11);
  Network network(content, 18);
  network.add({.link = {8 * kMbit}, .source = true, .tracker = false});
  for (std::size_t i = 1; i <= 10; ++i) {
    network.add({.link = {8 * kMbit}, .tracker = false, .knows = {i - 1}});
  }
  run_to_completion(network);
}

TEST_CASE("a tracker that comes late, or only for a moment, is enough") {
  const Content content(8, 16, 16, 12);
  Network network(content, 19);
  network.set_tracker_up(false);
  network.add({.link = {8 * kMbit}, .source = true});
  for (int i = 0; i < 8; ++i) network.add({.link = {8 * kMbit}, .link_only = i % 2 == 0});
  network.events().at(30 * kSecond, [&] { network.set_tracker_up(true); });
  network.events().at(75 * kSecond, [&] { network.set_tracker_up(false); });
  run_to_completion(network);
}

TEST_CASE("latecomers complete from those who stay") {
  const Content content(16, 32, 16, 13);
  Network network(content, 20);
  network.add({.link = {8 * kMbit}, .source = true});
  for (int i = 0; i < 15; ++i) {
    network.add({.link = {8 * kMbit}, .seeding = {}, .joins = i * 2 * kSecond});
  }
  run_to_completion(network);
}

TEST_CASE("a swarm whose members leave when they are complete completes with a source that stays") {
  for (const auto kind : {SeedPolicy::Kind::kNone, SeedPolicy::Kind::kWhileNeeded}) {
    CAPTURE(static_cast<int>(kind));
    const Content content(16, 32, 16, 14);
    Network network(content, 21);
    network.add({.link = {8 * kMbit}, .source = true});
    for (int i = 0; i < 12; ++i) {
      network.add({.link = {(2.0 + i) * kMbit}, .seeding = {kind}, .joins = i * 300'000});
    }
    run_to_completion(network);
    network.events().run(network.events().now() + 40 * kSecond, [] { return false; });
    check_honest(network);
    for (std::size_t i = 1; i < network.size(); ++i) CHECK(network.peer(i).finished());
  }
}

TEST_CASE("peers that stay while needed let a swarm outlive its source") {
  const Content content(16, 32, 16, 15);
  Network network(content, 22);
  network.add({.link = {16 * kMbit}, .source = true});
  for (int i = 0; i < 12; ++i) network.add({.link = {8 * kMbit}, .seeding = {}});
  REQUIRE(network.events().run(600 * kSecond, [&] { return network.peer(3).complete(); }));
  network.crash(0);
  run_to_completion(network);
}
