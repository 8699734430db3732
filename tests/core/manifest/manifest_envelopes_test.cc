// The right manifest in wrong envelopes, and slow senders of it.
#include <doctest/doctest.h>

#include <array>
#include <map>

#include "tests/core/manifest/manifest_fixture.h"

using namespace firn;
using namespace firn::test;
using core::FetchManifestFrom;
using core::ManifestArrived;

namespace {

// The manifest as the publisher of that number has signed it.
Manifest signed_by(const Manifest& manifest, std::uint8_t fill) {
  const std::array<std::uint8_t, 32> secret = [&] {
    std::array<std::uint8_t, 32> bytes{};
    bytes.fill(fill);
    return bytes;
  }();
  return sign_manifest(manifest, secret).value();
}
core::Options wanting(const Manifest& signed_one) {
  core::Options options = with_two_trackers();
  options.publisher = PublicKey::from_bytes(signed_one.publisher->key);
  return options;
}

// They know of no peers, and have no manifest.
void trackers_answer(Fixture& fixture) {
  proto::AnnounceReply reply;
  reply.interval_seconds = 1800;
  for (const std::size_t tracker : {0, 1})
    fixture.core.tracker_replied(tracker, reply, fixture.now);
  fixture.drain();
}
// For so many seconds the neighbours that are asked send a part a second, of so many bytes.
void pass_slowly(Fixture& fixture, const Manifest& manifest,
                 const std::map<PeerKey, std::size_t>& rates, int seconds) {
  for (; seconds > 0; --seconds) {
    for (const auto& [peer, bytes] : rates) {
      const auto asked = fixture.heard<proto::ManifestRequest>(peer);
      if (!asked.empty())
        fixture.say(peer, part_of(manifest.file_bytes, asked.back().offset, bytes));
    }
    fixture.pass(kSecond, 1000);
  }
}

}  // namespace

TEST_CASE("a manifest in another envelope than the link asks for bans nobody; others are asked") {
  const Manifest manifest = large_manifest();
  const Manifest right = signed_by(manifest, 1), junk = signed_by(manifest, 2);
  Fixture fixture(manifest, wanting(right));
  CHECK(fixture.core.counters().foreign_manifest == nullptr);
  trackers_answer(fixture);
  fixture.open(1, peer_id(1));
  fixture.open(2, peer_id(2));
  const PeerKey first = fixture.heard<proto::ManifestRequest>(1).empty() ? 2 : 1;
  fixture.say(first, part_of((first == 1 ? manifest : junk).file_bytes, 0));
  serve(fixture, first, (first == 1 ? manifest : junk).file_bytes);
  CHECK(fixture.take<ManifestArrived>().empty());
  CHECK_FALSE(fixture.closed(first));
  REQUIRE(fixture.core.counters().foreign_manifest != nullptr);
  CHECK(fixture.core.counters().foreign_manifest->error.code == ErrorCode::kWrongIdentity);
  CHECK(fixture.core.counters().foreign_manifest->others_wait);
  SUBCASE("the next has the right one") {
    CHECK(serve(fixture, 3 - first, right.file_bytes) == 2);
    const auto arrived = fixture.take<ManifestArrived>();
    REQUIRE(arrived.size() == 1);
    CHECK(arrived.front().manifest.publisher->key == right.publisher->key);
  }
  SUBCASE("none has, and none is asked again") {
    serve(fixture, 3 - first, junk.file_bytes);
    CHECK_FALSE(fixture.core.counters().foreign_manifest->others_wait);
    fixture.pass(120 * kSecond, 1000);
    for (const PeerKey peer : {1, 2}) CHECK(fixture.heard<proto::ManifestRequest>(peer).empty());
  }
  SUBCASE("the next is silent, and is waited for as long as for any part") {
    fixture.pass(11 * kSecond, 1000);
    CHECK_FALSE(fixture.core.counters().foreign_manifest->others_wait);
  }
}

TEST_CASE("after a tracker with another envelope the next one is asked at once") {
  const Manifest manifest = large_manifest();
  const Manifest right = signed_by(manifest, 1);
  Fixture fixture(manifest, wanting(right));
  for (const core::AnnounceTo& one : fixture.take<core::AnnounceTo>())
    CHECK(one.announce.signer == PublicKey::from_bytes(right.publisher->key));
  proto::AnnounceReply reply;
  reply.interval_seconds = 1800;
  reply.has_manifest = true;
  for (const std::size_t tracker : {0, 1})
    fixture.core.tracker_replied(tracker, reply, fixture.now);
  fixture.drain();
  auto asked = fixture.take<FetchManifestFrom>();
  REQUIRE(asked.size() == 1);
  fixture.core.manifest_read(core::kNoPeer, asked.front().tracker, manifest.file_bytes,
                             fixture.now);
  fixture.drain();
  CHECK(fixture.core.counters().foreign_manifest != nullptr);
  const auto next = fixture.take<FetchManifestFrom>();
  REQUIRE(next.size() == 1);
  CHECK(next.front().tracker == 1 - asked.front().tracker);
  fixture.core.manifest_read(core::kNoPeer, next.front().tracker, right.file_bytes, fixture.now);
  fixture.drain();
  CHECK(fixture.take<ManifestArrived>().size() == 1);
}

