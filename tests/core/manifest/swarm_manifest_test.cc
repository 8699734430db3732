// Starting from a link: how the manifest comes from neighbours and trackers.
#include <doctest/doctest.h>

#include <algorithm>

#include "proto/base/digest.h"
#include "proto/base/limits.h"
#include "tests/core/manifest/manifest_fixture.h"

using namespace firn;
using namespace firn::test;
using core::FetchManifestFrom;
using core::ManifestArrived;

namespace {

// The true info part and any bytes beside it, sealed again: that needs no key.
std::string resealed(const Manifest& manifest, const std::string& more_envelope) {
  std::string file = manifest.file_bytes.substr(0, manifest.file_bytes.size() - kIdBytes);
  file += more_envelope;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(file.data());
  return file.append(sha256({bytes, file.size()}).raw());
}
// Envelopes that are no manifest's, though the content id fits.
const std::string kTrackerWithoutPort("\x12\x01x", 3);
const std::string kForeignSignature =
    "\x1a\x20" + std::string(32, 'k') + "\x22\x40" + std::string(64, 's');

}  // namespace

TEST_CASE("a manifest comes from a neighbour in parts and is whole") {
  const Manifest manifest = large_manifest();
  Fixture fixture(manifest);
  fixture.open(1, peer_id(1));
  CHECK(serve(fixture, 1, manifest.file_bytes) == 2);
  const auto arrived = fixture.take<ManifestArrived>();
  REQUIRE(arrived.size() == 1);
  CHECK(arrived.front().manifest.file_bytes == manifest.file_bytes);
  fixture.core.start(arrived.front().manifest, {}, false, fixture.now);
  fixture.drain();
  CHECK(fixture.core.started());
  CHECK(fixture.heard<proto::State>(1).size() == 1);
}

TEST_CASE("the manifest that a peer has fetched is served to the next") {
  const Manifest manifest = large_manifest();
  Fixture seed(manifest), getter(manifest);
  seed.start(true);
  seed.open(1, peer_id(1), 0, false);
  CHECK(seed.heard<proto::State>(1).empty());
  getter.open(2, peer_id(2));
  for (int i = 0; i < 2; ++i) {
    const auto asked = getter.heard<proto::ManifestRequest>(2);
    REQUIRE(asked.size() == 1);
    seed.say(1, asked.front());
    const auto parts = seed.heard<proto::ManifestPart>(1);
    REQUIRE(parts.size() == 1);
    getter.say(2, parts.front());
  }
  CHECK(getter.take<ManifestArrived>().size() == 1);
}

TEST_CASE("requests past the end or without a manifest are answered with nothing") {
  const Manifest manifest = large_manifest();
  Fixture fixture(manifest);
  fixture.open(1, peer_id(1), 0, false);
  fixture.say(1, proto::ManifestRequest{0});
  auto parts = fixture.heard<proto::ManifestPart>(1);
  REQUIRE(parts.size() == 1);
  CHECK(parts.front().total_bytes == 0);
  fixture.start(true);
  fixture.say(1, proto::ManifestRequest{manifest.file_bytes.size()});
  parts = fixture.heard<proto::ManifestPart>(1);
  REQUIRE(parts.size() == 1);
  CHECK(parts.front().total_bytes == 0);
}

TEST_CASE("who asks for parts without waiting for them gets one answer and no more") {
  const Manifest manifest = large_manifest();
  Fixture fixture(manifest);
  fixture.start(true);
  fixture.open(1, peer_id(1), 0, false);
  for (int i = 0; i < 1000; ++i) {
    fixture.core.message(1, proto::ManifestRequest{0}, 6, fixture.now);
  }
  fixture.drain();
  CHECK(fixture.heard<proto::ManifestPart>(1).size() == 1);
  CHECK(fixture.closed(1));
  CHECK(fixture.noticed(peer_id(1).text()));
}

