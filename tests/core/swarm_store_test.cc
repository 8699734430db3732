// The disk's side: pauses, failures, false data, and the limits on what flows.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "codec/random.h"
#include "proto/base/limits.h"
#include "tests/core/facts.h"
#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;
using core::DecodeOutcome;
using core::StoreRow;

namespace {

// A neighbour that sends source blocks as fast as it is let, from the first on.
struct Sender {
  PeerKey peer;
  std::uint32_t credit = 0, sequence = 0, next = 0;

  std::uint32_t send(Fixture& fixture, bool stored = true) {
    std::uint32_t sent = 0;
    for (const auto& state : fixture.heard<proto::State>(peer))
      credit = std::max(credit, state.credit);
    const std::uint32_t n = fixture.shape().generation_size;
    while (sequence < credit && next < n * fixture.shape().generation_count()) {
      fixture.say(peer, fixture.block(next / n, ++sequence, next % n));
      ++next, ++sent;
    }
    for (std::size_t rows = fixture.take<StoreRow>().size(); rows > 0; --rows) {
      if (stored) fixture.core.row_stored(fixture.now);
    }
    fixture.drain();
    return sent;
  }
};

}  // namespace

TEST_CASE("a paused store stops grants, and they go on when it resumes") {
  Fixture fixture(plain_manifest(8000, 16, 16));
  fixture.start();
  fixture.join(1, peer_id(1), 0, true);
  Sender sender{1};
  std::uint32_t before = 0;
  for (int i = 0; i < 50; ++i) before += sender.send(fixture), fixture.pass(20 * kMillisecond);
  CHECK(before > 16);
  const Error gone{ErrorCode::kReadOnly, "write spool", "Read-only file system"};
  fixture.core.store_paused(gone, fixture.now);
  fixture.core.store_paused(gone, fixture.now);
  fixture.drain();
  CHECK(fixture.noticed("Read-only file system"));
  CHECK(fixture.take<core::DropRows>().empty());
  CHECK(fixture.take<core::Notice>().size() == 1);
  sender.send(fixture);  // what was granted already
  std::uint32_t during = 0;
  for (int i = 0; i < 200; ++i) during += sender.send(fixture), fixture.pass(50 * kMillisecond);
  CHECK(during == 0);
  fixture.core.store_resumed(fixture.now);
  fixture.drain();
  CHECK(fixture.take<core::Notice>().size() == 1);
  std::uint32_t after = 0;
  for (int i = 0; i < 50; ++i) after += sender.send(fixture), fixture.pass(20 * kMillisecond);
  CHECK(after > 16);
}

TEST_CASE("a full disk gets the room of what is least complete, until one generation is left") {
  Fixture fixture(plain_manifest(100, 16, 16));
  fixture.start();
  fixture.join(1, peer_id(1), 0, true);
  std::uint32_t sequence = 0;
  const std::vector<std::uint32_t> ranks = {1, 2, 1};
  for (std::uint32_t g = 0; g < 3; ++g) {
    for (std::uint32_t i = 0; i < ranks[g]; ++i) fixture.say(1, fixture.block(g, ++sequence, i));
  }
  fixture.drain();
  const Error full{ErrorCode::kDiskFull, "write spool", "No space left on device"};
  std::vector<std::uint32_t> dropped;
  for (int i = 0; i < 5; ++i) {
    fixture.core.store_paused(full, fixture.now);
    fixture.drain();
    for (const core::DropRows& drop : fixture.take<core::DropRows>())
      dropped.push_back(drop.generation);
    CHECK(fixture.noticed("download paused") == (i >= 2));
  }
  CHECK(dropped == std::vector<std::uint32_t>{2, 0});
  CHECK(fixture.core.report().rank == 2);
}

TEST_CASE("rows that wait for the disk are bounded by memory, and the download goes on") {
  core::Options options = plain_options();
  options.memory_bytes = 1 << 20;
  Fixture fixture(plain_manifest(100, 64, 4096), options);
  fixture.start();
  std::vector<Sender> senders;
  for (PeerKey peer = 1; peer <= 10; ++peer) {
    fixture.join(peer, peer_id(static_cast<std::uint8_t>(peer)), 0, true);
    senders.push_back({peer});
    senders.back().next = static_cast<std::uint32_t>(peer) * 600;
  }
  std::uint32_t waiting = 0;
  for (int i = 0; i < 200; ++i) {
    for (Sender& sender : senders) waiting += sender.send(fixture, false);
    fixture.pass(20 * kMillisecond);
  }
  CHECK(waiting * 4096 <= options.memory_bytes / 2);
  CHECK(waiting > 0);
  for (std::uint32_t i = 0; i < waiting; ++i) fixture.core.row_stored(fixture.now);
  fixture.drain();
  std::uint32_t more = 0;
  for (int i = 0; i < 50; ++i) {
    for (Sender& sender : senders) more += sender.send(fixture);
    fixture.pass(20 * kMillisecond);
  }
  CHECK(more > waiting);
}

