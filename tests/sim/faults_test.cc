// Swarms in which things break: peers crash, connections are cut, disks fill, sources leave.
#include <array>
#include <cstdlib>

#include "tests/sampled.h"
#include "tests/sim/scenario.h"

using namespace firn;
using namespace firn::sim;

TEST_CASE("the swarm completes after the source has left with little more than one copy sent") {
  const Content content(32, 64, 16, 4);
  Network network(content, 10);
  network.add({.link = {16 * kMbit}, .source = true});
  for (int i = 0; i < 12; ++i) network.add({.link = {8 * kMbit}});
  const auto blocks = static_cast<std::uint64_t>(1.05 * 32 * 64);
  REQUIRE(network.events().run(
      600 * kSecond, [&] { return network.peer(0).uplink().blocks_departed() >= blocks; }));
  CHECK_FALSE(network.all_complete());
  network.crash(0);
  run_to_completion(network);
}

TEST_CASE("a source that leaves when that is safe is gone before the end, and all complete") {
  for (std::uint64_t seed = 40; seed < 46; ++seed) {
    CAPTURE(seed);
    const Content content(16, 32, 16, seed);
    Network network(content, seed);
    network.add({.link = {16 * kMbit},
                 .source = true,
                 .seeding = {core::SeedPolicy::Kind::kWhenSafe, 0, 0},
                 .dense = seed % 2 == 1});
    for (int i = 0; i < 8; ++i) network.add({.link = {8 * kMbit}});
    // Peers that leave take their part of the proof with them.
    network.events().at(kSecond, [&] { network.crash(1 + seed % 3); });
    REQUIRE(network.events().run(600 * kSecond, [&] { return network.peer(0).finished(); }));
    CHECK_FALSE(network.all_complete());
    run_to_completion(network);
  }
}

TEST_CASE("crashes, restarts and cut connections end in complete peers for every seed") {
  for (std::uint64_t seed = 100; seed < 110; ++seed) {
    CAPTURE(seed);
    const Content content(6, 16, 16, seed);
    Network network(content, seed);
    network.add({.link = {8 * kMbit}, .source = true});
    for (int i = 0; i < 14; ++i) network.add({.link = {4 * kMbit}});
    auto& random = network.random();
    for (int i = 0; i < 40; ++i) {
      const auto victim = 1 + random.below(14);
      const TimeUs at = random.below(8'000'000);
      const TimeUs back = at + 100'000 + random.below(3'000'000);
      network.events().at(at, [&network, victim] { network.crash(victim); });
      network.events().at(back, [&network, victim] { network.restart(victim); });
    }
    for (int i = 0; i < 60; ++i) {
      network.events().at(random.below(10'000'000), [&network] { network.cut_some_connection(); });
    }
    network.events().at(2 * kSecond, [&network] { network.set_tracker_up(false); });
    network.events().at(4 * kSecond, [&network] { network.set_tracker_up(true); });
    network.events().run(12 * kSecond, [] { return false; });
    run_to_completion(network, 900);
  }
}

TEST_CASE("a restarted source serves what is missing, and no more") {
  const Content content(16, 32, 16, 5);
  Network network(content, 11);
  network.add({.link = {8 * kMbit}, .source = true});
  for (int i = 0; i < 6; ++i) network.add({.link = {8 * kMbit}});
  network.events().at(3 * kSecond, [&] { network.crash(0); });
  network.events().at(5 * kSecond, [&] { network.restart(0); });
  run_to_completion(network);
  CHECK(network.peer(0).uplink().blocks_departed() < 16 * 32 * 2);
}

TEST_CASE("a third of the swarm killed half way is not missed") {
  const Content content(16, 32, 16, 6);
  Network network(content, 12);
  network.add({.link = {8 * kMbit}, .source = true});
  for (int i = 0; i < 18; ++i) network.add({.link = {8 * kMbit}});
  network.events().at(5 * kSecond, [&] {
    for (std::size_t i = 1; i <= 18; i += 3) network.crash(i);
  });
  run_to_completion(network);
}