TEST_CASE(
    "who waits for its answers gets all parts from a limited uplink, however they are told of") {
  const Manifest manifest = large_manifest();
  core::Options options = plain_options();
  SUBCASE("a part has departed before the next is asked for") {}
  SUBCASE("its departure is heard of later") {
    options.peer_exchange = false;
  }
  const bool late = !options.peer_exchange;
  options.up_limit = 100'000;
  Fixture fixture(manifest, options);
  fixture.start(true);
  constexpr PeerKey kAskers = 3;
  std::vector<std::uint64_t> got(kAskers + 1);
  for (PeerKey peer = 1; peer <= kAskers; ++peer) {
    fixture.open(peer, peer_id(static_cast<std::uint8_t>(peer)), 0, false);
    fixture.say(peer, proto::ManifestRequest{0});
  }
  std::uint64_t bytes = 0;
  const TimeUs began = fixture.now;
  const auto all = [&] {
    return std::all_of(got.begin() + 1, got.end(),
                       [&](std::uint64_t g) { return g == manifest.file_bytes.size(); });
  };
  while (!all()) {
    REQUIRE(fixture.now - began < 60 * kSecond);
    for (PeerKey peer = 1; peer <= kAskers; ++peer) {
      // The asker has the part, and asks on, before anything else happens here.
      std::vector<proto::ManifestPart> parts;
      std::erase_if(fixture.actions, [&](core::Action& action) {
        const auto* send = std::get_if<core::Send>(&action);
        if (!send || send->peer != peer) return false;
        const auto* part = std::get_if<proto::ManifestPart>(&send->message);
        if (part) parts.push_back(*part);
        return part != nullptr;
      });
      REQUIRE(parts.size() <= 1);
      if (parts.empty()) continue;
      REQUIRE(parts[0].offset == got[peer]);
      got[peer] += parts[0].data.size();
      bytes += parts[0].data.size();
      const proto::ManifestRequest next{got[peer]};
      const bool more = got[peer] < manifest.file_bytes.size();
      if (!late) fixture.core.manifest_part_departed(peer, fixture.now);
      if (more) fixture.core.message(peer, next, 6, fixture.now);
      if (late) fixture.core.manifest_part_departed(peer, fixture.now);
      fixture.drain();
    }
    fixture.pass(5 * kMillisecond);
    REQUIRE_FALSE(fixture.noticed("banned"));
    CHECK(bytes <= options.up_limit * (fixture.now - began) / kSecond + options.up_limit);
  }
}

TEST_CASE("who reads nothing gets one part and no more") {
  const Manifest manifest = large_manifest();
  Fixture fixture(manifest);
  fixture.start(true);
  fixture.open(1, peer_id(1), 0, false);
  for (int i = 0; i < 2; ++i) fixture.say(1, proto::ManifestRequest{0});
  fixture.pass(20 * kSecond);
  std::size_t parts = 0;
  for (const core::Action& action : fixture.actions) {
    const auto* send = std::get_if<core::Send>(&action);
    parts += send && std::holds_alternative<proto::ManifestPart>(send->message) ? 1 : 0;
  }
  CHECK(parts == 1);
  CHECK_FALSE(fixture.closed(1));
  fixture.say(1, proto::ManifestRequest{0});
  CHECK(fixture.closed(1));
}

TEST_CASE("a part that departs without having been sent puts nobody in line twice") {
  const Manifest manifest = large_manifest();
  core::Options options = plain_options();
  options.up_limit = 100'000;  // the second asker has to wait
  Fixture fixture(manifest, options);
  fixture.start(true);
  for (PeerKey peer = 1; peer <= 2; ++peer) {
    fixture.open(peer, peer_id(static_cast<std::uint8_t>(peer)), 0, false);
    fixture.say(peer, proto::ManifestRequest{0});
  }
  for (int i = 0; i < 3; ++i) fixture.core.manifest_part_departed(2, fixture.now);
  fixture.pass(20 * kSecond);
  CHECK(fixture.heard<proto::ManifestPart>(2).size() == 1);
}

