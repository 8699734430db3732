// The right manifest in wrong envelopes, and slow senders of it.
#include <doctest/doctest.h>

#include <array>
#include <map>

#include "tests/core/manifest_fixture.h"

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

}  // namespace

TEST_CASE("a manifest in another envelope than the link asks for bans nobody; others are asked") {
  const Manifest manifest = large_manifest();
  const Manifest right = signed_by(manifest, 1), junk = signed_by(manifest, 2);
  Fixture fixture(manifest, wanting(right));
  CHECK(fixture.core.counters().foreign_manifest == nullptr);
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
  fixture.take<core::AnnounceTo>();
  fixture.pass(3600 * kSecond, 1000);
  const auto announces = fixture.take<core::AnnounceTo>();
  REQUIRE_FALSE(announces.empty());
  CHECK(announces.back().announce.signer == PublicKey::from_bytes(right.publisher->key));
}

TEST_CASE("beside a slow neighbour another is asked, and of two slow ones the slower is left") {
  const Manifest manifest = large_manifest();
  Fixture fixture(manifest);
  fixture.open(1, peer_id(1));
  std::map<PeerKey, std::uint64_t> sent;
  // Each a part a second, of so many bytes.
  const auto pass_slowly = [&](std::map<PeerKey, std::size_t> rates, int seconds) {
    for (; seconds > 0; --seconds) {
      for (const auto& [peer, bytes] : rates) {
        const auto asked = fixture.heard<proto::ManifestRequest>(peer);
        if (!asked.empty())
          fixture.say(peer, part_of(manifest.file_bytes, asked.back().offset, bytes));
      }
      fixture.pass(kSecond, 1000);
    }
  };
  pass_slowly({{1, 17'000}}, 5);
  fixture.open(2, peer_id(2));
  pass_slowly({{1, 17'000}, {2, 3000}}, 3);
  CHECK(fixture.heard<proto::ManifestRequest>(2).empty());  // the first may be fast enough
  pass_slowly({{1, 2000}, {2, 1000}}, 3);
  fixture.open(3, peer_id(3));
  pass_slowly({{1, 2000}, {2, 1000}}, 15);
  CHECK_FALSE(fixture.closed(1));
  CHECK(serve(fixture, 3, manifest.file_bytes) == 2);
  CHECK(fixture.take<ManifestArrived>().size() == 1);
}
