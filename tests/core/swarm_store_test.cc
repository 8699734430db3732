// The disk's side: pauses, failures, false data, and the limits on what flows.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "client/core/policy/constants.h"
#include "codec/random.h"
#include "proto/base/limits.h"
#include "tests/core/bench.h"

using namespace firn;
using namespace firn::test;
using core::DecodeOutcome;
using core::StoreRow;

namespace {

// A neighbour that sends source blocks as fast as it is let, from the first on.
struct Sender {
  PeerKey peer;
  std::uint32_t credit = 0, sequence = 0, next = 0;

  std::uint32_t send(Bench& bench, bool stored = true) {
    std::uint32_t sent = 0;
    for (const auto& state : bench.heard<proto::State>(peer))
      credit = std::max(credit, state.credit);
    const std::uint32_t n = bench.shape().generation_size;
    while (sequence < credit && next < n * bench.shape().generation_count()) {
      bench.say(peer, bench.block(next / n, ++sequence, next % n));
      ++next, ++sent;
    }
    for (std::size_t rows = bench.take<StoreRow>().size(); rows > 0; --rows) {
      if (stored) bench.core.row_stored(bench.now);
    }
    bench.drain();
    return sent;
  }
};

}  // namespace

TEST_CASE("a paused store stops grants, and they go on when it resumes") {
  Bench bench(plain_manifest(1000, 16, 16));
  bench.start();
  bench.join(1, peer_id(1), 0, true);
  Sender sender{1};
  std::uint32_t before = 0;
  for (int i = 0; i < 50; ++i) before += sender.send(bench), bench.pass(20 * kMillisecond);
  CHECK(before > 16);
  const Error full{ErrorCode::kDiskFull, "write spool", "No space left on device"};
  bench.core.store_paused(full, bench.now);
  bench.core.store_paused(full, bench.now);
  bench.drain();
  CHECK(bench.noticed("No space left on device"));
  CHECK(bench.take<core::Notice>().size() == 1);
  sender.send(bench);  // what was granted already
  std::uint32_t during = 0;
  for (int i = 0; i < 200; ++i) during += sender.send(bench), bench.pass(50 * kMillisecond);
  CHECK(during == 0);
  bench.core.store_resumed(bench.now);
  bench.drain();
  CHECK(bench.take<core::Notice>().size() == 1);
  std::uint32_t after = 0;
  for (int i = 0; i < 50; ++i) after += sender.send(bench), bench.pass(20 * kMillisecond);
  CHECK(after > 16);
}

TEST_CASE("rows that wait for the disk are bounded by memory, and the download goes on") {
  core::Options options = plain_options();
  options.memory_bytes = 1 << 20;
  Bench bench(plain_manifest(100, 64, 4096), options);
  bench.start();
  std::vector<Sender> senders;
  for (PeerKey peer = 1; peer <= 10; ++peer) {
    bench.join(peer, peer_id(static_cast<std::uint8_t>(peer)), 0, true);
    senders.push_back({peer});
    senders.back().next = static_cast<std::uint32_t>(peer) * 600;
  }
  std::uint32_t waiting = 0;
  for (int i = 0; i < 200; ++i) {
    for (Sender& sender : senders) waiting += sender.send(bench, false);
    bench.pass(20 * kMillisecond);
  }
  CHECK(waiting * 4096 <= options.memory_bytes / 2);
  CHECK(waiting > 0);
  for (std::uint32_t i = 0; i < waiting; ++i) bench.core.row_stored(bench.now);
  bench.drain();
  std::uint32_t more = 0;
  for (int i = 0; i < 50; ++i) {
    for (Sender& sender : senders) more += sender.send(bench);
    bench.pass(20 * kMillisecond);
  }
  CHECK(more > waiting);
}