TEST_CASE("a neighbour that gets the manifest after us is asked once it shows that it has it") {
  // B knows only A, and both began with a link: A's State tells B that A can be asked now.
  const Manifest manifest = large_manifest();
  Fixture b(manifest);
  b.open(1, peer_id(1), 0, false);
  CHECK(b.heard<proto::ManifestRequest>(1).empty());
  b.say_state(1, 0, 4);
  CHECK(serve(b, 1, manifest.file_bytes) == 2);
  CHECK(b.take<ManifestArrived>().size() == 1);
}

TEST_CASE("two peers that began without a manifest learn all of each other") {
  Manifest manifest = plain_manifest(4, 4, 8);
  Fixture a(manifest), b(manifest);
  a.open(1, peer_id(2), 0, false);
  b.open(1, peer_id(3), 0, false);
  const auto exchange = [&] {
    for (bool more = true; more;) {
      more = false;
      for (const auto& state : a.heard<proto::State>(1)) b.say(1, state), more = true;
      for (const auto& state : b.heard<proto::State>(1)) a.say(1, state), more = true;
    }
  };
  a.start(true);
  exchange();  // b cannot understand it yet
  b.start();
  exchange();
  REQUIRE(b.core.report().neighbours.size() == 1);
  CHECK(b.core.report().neighbours.front().complete);
  b.pass(kSecond);
  exchange();
  a.pass(kSecond);
  CHECK(a.take<core::SendBlock>().size() >= 1);
}

TEST_CASE("a neighbour that has no manifest after all is asked again later") {
  const Manifest manifest = large_manifest();
  Fixture fixture(manifest);
  fixture.open(1, peer_id(1));
  REQUIRE(fixture.heard<proto::ManifestRequest>(1).size() == 1);
  fixture.say(1, proto::ManifestPart{});
  CHECK(fixture.heard<proto::ManifestRequest>(1).empty());
  fixture.pass(120 * kSecond, 1000);
  CHECK_FALSE(fixture.heard<proto::ManifestRequest>(1).empty());
}

TEST_CASE("a neighbour whose answer is due is not asked again, and its late answer is taken") {
  const Manifest manifest = large_manifest();
  Fixture fixture(manifest);
  fixture.open(1, peer_id(1));
  REQUIRE(fixture.heard<proto::ManifestRequest>(1).size() == 1);
  SUBCASE("it alone has the manifest") {
    fixture.pass(120 * kSecond, 1000);
    CHECK(fixture.heard<proto::ManifestRequest>(1).empty());
    fixture.say(1, part_of(manifest.file_bytes, 0));
  }
  SUBCASE("another was asked meanwhile, and has gone") {
    fixture.open(2, peer_id(2));
    fixture.pass(60 * kSecond, 1000);
    REQUIRE(fixture.heard<proto::ManifestRequest>(2).size() == 1);
    CHECK(fixture.heard<proto::ManifestRequest>(1).empty());
    fixture.core.peer_closed(2, fixture.now);
    fixture.drain();
    CHECK(fixture.heard<proto::ManifestRequest>(1).empty());
    fixture.say(1, part_of(manifest.file_bytes, 0));
  }
  CHECK(serve(fixture, 1, manifest.file_bytes) >= 1);
  CHECK(fixture.take<ManifestArrived>().size() == 1);
}

TEST_CASE("another neighbour is asked when the first leaves or is silent") {
  const Manifest manifest = large_manifest();
  Fixture fixture(manifest);
  fixture.open(1, peer_id(1));
  fixture.open(2, peer_id(2));
  const PeerKey first = fixture.heard<proto::ManifestRequest>(1).empty() ? 2 : 1;
  const PeerKey second = 3 - first;
  CHECK(fixture.heard<proto::ManifestRequest>(second).empty());
  SUBCASE("leaves") {
    fixture.core.peer_closed(first, fixture.now), fixture.drain();
  }
  SUBCASE("is silent") {
    fixture.pass(11 * kSecond, 1000);
  }
  CHECK(serve(fixture, second, manifest.file_bytes) == 2);
  CHECK(fixture.take<ManifestArrived>().size() == 1);
}