TEST_CASE("vectors have room in memory: only so many generations are open at once") {
  core::Options options = plain_options();
  options.memory_bytes = 16 << 20;
  constexpr std::uint32_t kN = 1024;  // 2 MiB of vectors each: the least number that is open
  constexpr std::uint32_t kOpen = facts::kOpenAnyway;
  Fixture fixture(plain_manifest(kOpen + 4, kN, 16), options);
  fixture.start();
  fixture.join(1, peer_id(1), 0, true);
  std::uint32_t sequence = 0, credit = 0;
  std::map<std::uint32_t, std::uint32_t> quota;  // as told last
  const auto listen = [&] {
    for (const auto& state : fixture.heard<proto::State>(1)) {
      credit = state.credit;
      for (const auto& entry : state.generations) quota[entry.generation] = entry.quota;
    }
  };
  // Whether the row was kept.
  const auto give = [&](std::uint32_t g, std::uint32_t index) {
    for (int tries = 0; tries < 100 && sequence == credit; ++tries) {
      fixture.pass(20 * kMillisecond);
      listen();
    }
    fixture.say(1, fixture.block(g, ++sequence, index));
    const auto kept = fixture.take<StoreRow>();
    for (std::size_t i = 0; i < kept.size(); ++i) fixture.core.row_stored(fixture.now);
    fixture.drain();
    return kept.size() == 1;
  };
  const std::uint32_t last = kOpen + 1;
  for (std::uint32_t g = 0; g <= last; ++g) CHECK(give(g, 0) == (g < kOpen));
  fixture.pass(kSecond);
  listen();
  REQUIRE(quota.contains(last));
  CHECK(quota[last] == 0);
  for (std::uint32_t i = 1; i < kN; ++i) REQUIRE(give(0, i));
  REQUIRE(fixture.take<core::Decode>().size() == 1);
  fixture.core.generation_decoded(0, core::DecodeOutcome::kVerified, fixture.now);
  fixture.drain();
  for (int waits = 0; quota[kOpen] == 0 && waits < 200; ++waits) {
    fixture.pass(20 * kMillisecond);
    listen();
  }
  CHECK(quota[kOpen] > 0);
  CHECK(quota[last] == 0);  // there is room for one
  fixture.pass(20 * kSecond);
  listen();
  CHECK(quota[last] > 0);  // the other one did not come
  CHECK(give(last, 0));
}