TEST_CASE("vectors have room in memory: only so many generations are open at once") {
  core::Options options = plain_options();
  options.memory_bytes = 16 << 20;
  constexpr std::uint32_t kN = 1024;  // 2 MiB of vectors each: the least number that is open
  Bench bench(plain_manifest(8, kN, 16), options);
  bench.start();
  bench.join(1, peer_id(1), 0, true);
  std::uint32_t sequence = 0, credit = 0;
  std::map<std::uint32_t, std::uint32_t> quota;  // as told last
  const auto listen = [&] {
    for (const auto& state : bench.heard<proto::State>(1)) {
      credit = state.credit;
      for (const auto& entry : state.generations) quota[entry.generation] = entry.quota;
    }
  };
  // Whether the row was kept.
  const auto give = [&](std::uint32_t g, std::uint32_t index) {
    for (int tries = 0; tries < 100 && sequence == credit; ++tries) {
      bench.pass(20 * kMillisecond);
      listen();
    }
    bench.say(1, bench.block(g, ++sequence, index));
    const auto kept = bench.take<StoreRow>();
    for (std::size_t i = 0; i < kept.size(); ++i) bench.core.row_stored(bench.now);
    bench.drain();
    return kept.size() == 1;
  };
  for (std::uint32_t g = 0; g < 6; ++g) CHECK(give(g, 0) == (g < core::policy::kOpenMin));
  bench.pass(kSecond);
  listen();
  REQUIRE(quota.contains(5));
  CHECK(quota[5] == 0);
  for (std::uint32_t i = 1; i < kN; ++i) REQUIRE(give(0, i));
  REQUIRE(bench.take<core::Decode>().size() == 1);
  bench.core.generation_decoded(0, core::DecodeOutcome::kVerified, bench.now);
  bench.drain();
  bench.pass(kSecond);
  listen();
  CHECK(quota[5] > 0);
  CHECK(give(5, 0));
}