TEST_CASE("everybody at once is killed and comes back with what was on disk") {
  const Content content(16, 32, 16, 7);
  Network network(content, 13);
  network.add({.link = {8 * kMbit}, .source = true});
  for (int i = 0; i < 8; ++i) network.add({.link = {8 * kMbit}});
  std::vector<std::uint64_t> ranks;
  network.events().at(5 * kSecond, [&] {
    for (std::size_t i = 0; i <= 8; ++i) {
      ranks.push_back(network.peer(i).report().rank);
      network.crash(i);
    }
  });
  network.events().at(7 * kSecond, [&] {
    for (std::size_t i = 0; i <= 8; ++i) {
      network.restart(i);
      CHECK(network.peer(i).report().rank == ranks[i]);
    }
  });
  network.events().run(8 * kSecond, [] { return false; });
  run_to_completion(network);
  CHECK(totals(network).redundant_share() < 0.15);
}

TEST_CASE("a disk that is full for a while pauses its own download alone") {
  const Content content(16, 32, 16, 8);
  Network network(content, 14);
  network.add({.link = {8 * kMbit}, .source = true});
  for (int i = 0; i < 8; ++i) network.add({.link = {8 * kMbit}});
  std::uint64_t rank = 0;
  network.events().at(2 * kSecond, [&] { network.peer(3).disk.pause(); });
  network.events().at(5 * kSecond, [&] { rank = network.peer(3).report().rank; });
  network.events().at(60 * kSecond, [&] {
    CHECK(network.peer(3).report().rank == rank);
    for (std::size_t i = 1; i <= 8; ++i) CHECK(network.peer(i).complete() == (i != 3));
    network.peer(3).disk.resume();
  });
  network.events().run(61 * kSecond, [] { return false; });
  run_to_completion(network);
}

TEST_CASE("disks with room for the content and little more suffice") {
  for (const std::uint64_t seed : {14u, 15u, 16u}) {
    CAPTURE(seed);
    const Content content(40, 32, 16, 8);
    const Shape& shape = content.manifest.info.shape;
    Network network(content, seed);
    network.add({.link = {8 * kMbit}, .source = true});
    const std::uint64_t room = 2 * shape.generation_bytes();
    for (int i = 0; i < 4; ++i) network.add({.link = {8 * kMbit}});
    // Later receivers have many senders, each of which opens generations to them.
    for (int i = 0; i < 4; ++i)
      network.add({.link = {8 * kMbit}, .joins = 60 * kSecond, .spool_bytes = room});
    run_to_completion(network);
    std::uint32_t refusals = 0;
    for (std::size_t i = 5; i <= 8; ++i) {
      refusals += network.peer(i).disk.refusals();
      // What was given up was fetched once more, and not for ever.
      CHECK(network.peer(i).report().blocks_innovative < 2 * shape.block_count());
    }
    CHECK(refusals > 0);
  }
}

TEST_CASE("all disks full at once, in turn, and again") {
  const Content content(8, 32, 16, 9);
  Network network(content, 15);
  network.add({.link = {8 * kMbit}, .source = true});
  for (int i = 0; i < 6; ++i) network.add({.link = {8 * kMbit}});
  for (int round = 0; round < 4; ++round) {
    for (std::size_t i = 1; i <= 6; ++i) {
      const TimeUs at = (2 * round + 1) * kSecond + static_cast<TimeUs>(i) * 100'000 * round;
      network.events().at(at, [&network, i] { network.peer(i).disk.pause(); });
      network.events().at(at + kSecond, [&network, i] { network.peer(i).disk.resume(); });
    }
  }
  network.events().run(12 * kSecond, [] { return false; });
  run_to_completion(network);
}

TEST_CASE("rows that cannot be read back are fetched again until they can") {
  const Content content(12, 16, 16, 10);
  Network network(content, 16);
  network.add({.link = {8 * kMbit}, .source = true});
  for (int i = 0; i < 8; ++i) network.add({.link = {8 * kMbit}, .decode_fails = 0.3});
  run_to_completion(network);
}