TEST_CASE("a down limit holds over time, and is used") {
  for (const std::uint64_t limit : {20'000u, 1'000'000u}) {
    CAPTURE(limit);
    core::Options options = plain_options();
    options.down_limit = limit;
    Fixture fixture(plain_manifest(1000, 64, 1000), options);
    fixture.start();
    std::vector<Sender> senders;
    for (PeerKey peer = 1; peer <= 4; ++peer) {
      fixture.join(peer, peer_id(static_cast<std::uint8_t>(peer)), 0, true);
      senders.push_back({peer});
      senders.back().next = static_cast<std::uint32_t>(peer) * 12'000;
    }
    std::uint64_t bytes = 0;
    const TimeUs began = fixture.now;
    while (fixture.now - began < 10 * kSecond) {
      for (Sender& sender : senders) bytes += 1000 * sender.send(fixture);
      fixture.pass(5 * kMillisecond);
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
    Fixture fixture(plain_manifest(1000, 64, 1000), options);
    fixture.start(true);
    for (PeerKey peer = 1; peer <= 4; ++peer) {
      fixture.join(peer, peer_id(static_cast<std::uint8_t>(peer)), 1'000'000);
    }
    std::uint64_t bytes = 0;
    const TimeUs began = fixture.now;
    while (fixture.now - began < 10 * kSecond) {
      for (PeerKey peer = 1; peer <= 4; ++peer) bytes += 1000 * fixture.blocks_to(peer).size();
      fixture.pass(5 * kMillisecond);
    }
    CHECK(bytes <= limit * 10 + limit / 20 + 1000);
    CHECK(bytes >= limit * 9);
  }
}

TEST_CASE("the least up limit lets no block and no part of the manifest go, ever") {
  for (const bool of_all : {false, true}) {
    CAPTURE(of_all);
    core::Options options = plain_options();
    core::RateBudget budget(core::kNoUpload, core::burst_of(core::kNoUpload));
    if (of_all) {
      options.up_budget = &budget;
    } else {
      options.up_limit = core::kNoUpload;
    }
    Fixture fixture(plain_manifest(1000, 64, 1000), options);
    fixture.start(true);
    fixture.join(1, peer_id(1), 1'000'000);
    fixture.say(1, proto::ManifestRequest{0});
    for (int i = 0; i < 100; ++i) {
      fixture.pass(30 * kSecond);
      fixture.say_state(1, 0, 1'000'000);
      CHECK(fixture.blocks_to(1).empty());
      CHECK(fixture.heard<proto::ManifestPart>(1).empty());
    }
  }
}

TEST_CASE("an up limit counts coding vectors and the manifest too") {
  constexpr std::uint64_t kLimit = 20'000;
  core::Options options = plain_options();
  options.up_limit = kLimit;
  options.dense = true;
  Manifest manifest = plain_manifest(1000, 64, 32);
  manifest.file_bytes.assign(1 << 20, 'm');
  Fixture fixture(manifest, options);
  fixture.start(true);
  fixture.join(1, peer_id(1), 1'000'000);
  fixture.join(2, peer_id(2), 1'000'000);
  fixture.drain();
  std::uint64_t bytes = 0;
  const TimeUs began = fixture.now;
  fixture.say(2, proto::ManifestRequest{0});
  while (fixture.now - began < 30 * kSecond) {
    for (const auto& sent : fixture.blocks_to(1)) bytes += 32 + sent.block.coefficients.size();
    for (const auto& part : fixture.heard<proto::ManifestPart>(2)) {
      bytes += part.data.size();
      fixture.say(2, proto::ManifestRequest{0});
    }
    fixture.pass(5 * kMillisecond);
  }
  CHECK(bytes <= kLimit * 30 + limits::kManifestPartBytes + kLimit);
  CHECK(bytes >= kLimit * 25);
}

TEST_CASE("neighbours that come, take a grant and go do not eat the down limit") {
  core::Options options = plain_options();
  options.down_limit = 10'000;
  Fixture fixture(plain_manifest(100, 64, 1000), options);
  fixture.start();
  fixture.join(1, peer_id(1), 0, true);
  Sender honest{1};
  std::uint64_t bytes = 0;
  PeerKey next = 10;
  const TimeUs began = fixture.now;
  while (fixture.now - began < 20 * kSecond) {
    fixture.join(next, peer_id(2, static_cast<std::uint8_t>(next)), 0, true);
    bytes += 1000 * honest.send(fixture);
    fixture.core.peer_closed(next++, fixture.now);
    fixture.drain();
    bytes += 1000 * honest.send(fixture);
    fixture.pass(20 * kMillisecond);
  }
  CHECK(bytes >= 100'000);
}

TEST_CASE("rows that cannot be read back are fetched again") {
  Fixture fixture(plain_manifest(1, 4, 16));
  fixture.start();
  fixture.join(1, peer_id(1), 0, true);
  Sender sender{1};
  for (int i = 0; i < 20; ++i) sender.send(fixture), fixture.pass(50 * kMillisecond);
  REQUIRE(fixture.take<core::Decode>().size() == 1);
  fixture.core.generation_decoded(0, DecodeOutcome::kFailed, fixture.now);
  fixture.drain();
  CHECK(fixture.take<core::DropRows>().size() == 1);
  CHECK(fixture.core.report().rank == 0);
  fixture.core.generation_decoded(0, DecodeOutcome::kVerified,
                                  fixture.now);  // out of place: ignored
  fixture.drain();
  CHECK(fixture.core.report().generations_verified == 0);
  fixture.pass(kSecond);
  bool told = false;
  for (const auto& state : fixture.heard<proto::State>(1)) {
    sender.credit = std::max(sender.credit, state.credit);
    for (const auto& entry : state.generations) told |= entry.rank == 0;
  }
  CHECK(told);
  sender.next = 0;
  for (int i = 0; i < 20; ++i) sender.send(fixture), fixture.pass(50 * kMillisecond);
  REQUIRE(fixture.take<core::Decode>().size() == 1);
  fixture.core.generation_decoded(0, DecodeOutcome::kVerified, fixture.now);
  fixture.drain();
  CHECK(fixture.take<core::ContentComplete>().size() == 1);
}

TEST_CASE("a peer that leaves as soon as it is complete has told its neighbours that it is") {
  for (const bool finishes : {false, true}) {
    core::Options options = plain_options();
    options.seeding.kind = core::SeedPolicy::Kind::kNone;
    Fixture fixture(plain_manifest(1, 1, 16), options);
    fixture.start();
    fixture.join(1, peer_id(1), 0, true);
    Sender sender{1};
    REQUIRE(sender.send(fixture) == 1);
    REQUIRE(fixture.take<core::Decode>().size() == 1);
    fixture.core.generation_decoded(0, DecodeOutcome::kVerified, fixture.now);
    if (finishes) fixture.drain();
    if (finishes) fixture.core.content_finished(fixture.now);
    if (!finishes) fixture.core.stop(fixture.now);
    fixture.drain();
    bool told = false;
    for (const auto& state : fixture.heard<proto::State>(1))
      told |= state.complete == std::vector<proto::Span>{{0, 1}};
    CHECK(told == finishes);
    CHECK(fixture.heard<proto::Goodbye>(1).size() == 1);
  }
}

TEST_CASE("who alone sent a generation that decodes to false data is banned for certain") {
  Fixture fixture(plain_manifest(1, 4, 16));
  fixture.start();
  fixture.join(1, peer_id(1), 0, true);
  Sender sender{1};
  for (int i = 0; i < 20; ++i) sender.send(fixture), fixture.pass(50 * kMillisecond);
  fixture.core.generation_decoded(0, DecodeOutcome::kCorrupt, fixture.now);
  fixture.drain();
  CHECK(
      fixture.noticed(peer_id(1).text() + " at 192.0.2.1:4000 sent a false block of generation 0"));
  CHECK(fixture.heard<proto::Goodbye>(1).front().reason == proto::GoodbyeReason::kBanned);
  CHECK(fixture.take<core::DropRows>().size() == 1);
}

TEST_CASE("of several senders none is banned for a generation that decodes to false data") {
  Fixture fixture(plain_manifest(1, 4, 16));
  fixture.start();
  fixture.join(1, peer_id(1), 0);
  fixture.join(2, peer_id(2), 0);
  for (std::uint32_t i = 0; i < 4; ++i) {
    fixture.say(1 + i % 2, fixture.block(0, 1 + i / 2, i));
    fixture.pass(300 * kMillisecond);
  }
  REQUIRE(fixture.take<core::Decode>().size() == 1);
  fixture.core.generation_decoded(0, DecodeOutcome::kCorrupt, fixture.now);
  fixture.drain();
  fixture.take<StoreRow>();
  CHECK(fixture.core.report().peers == 2);
  CHECK(fixture.core.report().rank == 0);
  // Either may send rows of it again.
  fixture.pass(300 * kMillisecond);
  fixture.say(1, fixture.block(0, 3, 0));
  fixture.say(2, fixture.block(0, 3, 1));
  CHECK(fixture.take<StoreRow>().size() == 2);
}

TEST_CASE("what else came from a convicted peer is fetched again, the rest stays") {
  Fixture fixture(plain_manifest(4, 4, 16));
  fixture.start();
  fixture.join(1, peer_id(1), 0, true);
  fixture.join(2, peer_id(2), 0, true);
  std::uint32_t sequence[3] = {0, 0, 0};
  const auto send = [&](PeerKey peer, std::uint32_t g, std::uint32_t index) {
    fixture.pass(300 * kMillisecond);
    fixture.say(peer, fixture.block(g, ++sequence[peer], index));
  };
  send(1, 1, 0), send(2, 1, 1);  // mixed
  send(2, 2, 0), send(2, 2, 1);  // from the honest one alone
  for (std::uint32_t i = 0; i < 4; ++i) send(1, 0, i);
  CHECK(fixture.core.report().rank == 8);
  fixture.core.generation_decoded(0, DecodeOutcome::kCorrupt, fixture.now);
  fixture.drain();
  CHECK(fixture.core.report().rank == 3);
  const auto dropped = fixture.take<core::DropRows>();
  REQUIRE(dropped.size() == 1);
  CHECK(dropped[0].generation == 0);
  const auto slots = fixture.take<core::DropSlots>();
  REQUIRE(slots.size() == 1);
  CHECK(slots[0].generation == 1);
  CHECK(slots[0].slots == std::vector<std::uint32_t>{0});
}
