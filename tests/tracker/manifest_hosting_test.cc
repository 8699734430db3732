// Manifests put to the tracker and got from it, part by part.
#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <memory>

#include "proto/base/digest.h"
#include "proto/base/limits.h"
#include "proto/wire_fields.h"
#include "tests/tracker/tracker_fixture.h"
#include "tracker/announce_core.h"
#include "tracker/registry_memory.h"

namespace firn::tracker::test {
namespace {

using proto::ManifestPart;
using proto::TrackerError;
using proto::TrackerErrorCode;
using proto::TrackerManifestGet;
using proto::TrackerManifestPut;
using proto::TrackerManifestPutReply;

struct HostingTracker {
  explicit HostingTracker(const CoreOptions& options = {}, const RegistryLimits& limits = {})
      : registry(limits), core(registry, options, 1) {
    for (ClientId client : {1, 2}) core.connected(client, peer_id(1), "192.0.2.1", Time{0});
  }
  void announce(const ContentId& id, ClientId client, proto::AnnounceEvent event = {}) {
    const proto::Announce announce{.content_id = id, .event = event, .listen_port = 1};
    REQUIRE(std::holds_alternative<proto::AnnounceReply>(core.handle(client, announce, Time{0})));
  }
  // As a peer of the content that has announced itself.
  proto::TrackerReply put(const ContentId& id, const std::string& bytes, std::uint64_t offset,
                          std::size_t count, ClientId client = 1) {
    announce(id, client);
    return put_alone(id, bytes, offset, count, client);
  }
  proto::TrackerReply put_alone(const ContentId& id, const std::string& bytes, std::uint64_t offset,
                                std::size_t count, ClientId client = 1) {
    return core.handle(
        client, TrackerManifestPut{id, bytes.size(), offset, bytes.substr(offset, count)}, Time{0});
  }
  // Puts all of it in parts; the last reply.
  proto::TrackerReply put_all(const ContentId& id, const std::string& bytes) {
    proto::TrackerReply reply;
    for (std::size_t at = 0; at < bytes.size(); at += limits::kManifestPartBytes) {
      reply = put(id, bytes, at, limits::kManifestPartBytes);
      if (std::holds_alternative<TrackerError>(reply)) break;
    }
    return reply;
  }
  proto::TrackerReply get(const ContentId& id, std::uint64_t offset) {
    return core.handle(1, TrackerManifestGet{id, offset}, Time{0});
  }