TEST_CASE("a down limit holds over time, and is used") {
  for (const std::uint64_t limit : {20'000u, 1'000'000u}) {
    CAPTURE(limit);
    core::Options options = plain_options();
    options.down_limit = limit;
    Bench bench(plain_manifest(1000, 64, 1000), options);
    bench.start();
    std::vector<Sender> senders;
    for (PeerKey peer = 1; peer <= 4; ++peer) {
      bench.join(peer, peer_id(static_cast<std::uint8_t>(peer)), 0, true);
      senders.push_back({peer});
      senders.back().next = static_cast<std::uint32_t>(peer) * 12'000;
    }
    std::uint64_t bytes = 0;
    const TimeUs began = bench.now;
    while (bench.now - began < 10 * kSecond) {
      for (Sender& sender : senders) bytes += 1000 * sender.send(bench);
      bench.pass(5 * kMillisecond);
    }
    CHECK(bytes <= limit * 10 + limit / 20 + 16'000);
    CHECK(bytes >= limit * 9);
  }
}

TEST_CASE("an up limit holds over time, and is used") {
  for (const std::uint64_t limit : {5'000u, 200'000u}) {
    CAPTURE(limit);
    core::Options options = plain_options();
    options.up_limit = limit;
    Bench bench(plain_manifest(1000, 64, 1000), options);
    bench.start(true);
    for (PeerKey peer = 1; peer <= 4; ++peer) {
      bench.join(peer, peer_id(static_cast<std::uint8_t>(peer)), 1'000'000);
    }
    std::uint64_t bytes = 0;
    const TimeUs began = bench.now;
    while (bench.now - began < 10 * kSecond) {
      for (PeerKey peer = 1; peer <= 4; ++peer) bytes += 1000 * bench.blocks_to(peer).size();
      bench.pass(5 * kMillisecond);
    }
    CHECK(bytes <= limit * 10 + limit / 20 + 1000);
    CHECK(bytes >= limit * 9);
  }
}

TEST_CASE("an up limit counts coding vectors and the manifest too") {
  constexpr std::uint64_t kLimit = 20'000;
  core::Options options = plain_options();
  options.up_limit = kLimit;
  options.dense = true;
  Manifest manifest = plain_manifest(1000, 64, 32);
  manifest.file_bytes.assign(1 << 20, 'm');
  Bench bench(manifest, options);
  bench.start(true);
  bench.join(1, peer_id(1), 1'000'000);
  bench.join(2, peer_id(2), 1'000'000);
  bench.drain();
  std::uint64_t bytes = 0;
  const TimeUs began = bench.now;
  bench.say(2, proto::ManifestRequest{0});
  while (bench.now - began < 30 * kSecond) {
    for (const auto& sent : bench.blocks_to(1)) bytes += 32 + sent.block.coefficients.size();
    for (const auto& part : bench.heard<proto::ManifestPart>(2)) {
      bytes += part.data.size();
      bench.say(2, proto::ManifestRequest{0});
    }
    bench.pass(5 * kMillisecond);
  }
  CHECK(bytes <= kLimit * 30 + limits::kManifestPartBytes + kLimit);
  CHECK(bytes >= kLimit * 25);
}

TEST_CASE("neighbours that come, take a grant and go do not eat the down limit") {
  core::Options options = plain_options();
  options.down_limit = 10'000;
  Bench bench(plain_manifest(100, 64, 1000), options);
  bench.start();
  bench.join(1, peer_id(1), 0, true);
  Sender honest{1};
  std::uint64_t bytes = 0;
  PeerKey next = 10;
  const TimeUs began = bench.now;
  while (bench.now - began < 20 * kSecond) {
    bench.join(next, peer_id(2, static_cast<std::uint8_t>(next)), 0, true);
    bytes += 1000 * honest.send(bench);
    bench.core.peer_closed(next++, bench.now);
    bench.drain();
    bytes += 1000 * honest.send(bench);
    bench.pass(20 * kMillisecond);
  }
  CHECK(bytes >= 100'000);
}

TEST_CASE("rows that cannot be read back are fetched again") {
  Bench bench(plain_manifest(1, 4, 16));
  bench.start();
  bench.join(1, peer_id(1), 0, true);
  Sender sender{1};
  for (int i = 0; i < 20; ++i) sender.send(bench), bench.pass(50 * kMillisecond);
  REQUIRE(bench.take<core::Decode>().size() == 1);
  bench.core.generation_decoded(0, DecodeOutcome::kFailed, bench.now);
  bench.drain();
  CHECK(bench.take<core::DropRows>().size() == 1);
  CHECK(bench.core.report().rank == 0);
  bench.core.generation_decoded(0, DecodeOutcome::kVerified, bench.now);  // out of place: ignored
  bench.drain();
  CHECK(bench.core.report().generations_verified == 0);
  bench.pass(kSecond);
  bool told = false;
  for (const auto& state : bench.heard<proto::State>(1)) {
    sender.credit = std::max(sender.credit, state.credit);
    for (const auto& entry : state.generations) told |= entry.rank == 0;
  }
  CHECK(told);
  sender.next = 0;
  for (int i = 0; i < 20; ++i) sender.send(bench), bench.pass(50 * kMillisecond);
  REQUIRE(bench.take<core::Decode>().size() == 1);
  bench.core.generation_decoded(0, DecodeOutcome::kVerified, bench.now);
  bench.drain();
  CHECK(bench.take<core::ContentComplete>().size() == 1);
}

TEST_CASE("who alone sent a generation that decodes to false data is banned for certain") {
  Bench bench(plain_manifest(1, 4, 16));
  bench.start();
  bench.join(1, peer_id(1), 0, true);
  Sender sender{1};
  for (int i = 0; i < 20; ++i) sender.send(bench), bench.pass(50 * kMillisecond);
  bench.core.generation_decoded(0, DecodeOutcome::kCorrupt, bench.now);
  bench.drain();
  CHECK(bench.noticed(peer_id(1).text() + " at 192.0.2.1:4000 sent a false block of generation 0"));
  CHECK(bench.heard<proto::Goodbye>(1).front().reason == proto::GoodbyeReason::kBanned);
  CHECK(bench.take<core::KeepEvidence>().empty());
  CHECK(bench.take<core::DropRows>().size() == 1);
}

TEST_CASE("of several senders only the one is banned whom the evidence names") {
  Bench bench(plain_manifest(1, 4, 16));
  bench.start();
  bench.join(1, peer_id(1), 0);
  bench.join(2, peer_id(2), 0);
  bench.join(3, peer_id(3), 0, true);
  for (std::uint32_t i = 0; i < 4; ++i) {
    bench.say(1 + i % 2, bench.block(0, 1 + i / 2, i));
    bench.pass(300 * kMillisecond);
  }
  REQUIRE(bench.take<core::Decode>().size() == 1);
  bench.core.generation_decoded(0, DecodeOutcome::kCorrupt, bench.now);
  bench.drain();
  const auto evidence = bench.take<core::KeepEvidence>();
  REQUIRE(evidence.size() == 1);
  REQUIRE(evidence.front().senders.size() == 4);
  for (std::size_t slot = 0; slot < 4; ++slot) {
    CHECK(evidence.front().senders[slot] == peer_id(static_cast<std::uint8_t>(1 + slot % 2)));
  }
  CHECK(bench.core.report().peers == 3);
  bench.take<StoreRow>();
  // The second try takes rows from the holder of everything alone.
  bench.say(1, bench.block(0, 3, 0));
  CHECK(bench.take<StoreRow>().empty());
  for (std::uint32_t i = 0; i < 4; ++i) {
    bench.pass(300 * kMillisecond);
    bench.say(3, bench.block(0, i + 1, i));
  }
  bench.core.generation_decoded(0, DecodeOutcome::kVerified, bench.now);
  bench.drain();
  REQUIRE(bench.take<core::CheckEvidence>().size() == 1);
  bench.core.evidence_checked(0, {peer_id(2)}, bench.now);
  bench.drain();
  CHECK(bench.noticed(peer_id(2).text()));
  CHECK_FALSE(bench.noticed(peer_id(1).text()));
  CHECK(bench.closed(2));
  CHECK(bench.core.report().peers == 2);
}

TEST_CASE("what else came from a convicted peer is fetched again, the rest stays") {
  Bench bench(plain_manifest(4, 4, 16));
  bench.start();
  bench.join(1, peer_id(1), 0, true);
  bench.join(2, peer_id(2), 0, true);
  std::uint32_t sequence[3] = {0, 0, 0};
  const auto send = [&](PeerKey peer, std::uint32_t g, std::uint32_t index) {
    bench.pass(300 * kMillisecond);
    bench.say(peer, bench.block(g, ++sequence[peer], index));
  };
  send(1, 1, 0), send(2, 1, 1);  // mixed
  send(2, 2, 0), send(2, 2, 1);  // from the honest one alone
  for (std::uint32_t i = 0; i < 4; ++i) send(1, 0, i);
  CHECK(bench.core.report().rank == 8);
  bench.core.generation_decoded(0, DecodeOutcome::kCorrupt, bench.now);
  bench.drain();
  CHECK(bench.core.report().rank == 3);
  const auto dropped = bench.take<core::DropRows>();
  REQUIRE(dropped.size() == 1);
  CHECK(dropped[0].generation == 0);
  const auto slots = bench.take<core::DropSlots>();
  REQUIRE(slots.size() == 1);
  CHECK(slots[0].generation == 1);
  CHECK(slots[0].slots == std::vector<std::uint32_t>{0});
}

TEST_CASE("evidence of many false generations is kept within memory") {
  core::Options options = plain_options();
  options.memory_bytes = 4 * 4 * 1024 * 4;  // room for a few generations
  const std::uint32_t count = 60;
  Bench bench(plain_manifest(count, 4, 1024), options);
  bench.start();
  bench.join(1, peer_id(1), 0);
  bench.join(2, peer_id(2), 0);
  std::uint32_t sequence[3] = {0, 0, 0}, kept = 0, checked = 0;
  for (std::uint32_t g = 0; g < count; ++g) {
    for (std::uint32_t i = 0; i < 4; ++i) {
      const PeerKey peer = 1 + i % 2;
      bench.say(peer, bench.block(g, ++sequence[peer], i));
      for (std::size_t rows = bench.take<StoreRow>().size(); rows > 0; --rows) {
        bench.core.row_stored(bench.now);
      }
      bench.pass(200 * kMillisecond);
    }
    REQUIRE(bench.take<core::Decode>().size() == 1);
    bench.core.generation_decoded(g, DecodeOutcome::kCorrupt, bench.now);
    bench.drain();
    kept += static_cast<std::uint32_t>(bench.take<core::KeepEvidence>().size());
    checked += static_cast<std::uint32_t>(bench.take<core::CheckEvidence>().size());
  }
  CHECK(kept > 0);
  CHECK(kept <= 8);
  CHECK(checked == 0);  // nothing is verified yet
  CHECK(bench.core.report().peers == 2);
}