TEST_CASE("a neighbour that drips the manifest byte by byte does not hold up the others") {
  const Manifest manifest = large_manifest();
  Fixture fixture(manifest);
  fixture.open(1, peer_id(1));
  fixture.open(2, peer_id(2));
  std::uint64_t at = 0;
  while (fixture.heard<proto::ManifestRequest>(2).empty()) {
    REQUIRE(at < 100);
    fixture.say(1, part_of(manifest.file_bytes, at++, 1));
    fixture.pass(5 * kSecond, 1000);
  }
}

TEST_CASE("a false manifest is blamed on who sent it, and another neighbour asked") {
  const Manifest manifest = large_manifest();
  std::string file = manifest.file_bytes;
  Fixture fixture(manifest);
  fixture.open(1, peer_id(1));
  SUBCASE("a byte is wrong") {
    file[file.size() / 2] ^= 1;
    CHECK(serve(fixture, 1, file) == 2);
  }
  SUBCASE("the info part is right, a tracker beside it is not") {
    CHECK(serve(fixture, 1, resealed(manifest, kTrackerWithoutPort)) == 2);
  }
  SUBCASE("the info part is right, the publisher's signature is not") {
    CHECK(serve(fixture, 1, resealed(manifest, kForeignSignature)) == 2);
  }
  SUBCASE("a part is out of place") {
    fixture.say(1, part_of(file, 1));
  }
  SUBCASE("its length changes") {
    fixture.say(1, part_of(file, 0));
    file += 'x';
    fixture.say(1, part_of(file, limits::kManifestPartBytes));
  }
  SUBCASE("an empty part at the end") {
    fixture.say(1, part_of(file, 0));
    fixture.say(1, proto::ManifestPart{file.size(), limits::kManifestPartBytes, ""});
  }
  CHECK(fixture.take<ManifestArrived>().empty());
  CHECK(fixture.noticed(peer_id(1).text()));
  CHECK(fixture.closed(1));
  fixture.open(2, peer_id(2));
  CHECK(serve(fixture, 2, manifest.file_bytes) == 2);
  CHECK(fixture.take<ManifestArrived>().size() == 1);
}

TEST_CASE("nobody's trackers come with a manifest from the network, and none are served on") {
  const Manifest manifest = large_manifest();
  const auto with_others = with_trackers(manifest, {Address{std::nullopt, "stranger.example", 1}});
  REQUIRE(with_others.ok());
  Fixture fixture(manifest, with_two_trackers());
  SUBCASE("from a neighbour") {
    fixture.open(1, peer_id(1));
    serve(fixture, 1, with_others->file_bytes);
  }
  SUBCASE("from a tracker") {
    fixture.core.manifest_read(core::kNoPeer, 0, with_others->file_bytes, fixture.now);
    fixture.drain();
  }
  const auto arrived = fixture.take<ManifestArrived>();
  REQUIRE(arrived.size() == 1);
  CHECK(arrived.front().manifest.trackers.empty());
  CHECK(arrived.front().manifest.file_bytes == manifest.file_bytes);
}