  MemoryRegistry registry;
  AnnounceCore core;
};

std::uint64_t next_offset(const proto::TrackerReply& reply) {
  REQUIRE(std::holds_alternative<TrackerManifestPutReply>(reply));
  return std::get<TrackerManifestPutReply>(reply).next_offset;
}
TrackerErrorCode code(const proto::TrackerReply& reply) {
  REQUIRE(std::holds_alternative<TrackerError>(reply));
  CHECK(std::get<TrackerError>(reply).detail.size() <= limits::kReasonBytesMax);
  return std::get<TrackerError>(reply).code;
}

TEST_CASE("a manifest put in parts is got in parts, byte for byte") {
  HostingTracker tracker;
  const Manifest whole = manifest(20'000);
  REQUIRE(whole.file_bytes.size() > 2 * limits::kManifestPartBytes);
  CHECK(code(tracker.get(whole.id, 0)) == TrackerErrorCode::kUnknownContent);
  CHECK(next_offset(tracker.put(whole.id, whole.file_bytes, 0, 1000)) == 1000);
  CHECK_FALSE(tracker.registry.has_manifest(whole.id));
  CHECK(next_offset(tracker.put_all(whole.id, whole.file_bytes)) == whole.file_bytes.size());

  std::string got;
  do {
    const auto reply = tracker.get(whole.id, got.size());
    REQUIRE(std::holds_alternative<ManifestPart>(reply));
    const auto& part = std::get<ManifestPart>(reply);
    CHECK(part.total_bytes == whole.file_bytes.size());
    CHECK(part.offset == got.size());
    CHECK(part.data.size() <= limits::kManifestPartBytes);
    REQUIRE(!part.data.empty());
    got += part.data;
  } while (got.size() < whole.file_bytes.size());
  CHECK(got == whole.file_bytes);

  const auto announced =
      tracker.core.handle(1, proto::Announce{.content_id = whole.id, .listen_port = 1}, Time{0});
  CHECK(std::get<proto::AnnounceReply>(announced).has_manifest);
}

TEST_CASE(
    "a manifest with origins is handed out as it came, and one with a false signature not kept") {
  HostingTracker tracker;
  const Manifest named = with_origins(manifest(4), {"https://a.example/", "s3://b/"}).value();
  const Manifest whole = sign_manifest(named, key(1).secret()).value();
  std::string changed = whole.file_bytes;
  changed[changed.find("a.example")] = 'b';
  changed.resize(changed.size() - kIdBytes);
  changed += sha256(proto::as_bytes(changed)).raw();
  CHECK(code(tracker.put_all(whole.id, changed)) == TrackerErrorCode::kMalformed);
  CHECK(next_offset(tracker.put_all(whole.id, whole.file_bytes)) == whole.file_bytes.size());
  const auto reply = tracker.get(whole.id, 0);
  REQUIRE(std::holds_alternative<ManifestPart>(reply));
  CHECK(std::get<ManifestPart>(reply).data == whole.file_bytes);
}

TEST_CASE("a manifest that is there already needs not be sent again") {
  HostingTracker tracker;
  const Manifest whole = sign_manifest(manifest(20'000), key(1).secret()).value();
  (void)tracker.put_all(whole.id, whole.file_bytes);
  tracker.announce(whole.id, 2);
  const TrackerManifestPut put{whole.id, whole.file_bytes.size(), 0, whole.file_bytes.substr(0, 10),
                               key(1).public_key()};
  CHECK(next_offset(tracker.core.handle(2, put, Time{0})) == whole.file_bytes.size());
}

TEST_CASE("a manifest that comes again without a signer named is compared, not checked again") {
  CoreOptions options;
  options.checked_at_once_max = 0;
  HostingTracker tracker(options);
  const Manifest whole = sign_manifest(manifest(20'000), key(1).secret()).value();
  (void)tracker.put_all(whole.id, whole.file_bytes);
  const auto first = tracker.core.take_whole();
  REQUIRE(first);
  CHECK(next_offset(tracker.core.checked(*first, Done{})) == whole.file_bytes.size());
  CHECK(next_offset(tracker.put_all(whole.id, whole.file_bytes)) == whole.file_bytes.size());
  CHECK_FALSE(tracker.core.take_whole());
  CHECK(tracker.core.fill().upload_bytes == 0);
  std::string other = whole.file_bytes;
  other.back() ^= 1;
  (void)tracker.put_all(whole.id, other);
  CHECK(tracker.core.take_whole());
}

TEST_CASE("parts out of order, past the end or of another manifest end the upload") {
  HostingTracker tracker;
  const Manifest whole = manifest(2000);
  const Manifest other = manifest(2000, "other");
  const std::string& bytes = whole.file_bytes;
  REQUIRE(next_offset(tracker.put(whole.id, bytes, 0, 1000)) == 1000);
  SUBCASE("a gap") {
    CHECK(code(tracker.put(whole.id, bytes, 1001, 10)) == TrackerErrorCode::kMalformed);
  }
  SUBCASE("a part again") {
    CHECK(code(tracker.put(whole.id, bytes, 500, 1000)) == TrackerErrorCode::kMalformed);
  }
  SUBCASE("another content") {
    CHECK(code(tracker.put(other.id, bytes, 1000, 10)) == TrackerErrorCode::kMalformed);
  }
  SUBCASE("another size") {
    CHECK(code(tracker.put(whole.id, bytes + "x", 1000, 10)) == TrackerErrorCode::kMalformed);
  }
  SUBCASE("past the end") {
    const TrackerManifestPut put{whole.id, bytes.size(), 1000, bytes};
    CHECK(code(tracker.core.handle(1, put, Time{0})) == TrackerErrorCode::kMalformed);
  }
  // What was sent is gone, and the upload can begin tracker.
  CHECK(code(tracker.put(whole.id, bytes, 1000, 10)) == TrackerErrorCode::kMalformed);
  CHECK(next_offset(tracker.put_all(whole.id, bytes)) == bytes.size());
}

TEST_CASE("bytes that are not the manifest of that content are refused") {
  HostingTracker tracker;
  const Manifest whole = manifest(100);
  const Manifest other = manifest(100, "other");
  CHECK(code(tracker.put_all(whole.id, other.file_bytes)) == TrackerErrorCode::kMalformed);
  std::string damaged = whole.file_bytes;
  damaged[damaged.size() / 2] ^= 1;
  CHECK(code(tracker.put_all(whole.id, damaged)) == TrackerErrorCode::kMalformed);
  CHECK_FALSE(tracker.registry.has_manifest(whole.id));
  CHECK_FALSE(tracker.registry.has_manifest(other.id));
}

// Any bytes beside the true info part, sealed again: that needs no key.
TEST_CASE(
    "the true info part in an envelope that breaks a rule is refused, and then the owner's is "
    "kept") {
  HostingTracker tracker;
  const Manifest whole = manifest(100);
  std::string file = whole.file_bytes.substr(0, whole.file_bytes.size() - kIdBytes);
  SUBCASE("a tracker that is none") {
    file.append("\x12\x01x", 3);
  }
  SUBCASE("a signature that is none") {
    file += "\x1a\x20" + std::string(32, 'k') + "\x22\x40" + std::string(64, 's');
  }
  file.append(sha256(firn::test::bytes_of(file)).raw());
  REQUIRE(manifest_content_id(file).value() == whole.id);
  CHECK(code(tracker.put_all(whole.id, file)) == TrackerErrorCode::kMalformed);
  CHECK_FALSE(tracker.registry.has_manifest(whole.id));
  CHECK(next_offset(tracker.put_all(whole.id, whole.file_bytes)) == whole.file_bytes.size());
}

TEST_CASE("who has not announced itself as a peer of the content may not put its manifest") {
  HostingTracker tracker;
  const Manifest whole = manifest(100);
  const Manifest other = manifest(100, "other");
  const std::string& bytes = whole.file_bytes;
  const auto refused = [&] {
    return code(tracker.put_alone(whole.id, bytes, 0, bytes.size())) ==
           TrackerErrorCode::kNotAllowed;
  };
  CHECK(refused());
  tracker.announce(other.id, 1);
  CHECK(refused());
  tracker.core.connected(3, peer_id(3), "192.0.2.1", Time{0});
  tracker.announce(whole.id, 3);  // another peer did
  CHECK(refused());
  tracker.announce(whole.id, 1);
  CHECK(next_offset(tracker.put_alone(whole.id, bytes, 0, 100)) == 100);
  tracker.announce(whole.id, 1, proto::AnnounceEvent::kStopped);
  CHECK(code(tracker.put_alone(whole.id, bytes, 100, bytes.size())) ==
        TrackerErrorCode::kNotAllowed);
  CHECK_FALSE(tracker.registry.has_manifest(whole.id));
}

TEST_CASE("a flood of manifests from one network does not push out another's") {
  const std::size_t bytes = manifest(100, "a").file_bytes.size();
  HostingTracker tracker({}, {.manifest_bytes_total_max = 8 * bytes});
  const Manifest first = manifest(100, "a");
  tracker.core.connected(3, peer_id(3), "198.51.100.7", Time{0});
  REQUIRE(next_offset(tracker.put(first.id, first.file_bytes, 0, bytes, 3)) == bytes);
  for (char name = 'b'; name <= 'z'; ++name) {
    const Manifest more = manifest(100, std::string(1, name));
    REQUIRE(more.file_bytes.size() == bytes);
    REQUIRE(next_offset(tracker.put_all(more.id, more.file_bytes)) == bytes);
    CHECK(tracker.registry.has_manifest(more.id));
  }
  CHECK(tracker.registry.has_manifest(first.id));
}

TEST_CASE("two connections may send the same manifest at once") {
  HostingTracker tracker;
  const Manifest whole = manifest(100);
  const std::string& bytes = whole.file_bytes;
  REQUIRE(next_offset(tracker.put(whole.id, bytes, 0, 100, 1)) == 100);
  REQUIRE(next_offset(tracker.put(whole.id, bytes, 0, 200, 2)) == 200);
  CHECK(next_offset(tracker.put(whole.id, bytes, 200, bytes.size(), 2)) == bytes.size());
  CHECK(next_offset(tracker.put(whole.id, bytes, 100, bytes.size(), 1)) == bytes.size());
}

TEST_CASE("a manifest over the tracker's limit is too large") {
  CoreOptions options;
  options.manifest_bytes_max = 5000;
  HostingTracker tracker(options);
  const Manifest large = manifest(1000);
  CHECK(code(tracker.put_all(large.id, large.file_bytes)) == TrackerErrorCode::kTooLarge);
  HostingTracker small({}, {.manifest_bytes_total_max = 5000});
  CHECK(code(small.put_all(large.id, large.file_bytes)) == TrackerErrorCode::kTooLarge);
}

TEST_CASE("half-sent manifests are bounded together and go with their connections") {
  CoreOptions options;
  options.upload_bytes_total_max = 4000;
  HostingTracker tracker(options);
  const Manifest whole = manifest(2000);
  const Manifest small = manifest(10, "small");
  REQUIRE(next_offset(tracker.put(whole.id, whole.file_bytes, 0, 3900, 1)) == 3900);
  CHECK(code(tracker.put(small.id, small.file_bytes, 0, 1000, 2)) == TrackerErrorCode::kSlowDown);
  tracker.core.disconnected(1);
  CHECK(next_offset(tracker.put(small.id, small.file_bytes, 0, 1000, 2)) ==
        small.file_bytes.size());
}

TEST_CASE("a manifest whose parts stop coming makes room for others") {
  CoreOptions options;
  options.upload_bytes_total_max = 4000;
  options.upload_idle_max = std::chrono::seconds(30);
  HostingTracker tracker(options);
  const Manifest whole = manifest(2000);
  const Manifest small = manifest(10, "small");
  REQUIRE(next_offset(tracker.put(whole.id, whole.file_bytes, 0, 3900, 1)) == 3900);
  tracker.core.tick(std::chrono::seconds(30));
  CHECK(code(tracker.put(small.id, small.file_bytes, 0, 1000, 2)) == TrackerErrorCode::kSlowDown);
  tracker.core.tick(std::chrono::seconds(32));
  CHECK(next_offset(tracker.put(small.id, small.file_bytes, 0, 1000, 2)) ==
        small.file_bytes.size());
  CHECK(code(tracker.put(whole.id, whole.file_bytes, 3900, 100, 1)) ==
        TrackerErrorCode::kMalformed);
}

TEST_CASE("a manifest whose parts come too slowly makes room for others") {
  CoreOptions options;
  options.upload_bytes_total_max = 4000;
  options.upload_idle_max = std::chrono::seconds(30);
  options.upload_time_max = std::chrono::minutes(30);
  options.peer_ttl = std::chrono::hours(1);
  HostingTracker tracker(options);
  const Manifest whole = manifest(2000);
  const Manifest small = manifest(10, "small");
  std::uint64_t sent = 3900;
  REQUIRE(next_offset(tracker.put(whole.id, whole.file_bytes, 0, sent)) == sent);
  const auto one_more = [&](Time now) {
    tracker.core.tick(now);
    const TrackerManifestPut put{whole.id, whole.file_bytes.size(), sent,
                                 whole.file_bytes.substr(sent, 1)};
    return tracker.core.handle(1, put, now);
  };
  for (std::chrono::seconds now(25); now <= options.upload_time_max;
       now += std::chrono::seconds(25)) {
    REQUIRE(next_offset(one_more(now)) == sent + 1);
    ++sent;
  }
  CHECK(code(tracker.put(small.id, small.file_bytes, 0, 1000, 2)) == TrackerErrorCode::kSlowDown);
  CHECK(code(one_more(options.upload_time_max + std::chrono::seconds(2))) ==
        TrackerErrorCode::kMalformed);
  CHECK(tracker.core.fill().upload_bytes == 0);
  CHECK(next_offset(tracker.put(small.id, small.file_bytes, 0, 1000, 2)) ==
        small.file_bytes.size());
}

TEST_CASE("half-sent manifests of prefixes that sent most make room for one that sent less") {
  CoreOptions options;
  options.upload_bytes_total_max = 8000;
  options.upload_bytes_per_prefix_max = 4000;
  HostingTracker tracker(options);
  const Manifest whole = manifest(2000);
  const Manifest small = manifest(10, "small");
  for (ClientId client : {3, 4, 5}) {
    const std::string ip = "198.51." + std::to_string(client) + ".7";
    tracker.core.connected(client, peer_id(static_cast<std::uint32_t>(client)), ip, Time{0});
  }
  REQUIRE(next_offset(tracker.put(whole.id, whole.file_bytes, 0, 3900, 3)) == 3900);
  REQUIRE(next_offset(tracker.put(whole.id, whole.file_bytes, 0, 4000, 4)) == 4000);
  CHECK(next_offset(tracker.put(small.id, small.file_bytes, 0, 1000, 5)) ==
        small.file_bytes.size());
  // The larger one has gone, the other goes on.
  CHECK(code(tracker.put(whole.id, whole.file_bytes, 4000, 10, 4)) == TrackerErrorCode::kMalformed);
  CHECK(next_offset(tracker.put(whole.id, whole.file_bytes, 3900, 100, 3)) == 4000);
  // And is not pushed out by one that would send as much.
  REQUIRE(next_offset(tracker.put(whole.id, whole.file_bytes, 0, 4000, 4)) == 4000);
  CHECK(code(tracker.put(whole.id, whole.file_bytes, 0, 4000, 5)) == TrackerErrorCode::kSlowDown);
}

TEST_CASE("shards share the room for half-sent manifests, and each has a part of its own") {
  const Manifest whole = manifest(2000);
  const Manifest small = manifest(10, "small");
  CoreOptions options;
  options.upload_room = std::make_shared<UploadRoom>(6000, 2, 4000);  // parts of 1000
  HostingTracker one(options), other(options);
  REQUIRE(next_offset(one.put(whole.id, whole.file_bytes, 0, 5000)) == 5000);
  CHECK(code(other.put(whole.id, whole.file_bytes, 0, 1001)) == TrackerErrorCode::kSlowDown);
  REQUIRE(next_offset(other.put(whole.id, whole.file_bytes, 0, 1000)) == 1000);
  CHECK(code(one.put(small.id, small.file_bytes, 0, 1, 2)) == TrackerErrorCode::kSlowDown);
  one.core.disconnected(1);
  CHECK(one.core.fill().upload_bytes == 0);
  CHECK(next_offset(other.put(whole.id, whole.file_bytes, 1000, 4000)) == 5000);
  CHECK(next_offset(one.put(small.id, small.file_bytes, 0, 1000, 2)) == small.file_bytes.size());
}

TEST_CASE("the room for half-sent manifests is never more than was said") {
  for (const std::uint64_t largest : {1, 10, 30, 100, 300}) {
    for (const std::size_t shards : {1, 2, 3, 7, 64}) {
      CAPTURE(largest);
      CAPTURE(shards);
      const auto room = std::make_shared<UploadRoom>(100, shards, largest);
      std::deque<UploadShare> shares;
      for (std::size_t i = 0; i < shards; ++i) shares.emplace_back(room);
      const auto fill = [](UploadShare& share) {
        while (share.take(1)) {
        }
        return share.bytes();
      };
      CHECK(fill(shares.front()) >= std::min<std::uint64_t>(largest, 100));
      std::uint64_t sum = 0;
      for (UploadShare& share : shares) sum += fill(share);
      CHECK(sum == 100);
      for (UploadShare& share : shares) share.give_back(share.bytes());
      CHECK(fill(shares.back()) >= std::min<std::uint64_t>(largest, 100));
    }
  }
}

TEST_CASE("one network cannot take all the room for half-sent manifests") {
  CoreOptions options;
  options.upload_bytes_total_max = 8000;
  options.upload_bytes_per_prefix_max = 4000;
  HostingTracker tracker(options);
  const Manifest whole = manifest(2000);
  const Manifest small = manifest(10, "small");
  REQUIRE(next_offset(tracker.put(whole.id, whole.file_bytes, 0, 3900, 1)) == 3900);
  CHECK(code(tracker.put(small.id, small.file_bytes, 0, 1000, 2)) == TrackerErrorCode::kSlowDown);
  tracker.core.connected(3, PeerId{}, "198.51.100.7", Time{0});
  CHECK(next_offset(tracker.put(small.id, small.file_bytes, 0, 1000, 3)) ==
        small.file_bytes.size());
}

}  // namespace
}  // namespace firn::tracker::test
