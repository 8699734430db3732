// Listed publishers with bounds: on contents, on bytes of manifests, on peers.
#include "tracker/publisher_quotas.h"

#include <doctest/doctest.h>

#include <string>

#include "proto/base/limits.h"
#include "tests/tracker/tracker_fixture.h"
#include "tracker/announce_core.h"
#include "tracker/registry_memory.h"
#include "tracker/registry_sqlite.h"

namespace firn::tracker::test {
namespace {

using namespace std::chrono_literals;
using proto::TrackerError;
using proto::TrackerErrorCode;

Manifest signed_by(std::uint8_t fill, const std::string& name, std::uint32_t generations = 4) {
  return sign_manifest(manifest(generations, name), key(fill).secret()).value();
}
ServedLists bounded(const PublisherLimits& limits) {
  ServedLists lists;
  lists.publishers = {{key(1).public_key(), limits}, {key(2).public_key(), {}}};
  return lists;
}

// A core with its registry, and clients by number.
struct Shard {
  Shard(Registry& behind, ServedLists lists, std::shared_ptr<PublisherLedger> ledger = nullptr)
      : registry(behind), core(behind, options(std::move(lists), std::move(ledger)), 1) {
    for (ClientId client = 1; client <= 20; ++client)
      core.connected(client, peer_id(static_cast<std::uint32_t>(client)), "192.0.2.1", now);
  }
  static CoreOptions options(ServedLists lists, std::shared_ptr<PublisherLedger> ledger) {
    CoreOptions options;
    options.served = std::move(lists);
    options.ledger = std::move(ledger);
    return options;
  }
  std::optional<TrackerError> error_of(const proto::TrackerReply& reply) {
    if (const auto* error = std::get_if<TrackerError>(&reply)) return *error;
    return std::nullopt;
  }
  std::optional<TrackerError> put(const Manifest& one) {
    const std::string& bytes = one.file_bytes;
    return error_of(core.handle(1, proto::TrackerManifestPut{one.id, bytes.size(), 0, bytes}, now));
  }
  std::optional<TrackerError> announce(const Manifest& one, ClientId client,
                                       proto::AnnounceEvent event = {}) {
    return error_of(core.handle(
        client, proto::Announce{.content_id = one.id, .event = event, .listen_port = 1}, now));
  }
  PublisherUse use(std::uint8_t fill = 1) {
    const Snapshot snapshot = core.snapshot();
    for (const auto& line : snapshot.publishers)
      if (line.key == key(fill).public_key()) return line.use;
    return {};
  }