TEST_CASE("who has a signed manifest asks trackers for that envelope") {
  const Manifest manifest = large_manifest();
  const Manifest right = signed_by(manifest, 1);
  Fixture fixture(right, with_two_trackers());
  fixture.start(true);
  trackers_answer(fixture);
  fixture.take<core::AnnounceTo>();
  fixture.pass(3600 * kSecond, 1000);
  const auto announces = fixture.take<core::AnnounceTo>();
  REQUIRE_FALSE(announces.empty());
  CHECK(announces.back().announce.signer == PublicKey::from_bytes(right.publisher->key));
}

TEST_CASE("after a wrong envelope sources that have said nothing yet are waited for a minute") {
  const Manifest manifest = large_manifest();
  const Manifest right = signed_by(manifest, 1), junk = signed_by(manifest, 2);
  for (const int which : {0, 1, 2, 3}) {
    CAPTURE(which);
    const bool called = which % 2 == 1, answer = which / 2 == 1;
    core::Options options = wanting(right);
    if (called) options.peers = {Address{std::nullopt, "192.0.2.9", 4712}};
    Fixture fixture(manifest, options);
    if (called) trackers_answer(fixture);
    fixture.open(1, peer_id(1));
    serve(fixture, 1, junk.file_bytes);
    CHECK(fixture.core.counters().foreign_manifest->others_wait);
    if (!answer) {
      fixture.pass(61 * kSecond, 1000);
    } else if (called) {
      for (const core::Connect& call : fixture.take<core::Connect>())
        fixture.core.connect_failed(call.attempt, Error{ErrorCode::kUnreachable, "call", "refused"},
                                    fixture.now);
    } else {
      trackers_answer(fixture);
    }
    fixture.drain();
    CHECK_FALSE(fixture.core.counters().foreign_manifest->others_wait);
  }
}

TEST_CASE("after a wrong envelope only the right manifest as a whole is progress") {
  const Manifest manifest = large_manifest();
  const Manifest right = signed_by(manifest, 1), junk = signed_by(manifest, 2);
  Fixture fixture(manifest, wanting(right));
  fixture.open(1, peer_id(1));
  serve(fixture, 1, junk.file_bytes);
  const TimeUs before = fixture.core.counters().progressed_at;
  fixture.pass(kSecond);
  fixture.open(2, peer_id(2));
  REQUIRE(fixture.heard<proto::ManifestRequest>(2).size() == 1);
  fixture.say(2, part_of(right.file_bytes, 0));
  CHECK(fixture.core.counters().progressed_at == before);
  serve(fixture, 2, right.file_bytes);
  CHECK(fixture.core.counters().progressed_at == fixture.now);
}

TEST_CASE("a tracker with a wrong envelope is asked again only once it says that it has one") {
  const Manifest manifest = large_manifest();
  const Manifest right = signed_by(manifest, 1);
  Fixture fixture(manifest, wanting(right));
  proto::AnnounceReply reply;
  reply.interval_seconds = 1800;
  reply.has_manifest = true;
  fixture.core.tracker_replied(0, reply, fixture.now);
  fixture.drain();
  REQUIRE(fixture.take<FetchManifestFrom>().size() == 1);
  fixture.core.manifest_read(core::kNoPeer, 0, manifest.file_bytes, fixture.now);
  fixture.drain();
  fixture.pass(120 * kSecond, 1000);
  CHECK(fixture.take<FetchManifestFrom>().empty());
  fixture.core.tracker_replied(0, reply, fixture.now);
  fixture.drain();
  CHECK(fixture.take<FetchManifestFrom>().size() == 1);
}

TEST_CASE("beside a slow neighbour another is asked, and of two too slow ones the slower is left") {
  const Manifest manifest = large_manifest();
  Fixture fixture(manifest);
  fixture.open(1, peer_id(1));
  pass_slowly(fixture, manifest, {{1, 17'000}}, 5);
  fixture.open(2, peer_id(2));
  pass_slowly(fixture, manifest, {{1, 17'000}, {2, 3000}}, 3);
  CHECK(fixture.heard<proto::ManifestRequest>(2).empty());  // the first may be fast enough
  pass_slowly(fixture, manifest, {{1, 2000}, {2, 1000}}, 15);
  fixture.open(3, peer_id(3));
  pass_slowly(fixture, manifest, {{1, 2000}, {2, 1000}}, 3);
  CHECK_FALSE(fixture.closed(1));
  CHECK_FALSE(fixture.heard<proto::ManifestRequest>(1).empty());
  CHECK(fixture.heard<proto::ManifestRequest>(2).empty());
  CHECK(serve(fixture, 3, manifest.file_bytes) == 2);
  CHECK(fixture.take<ManifestArrived>().size() == 1);
}

TEST_CASE("slow neighbours that send as fast as they must replace each other for none") {
  const Manifest manifest = large_manifest();
  Fixture fixture(manifest);
  fixture.open(1, peer_id(1));
  fixture.open(2, peer_id(2));
  fixture.open(3, peer_id(3));
  const std::map<PeerKey, std::size_t> rates = {{1, 17'000}, {2, 17'000}, {3, 17'000}};
  pass_slowly(fixture, manifest, rates, 21);
  std::size_t asked = 0;
  for (const PeerKey peer : {1, 2, 3})
    asked += fixture.heard<proto::ManifestRequest>(peer).empty() ? 0 : 1;
  CHECK(asked == 2);
  SUBCASE("until one stands still") {
    fixture.pass(12 * kSecond, 1000);
    for (const PeerKey peer : {1, 2, 3})
      asked += fixture.heard<proto::ManifestRequest>(peer).empty() ? 0 : 1;
    CHECK(asked == 3);
  }
}
