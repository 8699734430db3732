// Whole swarms in virtual time: the production core, a seeded network, every byte checked. Here:
// honest swarms on honest links, and how near they come to what is possible.
#include "tests/sim/scenario.h"

using namespace firn;
using namespace firn::sim;

TEST_CASE("a flash crowd of twelve completes near the fluid bound with few redundant blocks") {
  for (const double seed_mbit : {8.0, 16.0}) {
    const Content content(32, 64, 16, 1);
    Network network(content, 7);
    network.add({.link = {seed_mbit * kMbit}, .source = true});
    for (int i = 0; i < 12; ++i) network.add({.link = {8 * kMbit}});
    run_to_completion(network);
    const Totals t = totals(network);
    const double bound = fluid_bound(content, seed_mbit * kMbit, 12, 8 * kMbit);
    MESSAGE("seed " << seed_mbit << " Mbit/s: ratio " << t.last_seconds / bound << ", redundant "
                    << 100 * t.redundant_share() << " %, source sent "
                    << static_cast<double>(network.peer(0).uplink().blocks_departed()) / (32.0 * 64)
                    << " copies, events " << network.events().events());
    CHECK(t.last_seconds / bound < 1.10);
    // One seed: of six seeds of `sim_race 12 16 32 64 6` the most redundant has 1.97 %, the mean is
    // 1.54 %; with a seed of 8 Mbit/s 1.08 and 0.89 %.
    CHECK(t.redundant_share() < 0.021);
  }
}

TEST_CASE("fifty peers complete in a mesh that knows only the tracker") {
  const Content content(16, 32, 16, 2);
  Network network(content, 8);
  network.add({.link = {16 * kMbit}, .source = true});
  for (int i = 0; i < 50; ++i) network.add({.link = {8 * kMbit}});
  run_to_completion(network);
  const Totals t = totals(network);
  const double ratio = t.last_seconds / fluid_bound(content, 16 * kMbit, 50, 8 * kMbit);
  MESSAGE("ratio " << ratio << ", redundant " << 100 * t.redundant_share() << " %");
  CHECK(ratio < 1.3);
  CHECK(t.redundant_share() < 0.05);
}

TEST_CASE("a line of relays passes everything on") {
  const Content content(8, 32, 16, 3);
  Network network(content, 9);
  network.add({.link = {8 * kMbit}, .source = true, .tracker = false});
  for (std::size_t i = 1; i <= 4; ++i) {
    network.add({.link = {8 * kMbit}, .tracker = false, .knows = {i - 1}});
  }
  run_to_completion(network);
}

TEST_CASE("contents of one block, one generation, one byte a block complete") {
  const Shape shapes[] = {{1, 1, 1}, {1, 16, 16}, {1, 1, 5}, {64, 1, 64}, {2, 1, 6}, {1, 4, 160}};
  for (const Shape& shape : shapes) {
    CAPTURE(shape.generation_size);
    CAPTURE(shape.block_bytes);
    CAPTURE(shape.content_bytes);
    const Content content(shape.generation_count(), shape.generation_size, shape.block_bytes, 4);
    Network network(content, 10);
    network.add({.link = {8 * kMbit}, .source = true});
    for (int i = 0; i < 6; ++i) network.add({.link = {8 * kMbit}});
    run_to_completion(network, 60);
  }
}

TEST_CASE("generations that are short complete like full ones, and nothing of their rest is sent") {
  // Of 8 blocks of 16 bytes: full, 1 block, full, 3 blocks (two files), full, full, 8 of 8.
  const Content content({129, 130, 40, 300, 1, 127}, 8, 16, 6);
  const Shape& shape = content.manifest.info.shape;
  REQUIRE(shape.filled);
  REQUIRE(shape.block_count() < shape.generation_count() * 8u - 10);
  Network network(content, 12);
  network.add({.link = {8 * kMbit}, .source = true});
  for (int i = 0; i < 6; ++i) network.add({.link = {8 * kMbit}});
  run_to_completion(network, 60);
  for (std::size_t i = 1; i < network.size(); ++i) {
    CHECK(network.peer(i).core().report().blocks_innovative == shape.block_count());
  }
}