TEST_CASE("origins of a manifest from the network are kept and served on if they are signed") {
  const Manifest manifest = large_manifest();
  const auto named = with_origins(manifest, {"https://stranger.example/"});
  REQUIRE(named.ok());
  const std::string secret(32, 's');
  const std::span key(reinterpret_cast<const std::uint8_t*>(secret.data()), secret.size());
  const auto signed_one = sign_manifest(*named, key);
  REQUIRE(signed_one.ok());
  Fixture fixture(manifest, with_two_trackers());
  std::string sent, expected;
  SUBCASE("nobody signed them") {
    sent = named->file_bytes;
    expected = manifest.file_bytes;
  }
  SUBCASE("their publisher signed them") {
    sent = signed_one->file_bytes;
    expected = sent;
  }
  SUBCASE("somebody put another signature there") {
    sent = resealed(*signed_one, "\x32\x40" + std::string(64, 's'));
    expected = sign_manifest(manifest, key)->file_bytes;
  }
  fixture.open(1, peer_id(1));
  serve(fixture, 1, sent);
  const auto arrived = fixture.take<ManifestArrived>();
  REQUIRE(arrived.size() == 1);
  CHECK(arrived.front().manifest.file_bytes == expected);
}

TEST_CASE("parts that nobody asked for are ignored") {
  const Manifest manifest = large_manifest();
  Fixture fixture(manifest);
  fixture.open(1, peer_id(1), 0, false);
  fixture.say(1, part_of(manifest.file_bytes, 0));
  CHECK_FALSE(fixture.closed(1));
  CHECK(fixture.take<ManifestArrived>().empty());
  fixture.start();
  fixture.say(1, part_of(manifest.file_bytes, 0));
  CHECK_FALSE(fixture.closed(1));
}

TEST_CASE("a tracker that hosts the manifest is asked for it, and again when it fails") {
  const Manifest manifest = large_manifest();
  Fixture fixture(manifest, with_two_trackers());
  CHECK(fixture.take<core::AnnounceTo>().size() == 2);
  proto::AnnounceReply reply;
  reply.interval_seconds = 1800;
  fixture.core.tracker_replied(1, reply, fixture.now);
  fixture.drain();
  CHECK(fixture.take<FetchManifestFrom>().empty());
  reply.has_manifest = true;
  fixture.core.tracker_replied(0, reply, fixture.now);
  fixture.drain();
  auto fetches = fixture.take<FetchManifestFrom>();
  REQUIRE(fetches.size() == 1);
  CHECK(fetches.front().tracker == 0);
  SUBCASE("comes") {
    fixture.core.manifest_read(core::kNoPeer, 0, manifest.file_bytes, fixture.now);
    fixture.drain();
    CHECK(fixture.take<ManifestArrived>().size() == 1);
  }
  SUBCASE("fails or is another one, while a neighbour has none") {
    fixture.open(1, peer_id(1), 0, false);
    std::string wrong = manifest.file_bytes;
    SUBCASE("a byte is wrong") {
      wrong[9] ^= 1;
    }
    SUBCASE("a tracker in it is none") {
      wrong = resealed(manifest, kTrackerWithoutPort);
    }
    SUBCASE("its signature is none") {
      wrong = resealed(manifest, kForeignSignature);
    }
    fixture.core.manifest_read(core::kNoPeer, 0, wrong, fixture.now);
    fixture.drain();
    CHECK(fixture.noticed("manifest from tracker"));
    CHECK(fixture.take<ManifestArrived>().empty());
    fixture.pass(60 * kSecond, 1000);
    const auto again = fixture.take<core::AnnounceTo>();
    CHECK_FALSE(again.empty());
    fixture.core.tracker_replied(0, reply, fixture.now);
    fixture.drain();
    CHECK(fixture.take<FetchManifestFrom>().size() == 1);
  }
}

TEST_CASE("the manifest arrives once, whoever is first") {
  const Manifest manifest = large_manifest();
  Fixture fixture(manifest, with_two_trackers());
  proto::AnnounceReply reply;
  reply.has_manifest = true;
  fixture.core.tracker_replied(0, reply, fixture.now);
  fixture.open(1, peer_id(1));
  CHECK(serve(fixture, 1, manifest.file_bytes) == 2);
  fixture.core.manifest_read(core::kNoPeer, 0, manifest.file_bytes, fixture.now);
  fixture.drain();
  CHECK(fixture.take<ManifestArrived>().size() == 1);
}