  Registry& registry;
  AnnounceCore core;
  Time now{1000};
};

struct QuotaTracker {
  explicit QuotaTracker(const PublisherLimits& limits) : shard(registry, bounded(limits)) {}
  MemoryRegistry registry;
  Shard shard;
};

void check_not_allowed(const std::optional<TrackerError>& refused, const char* why) {
  REQUIRE(refused);
  CHECK(refused->code == TrackerErrorCode::kNotAllowed);
  CHECK(refused->detail.find(why) != std::string::npos);
  CHECK(refused->detail.size() <= limits::kReasonBytesMax);
}

TEST_CASE("a publisher at its bound of contents is refused another, and others are not") {
  QuotaTracker tracker({.contents = 2});
  Shard& shard = tracker.shard;
  for (const char* name : {"a", "b"}) {
    CHECK_FALSE(shard.put(signed_by(1, name)));
    CHECK_FALSE(shard.announce(signed_by(1, name), 1));
  }
  CHECK(shard.use().contents == 2);
  check_not_allowed(shard.put(signed_by(1, "c")), "2 contents");
  CHECK_FALSE(shard.put(signed_by(2, "d")));
  CHECK_FALSE(shard.put(signed_by(1, "a")));  // is there
  CHECK(shard.use().contents == 2);
}

TEST_CASE("of a publisher at its bound the content without peers gives way that is known longest") {
  QuotaTracker tracker({.contents = 3});
  Shard& shard = tracker.shard;
  for (const char* name : {"a", "b", "c"}) CHECK_FALSE(shard.put(signed_by(1, name)));
  CHECK_FALSE(shard.announce(signed_by(1, "a"), 1));
  CHECK_FALSE(shard.put(signed_by(1, "d")));
  CHECK(shard.registry.has_manifest(signed_by(1, "a").id));
  CHECK_FALSE(shard.registry.has_manifest(signed_by(1, "b").id));
  CHECK(shard.registry.has_manifest(signed_by(1, "c").id));
  CHECK(shard.use().contents == 3);
  REQUIRE(shard.announce(signed_by(1, "b"), 2));  // it is not served any more
}

TEST_CASE("bytes of manifests have a bound, and one alone that is larger is refused") {
  const Manifest first = signed_by(1, "a", 10);
  const std::uint64_t bytes = first.file_bytes.size();
  QuotaTracker tracker({.manifest_bytes = bytes + bytes / 2});
  Shard& shard = tracker.shard;
  CHECK_FALSE(shard.put(first));
  CHECK(shard.use().manifest_bytes == bytes);
  CHECK_FALSE(shard.announce(first, 1));
  check_not_allowed(shard.put(signed_by(1, "b", 10)), "bytes of manifests");
  check_not_allowed(shard.put(signed_by(1, "c", 40)), "this one has more");
  CHECK_FALSE(shard.announce(first, 1, proto::AnnounceEvent::kStopped));
  CHECK_FALSE(shard.put(signed_by(1, "b", 10)));
  CHECK_FALSE(shard.registry.has_manifest(first.id));
}

TEST_CASE("no manifest gives way for one that is refused all the same") {
  const Manifest small = signed_by(1, "small", 4), large = signed_by(1, "large", 40);
  QuotaTracker tracker({.manifest_bytes = large.file_bytes.size() + small.file_bytes.size()});
  Shard& shard = tracker.shard;
  CHECK_FALSE(shard.put(small));
  CHECK_FALSE(shard.put(large));
  CHECK_FALSE(shard.announce(large, 1));
  check_not_allowed(shard.put(signed_by(1, "other", 20)), "bytes of manifests");
  CHECK(shard.registry.has_manifest(small.id));
  CHECK_FALSE(shard.put(signed_by(1, "other", 4)));
  CHECK_FALSE(shard.registry.has_manifest(small.id));
}

TEST_CASE("a manifest that another peer put first needs no room of its publisher") {
  QuotaTracker tracker({.contents = 1});
  Shard& shard = tracker.shard;
  const Manifest one = signed_by(1, "a");
  const std::string& bytes = one.file_bytes;
  const auto put_part = [&](std::size_t from, std::size_t count) {
    return shard.error_of(
        shard.core.handle(2,
                          proto::TrackerManifestPut{one.id, bytes.size(), from,
                                                    bytes.substr(from, count), key(1).public_key()},
                          shard.now));
  };
  CHECK_FALSE(put_part(0, 10));
  CHECK_FALSE(shard.put(one));
  CHECK_FALSE(shard.announce(one, 1));
  // The rest of the upload is not asked for: the tracker says that it has the manifest.
  CHECK_FALSE(put_part(10, bytes.size() - 10));
  CHECK(shard.use().contents == 1);
}

TEST_CASE("peers over all contents of a publisher have a bound; those within it are served on") {
  QuotaTracker tracker({.peers = 3});
  Shard& shard = tracker.shard;
  const Manifest a = signed_by(1, "a"), b = signed_by(1, "b"), other = signed_by(2, "c");
  for (const Manifest& one : {a, b, other}) CHECK_FALSE(shard.put(one));
  CHECK_FALSE(shard.announce(a, 1));
  CHECK_FALSE(shard.announce(a, 2));
  CHECK_FALSE(shard.announce(b, 3));
  const auto refused = shard.announce(b, 4);
  REQUIRE(refused);
  CHECK(refused->code == TrackerErrorCode::kSlowDown);
  CHECK(refused->retry_seconds == 60);
  CHECK(refused->detail.find("3 peers") != std::string::npos);
  CHECK(shard.registry.counts(b.id).size() == 1);
  CHECK_FALSE(shard.announce(a, 1));
  CHECK_FALSE(shard.announce(other, 4));
  CHECK(shard.use().peers == 3);
  // One leaves: that is seen within a second.
  CHECK_FALSE(shard.announce(a, 2, proto::AnnounceEvent::kStopped));
  shard.now += 2s;
  CHECK_FALSE(shard.announce(b, 4));
  CHECK(shard.announce(a, 5));
}

TEST_CASE("other bounds hold from the moment when they are given, and take nothing away") {
  QuotaTracker tracker({});
  Shard& shard = tracker.shard;
  for (const char* name : {"a", "b", "c"}) {
    CHECK_FALSE(shard.put(signed_by(1, name)));
    CHECK_FALSE(shard.announce(signed_by(1, name), 1));
  }
  shard.core.change({.served = bounded({.contents = 2, .peers = 2})}, shard.now);
  CHECK(shard.use().contents == 3);
  CHECK(shard.use().peers == 3);
  for (const char* name : {"a", "b", "c"}) CHECK_FALSE(shard.announce(signed_by(1, name), 1));
  CHECK(shard.announce(signed_by(1, "a"), 2));
  CHECK(shard.put(signed_by(1, "d")));
  shard.core.change({.served = bounded({.contents = 4})}, shard.now);
  CHECK_FALSE(shard.announce(signed_by(1, "a"), 2));
  CHECK_FALSE(shard.put(signed_by(1, "d")));
}

TEST_CASE("a bound holds for all shards together") {
  const auto ledger = std::make_shared<PublisherLedger>();
  MemoryRegistry first_registry, second_registry;
  Shard first(first_registry, bounded({.contents = 2, .peers = 2}), ledger);
  Shard second(second_registry, bounded({.contents = 2, .peers = 2}), ledger);
  const Manifest a = signed_by(1, "a"), b = signed_by(1, "b");
  CHECK_FALSE(first.put(a));
  CHECK_FALSE(first.announce(a, 1));
  CHECK_FALSE(second.put(b));
  CHECK_FALSE(second.announce(b, 2));
  CHECK(first.use() == PublisherUse{2, a.file_bytes.size() + b.file_bytes.size(), 2});
  CHECK(second.core.snapshot().publishers.empty());  // the first tells of all
  CHECK(first.put(signed_by(1, "c")));
  CHECK(second.announce(b, 3));
}

TEST_CASE("what was hosted before a start is counted from the start") {
  TemporaryFolder folder;
  const std::string path = folder.path / "t.sqlite";
  const auto open = [&path] { return SqliteRegistry::open(path, Time{0}).value(); };
  {
    const auto registry = open();
    Shard shard(*registry, bounded({}));
    for (int i = 0; i < 60; ++i) CHECK_FALSE(shard.put(signed_by(1, std::to_string(i))));
  }
  const auto registry = open();
  Shard shard(*registry, bounded({.contents = 60}));
  CHECK(shard.use().contents == 60);
  CHECK_FALSE(shard.put(signed_by(1, "another")));  // for one that has no peer
  CHECK(shard.use().contents == 60);
}

TEST_CASE("counting the hosted manifests does not count as their use") {
  MemoryRegistry registry;
  const Manifest a = signed_by(1, "a"), b = signed_by(1, "b");
  for (const Manifest& one : {b, a})
    REQUIRE(registry.put_manifest(one.id, "192.0.2", one.file_bytes).ok());
  const PublicKey signer = key(1).public_key();
  REQUIRE(registry.manifest_part({b.id, signer}, 0, 1).ok());  // is used last
  Shard shard(registry, bounded({}));
  CHECK_FALSE(shard.announce(b, 1));
  shard.core.tick(shard.now += 1s);
  CHECK(shard.use().contents == 2);
  CHECK(registry.hosted_manifests() == std::vector<Envelope>{{a.id, signer}, {b.id, signer}});
}

TEST_CASE("manifests that gave way to others in the registry are counted no more") {
  RegistryLimits few;
  few.manifest_count_max = 4;
  few.manifest_shares = 1;
  MemoryRegistry registry(few);
  Shard shard(registry, bounded({}));
  for (int i = 0; i < 4; ++i) CHECK_FALSE(shard.put(signed_by(1, std::to_string(i))));
  CHECK_FALSE(shard.put(signed_by(2, "another")));
  shard.core.tick(shard.now += 1s);
  CHECK(shard.use().contents == 3);
  CHECK(shard.use(2).contents == 1);
}

}  // namespace
}  // namespace firn::tracker::test