TEST_CASE("uplinks of every size, and many that are slow, share the load") {
  const Content content(16, 32, 16, 5);
  Network network(content, 11);
  network.add({.link = {8 * kMbit}, .source = true});
  double up = 8 * kMbit;
  for (int i = 0; i < 16; ++i) {
    const double mbit = i % 4 == 0 ? 16 : i % 4 == 1 ? 4 : 0.5;
    up += mbit * kMbit;
    network.add({.link = {mbit * kMbit, 0, 5'000 * (i + 1)}});
  }
  run_to_completion(network);
  const double bytes = 16.0 * 32 * content.charged_block_bytes;
  MESSAGE("ratio " << totals(network).last_seconds / std::max(bytes / (8 * kMbit), 16 * bytes / up)
                   << ", redundant " << 100 * totals(network).redundant_share() << " %");
  CHECK(totals(network).last_seconds < 2.0 * std::max(bytes / (8 * kMbit), 16 * bytes / up));
}

TEST_CASE("uplinks of 2, 4, 8 and 18 Mbit/s are all put to use") {
  const Content content(32, 64, 16, 5);
  Network network(content, 21);
  network.add({.link = {8 * kMbit}, .source = true});
  for (int i = 0; i < 12; ++i) {
    const double mbit = i % 4 == 0 ? 2 : i % 4 == 1 ? 4 : i % 4 == 2 ? 8 : 18;
    network.add({.link = {mbit * kMbit}});
  }
  run_to_completion(network);
  const double ratio =
      totals(network).last_seconds / fluid_bound(content, 8 * kMbit, 12, 8 * kMbit);
  MESSAGE("ratio " << ratio << ", redundant " << 100 * totals(network).redundant_share() << " %");
  CHECK(ratio < 1.12);
  // 1.67 %: blocks wait longer here than where a thread has to take them up first (kBusyTime).
  CHECK(totals(network).redundant_share() < 0.019);
}

TEST_CASE("downlinks that are slower than the swarm are filled and not overrun") {
  const Content content(16, 32, 16, 6);
  Network network(content, 12);
  network.add({.link = {32 * kMbit}, .source = true});
  for (int i = 0; i < 8; ++i) network.add({.link = {16 * kMbit, 4 * kMbit}});
  run_to_completion(network);
  const double bytes = 16.0 * 32 * content.charged_block_bytes;
  CHECK(totals(network).last_seconds < 1.35 * bytes / (4 * kMbit));
}

TEST_CASE("limits set by a person hold in a swarm") {
  Content content(8, 32, 512, 7);
  content.charged_block_bytes = 512;  // limits count what goes over the network
  Network network(content, 13);
  const auto limit = static_cast<std::uint64_t>(2 * kMbit);
  network.add({.link = {32 * kMbit}, .source = true, .up_limit = 2 * limit});
  constexpr double kDown = 65536;
  for (int i = 0; i < 3; ++i) network.add({.link = {32 * kMbit}, .down_limit = 65536});
  run_to_completion(network);
  const double bytes = 8.0 * 32 * 512;
  CHECK(totals(network).last_seconds > 0.9 * bytes / kDown);
  CHECK(totals(network).last_seconds < 1.5 * bytes / kDown + 1);
}

TEST_CASE("two sources serve systematic blocks without sending everything twice") {
  const Content content(32, 32, 16, 8);
  Network network(content, 14);
  network.add({.link = {8 * kMbit}, .source = true});
  network.add({.link = {8 * kMbit}, .source = true});
  for (int i = 0; i < 4; ++i) network.add({.link = {4 * kMbit}});
  run_to_completion(network);
  MESSAGE("redundant " << 100 * totals(network).redundant_share() << " %");
  CHECK(totals(network).redundant_share() < 0.08);
}

TEST_CASE("many sources for one downloader fill its downlink") {
  const Content content(16, 64, 16, 8);
  Network network(content, 15);
  for (int i = 0; i < 8; ++i) network.add({.link = {2 * kMbit}, .source = true});
  network.add({.link = {1 * kMbit, 100 * kMbit}});
  run_to_completion(network);
  const double bytes = 16.0 * 64 * content.charged_block_bytes;
  MESSAGE("redundant " << 100 * totals(network).redundant_share() << " %, ratio "
                       << totals(network).last_seconds * 16 * kMbit / bytes);
  CHECK(totals(network).last_seconds < 1.25 * bytes / (16 * kMbit));
  CHECK(totals(network).redundant_share() < 0.10);
}

TEST_CASE("States that overtake the blocks before them do no harm") {
  const Content content(16, 32, 16, 9);
  Network network(content, 16);
  network.add({.link = {16 * kMbit}, .source = true, .worker_delay = 30'000});
  for (int i = 0; i < 10; ++i) network.add({.link = {8 * kMbit}, .worker_delay = 5'000 * i});
  run_to_completion(network);
}

TEST_CASE("memory that holds few rows bounds what waits for the disk") {
  const Content content(16, 64, 1024, 10);
  Network network(content, 17);
  network.add({.link = {64 * kMbit}, .source = true});
  for (int i = 0; i < 6; ++i) network.add({.link = {64 * kMbit}, .memory_bytes = 128 << 10});
  run_to_completion(network);
  for (std::size_t i = 1; i < network.size(); ++i) {
    // A quarter of memory, and a window for each neighbour that was thought to have stalled.
    CHECK(network.peer(i).checker().rows_waiting_max <= 32 + 6 * 4);
  }
}

TEST_CASE("the same seed gives the same run, another seed another") {
  const auto run = [](std::uint64_t seed) {
    const Content content(4, 16, 16, 1);
    Network network(content, seed);
    network.add({.link = {8 * kMbit}, .source = true});
    for (int i = 0; i < 5; ++i) network.add({.link = {8 * kMbit}});
    network.events().run(100 * kSecond, [&] { return network.all_complete(); });
    return std::pair{network.events().events(), totals(network).last_seconds};
  };
  CHECK(run(1) == run(1));
  CHECK(run(1) != run(2));
}