namespace {

using Random = codec::CoefficientStream;

LinkSpeed random_link(Random& random) {
  const double up = (1.0 + random.below(15)) * kMbit;
  const double down = random.below(3) == 0 ? (2.0 + random.below(8)) * kMbit : 0;
  return {up, down, static_cast<TimeUs>(1000 + random.below(100'000))};
}

PeerSpec random_peer(Random& random) {
  PeerSpec spec;
  spec.link = random_link(random);
  // The source can always be reached: by tracker, or by hand.
  spec.tracker = random.below(4) != 0;
  if (!spec.tracker || random.below(3) == 0) spec.knows.push_back(0);
  spec.listens = random.below(4) != 0;
  spec.link_only = random.below(4) == 0;
  spec.joins = random.below(3) == 0 ? random.below(5'000'000) : 0;
  spec.worker_delay = random.below(3) == 0 ? random.below(50'000) : 0;
  spec.decode_fails = random.below(5) == 0 ? 0.2 : 0;
  spec.memory_bytes = random.below(4) == 0 ? 1 << 10 : 128 << 20;
  if (random.below(3) == 0) spec.seeding = {};
  spec.dense = random.below(6) == 0;
  return spec;
}

// In five cases of eight one that spoils the swarm.
void add_bad_peer(Network& network, Random& random) {
  PeerSpec bad;
  bad.link = random_link(random);
  switch (random.below(8)) {
    case 0:
      bad.lies = true;
      break;
    case 1:
      bad.source = true;
      bad.deeds.falsifies = 0.1;
      break;
    case 2:
      bad.source = true;
      bad.deeds.serves = 0;
      break;
    case 3:
      bad.deaf = true;
      break;
    case 4:
      bad.source = true;
      bad.deeds.repeats = true;
      break;
    default:
      return;
  }
  network.add(bad);
}

// Up to three more, of every kind there is. They are drawn from a stream of their own: all else is
// as without them.
void add_saboteurs(Network& network, std::uint64_t seed, bool lie_in_sums) {
  static constexpr std::array kDeeds = {
      "noise",   "byte",          "sparse:10",        "sparse:50",
      "turns:1", "low-rank:2",    "replay",           "rank-liar",
      "silent",  "half",          "reports+silent",   "colluding+sparse:5",
      "fresh:2", "fresh:1+noise", "rank-liar+silent", "reports+colluding+noise"};
  Random random(seed, 0x7361626f74);
  for (std::uint32_t i = random.below(4); i > 0; --i) {
    PeerSpec bad;
    bad.link = random_link(random);
    bad.source = random.below(4) == 0;
    bad.listens = random.below(4) != 0;
    bad.deeds = hostile::parse_deeds(kDeeds[random.below(kDeeds.size())]).value();
    if (lie_in_sums && random.below(3) == 0) {
      bad.deeds.false_sums = true;
      bad.deeds.true_sums = random.below(4);
    }
    network.add(bad);
  }
}

void crash_and_cut(Network& network, Random& random) {
  for (std::uint32_t i = random.below(12); i > 0; --i) {
    // By hand peer 0 is known with the first key it had, which it keeps: it does not restart.
    const std::size_t victim = 1 + random.below(static_cast<std::uint32_t>(network.size()) - 1);
    const TimeUs at = random.below(8'000'000), back = at + 100'000 + random.below(3'000'000);
    network.events().at(at, [&network, victim] { network.crash(victim); });
    network.events().at(back, [&network, victim] { network.restart(victim); });
  }
  for (std::uint32_t i = random.below(20); i > 0; --i) {
    network.events().at(random.below(10'000'000), [&network] { network.cut_some_connection(); });
  }
}

void stop_disks_and_clocks(Network& network, Random& random) {
  const auto somebody = [&] { return random.below(static_cast<std::uint32_t>(network.size())); };
  for (std::uint32_t i = random.below(4); i > 0; --i) {
    const std::size_t victim = somebody();
    const TimeUs at = random.below(8'000'000);
    network.events().at(at, [&network, victim] { network.peer(victim).disk.pause(); });
    network.events().at(at + random.below(5'000'000),
                        [&network, victim] { network.peer(victim).disk.resume(); });
  }
  for (std::uint32_t i = random.below(4); i > 0; --i) {
    const std::size_t victim = somebody();
    const TimeUs at = random.below(8'000'000);
    // Up to a second, a minute, or an hour.
    const TimeUs most = std::array{1, 60, 3600}[random.below(3)] * kSecond;
    const auto ahead = static_cast<TimeUs>(random.next_u64() % static_cast<std::uint64_t>(most));
    network.events().at(at, [&network, victim, ahead] { network.peer(victim).jump_clock(ahead); });
  }
  for (std::uint32_t i = random.below(3); i > 0; --i) {
    const std::size_t victim = somebody();
    const TimeUs at = random.below(8'000'000), still = random.below(90'000'000);
    network.events().at(at, [&network, victim, still] { network.peer(victim).freeze(still); });
  }
}

// Users of any peers begin to read, jump and stop. What they read and when is drawn from a stream
// of its own: all else is as without them.
void read_and_jump(Network& network, std::uint64_t seed) {
  Random random(seed, 0x72656164);
  const std::uint32_t generations = network.content().manifest.info.shape.generation_count();
  for (std::uint32_t i = 5 * static_cast<std::uint32_t>(network.size()); i > 0; --i) {
    core::Urgent urgent;
    for (std::uint32_t one = random.below(core::kUrgentMax + 1); one > 0; --one)
      urgent[random.below(generations)] = 1 + random.below(proto::kAwaited);
    const std::size_t who = random.below(static_cast<std::uint32_t>(network.size()));
    network.events().at(random.below(12'000'000),
                        [&network, who, urgent] { network.peer(who).read(urgent); });
  }
}

// Who can judge rows: the source, which speaks for the content's authority; or peers that hold
// generations, as the content has an authority that is away, or none.
enum class Judge { kSource, kPeers };

// In a large one peers without an authority fetch all generations plainly, once they have met false
// rows.
enum class Mesh { kSmall, kLarge };

// A swarm under faults drawn from `seed`. How many peers began to fetch all generations plainly.
std::size_t random_faults(std::uint64_t seed, bool saboteurs, Judge judge = Judge::kSource,
                          Mesh mesh = Mesh::kSmall, bool readers = false) {
  CAPTURE(seed);
  const bool large = mesh == Mesh::kLarge;
  Random random(seed, 0x6661756c74);
  const std::uint32_t generations = (large ? 4 : 1) + random.below(5), n = 1 + random.below(24);
  // Beside large blocks check sums are cheap, and asked for ahead of need.
  const std::uint32_t block_bytes = (1 + random.below(16)) * (seed % 3 == 2 ? 512 : 1);
  const bool speaks = judge == Judge::kSource;
  const Content content(generations, n, block_bytes, seed, speaks || seed % 2 == 0);
  Network network(content, seed);
  network.add({.link = random_link(random), .source = true, .speaks = speaks});
  if (random.below(3) == 0)
    network.add({.link = random_link(random), .source = true, .speaks = speaks});
  const std::size_t peers = (large ? 28 : 2) + random.below(7);
  for (std::size_t i = 0; i < peers; ++i) network.add(random_peer(random));
  add_bad_peer(network, random);
  if (saboteurs) add_saboteurs(network, seed, !speaks);
  if (large) add_saboteurs(network, seed + 1, !speaks);
  crash_and_cut(network, random);
  stop_disks_and_clocks(network, random);
  if (readers) read_and_jump(network, seed);
  network.watch_progress();
  if (random.below(3) == 0) {
    network.events().at(random.below(4'000'000), [&] { network.set_tracker_up(false); });
    network.events().at(6 * kSecond, [&] { network.set_tracker_up(true); });
  }
  network.events().run(14 * kSecond, [] { return false; });
  for (std::size_t i = 0; i < network.size(); ++i) network.peer(i).disk.resume();
  run_to_completion(network, 1800);
  std::size_t plain = 0;
  for (std::size_t i = 0; i < network.size(); ++i) {
    for (const std::string& text : network.peer(i).warnings)
      plain += text.find("blocks are fetched one by one") != std::string::npos;
  }
  return plain;
}

}  // namespace

TEST_CASE("seeds that broke a rule once") {
  // 2965: of a generation whose rows were lost, the one row was to come from a peer that sends
  // nothing, and its neighbours were not told otherwise any more.
  // 3054: a quota told to a peer without a manifest was expected to be kept.
  // 33425: the source froze for 90 s while a polluter's rows went round, and a peer stood still as
  // each generation decoded to false data again.
  for (const std::uint64_t seed : {2965u, 3054u, 33425u}) random_faults(seed, false);
  // 211169: a source that was trusted again was not asked for anything.
  // 359351, 368819: makers that had told the truth lied, after those who held the generation had
  // been away for so long that it was not fetched plainly any more.
  for (const std::uint64_t seed : {211169u, 359351u, 368819u})
    random_faults(seed, true, Judge::kPeers);
}

namespace {

// SIM_SEEDS=FROM:TO in the environment tries others.
std::size_t with_seeds(std::uint64_t from, std::uint64_t to, Judge judge, Mesh mesh = Mesh::kSmall,
                       bool readers = false) {
  if (const char* range = std::getenv("SIM_SEEDS")) {
    char* end = nullptr;
    from = std::strtoull(range, &end, 10);
    to = *end == ':' ? std::strtoull(end + 1, nullptr, 10) : from + 1;
  }
  std::size_t plain = 0;
  for (std::uint64_t seed = from; seed < to; ++seed)
    plain += random_faults(seed, true, judge, mesh, readers);
  return plain;
}

}  // namespace

TEST_CASE("small swarms under random faults complete, whatever the seed") {
  with_seeds(1000, 1000 + test::some_of(150), Judge::kSource);
}

TEST_CASE("small swarms under random faults complete where no authority is near") {
  with_seeds(1000, 1000 + test::some_of(100), Judge::kPeers);
}

TEST_CASE("large swarms under random faults complete where no authority is near") {
  const std::size_t plain = with_seeds(1005, 1007, Judge::kPeers, Mesh::kLarge);
  if (!std::getenv("SIM_SEEDS")) CHECK(plain > 0);
}

TEST_CASE("small swarms whose users read and jump complete under random faults") {
  with_seeds(1000, 1000 + test::some_of(60), Judge::kSource, Mesh::kSmall, true);
  with_seeds(1000, 1000 + test::some_of(40), Judge::kPeers, Mesh::kSmall, true);
}

TEST_CASE("large swarms whose users read and jump complete under random faults") {
  with_seeds(1005, 1007, Judge::kSource, Mesh::kLarge, true);
}

TEST_CASE("readers who change their minds while others crash complete, with every byte right") {
  for (const std::uint32_t peers : {12u, 30u}) {
    for (std::uint64_t seed = 200; seed < 203; ++seed) {
      CAPTURE(peers);
      CAPTURE(seed);
      const Content content(24, 16, 16, seed);
      Network network(content, seed);
      network.add({.link = {8 * kMbit}, .source = true});
      for (std::uint32_t i = 0; i < peers; ++i) network.add({.link = {4 * kMbit}});
      read_and_jump(network, seed);
      auto& random = network.random();
      for (std::uint32_t i = 0; i < peers; ++i) {
        const auto victim = 1 + random.below(peers);
        const TimeUs at = random.below(8'000'000);
        const TimeUs back = at + 100'000 + random.below(3'000'000);
        network.events().at(at, [&network, victim] { network.crash(victim); });
        network.events().at(back, [&network, victim] { network.restart(victim); });
      }
      network.watch_progress();
      network.events().run(12 * kSecond, [] { return false; });
      run_to_completion(network, 900);
    }
  }
}
