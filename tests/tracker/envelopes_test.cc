// Several envelopes of one content's manifest: which are kept, and what publishers and strangers
// are told of theirs.
#include <doctest/doctest.h>

#include <string>

#include "tests/tracker/tracker_fixture.h"
#include "tracker/announce_core.h"
#include "tracker/registry_memory.h"
#include "tracker/registry_sqlite.h"

namespace firn::tracker::test {
namespace {

using proto::TrackerError;
using proto::TrackerErrorCode;

const Manifest& unsigned_one() {
  static const Manifest made = manifest(4);
  return made;
}

Manifest envelope_by(std::uint8_t fill) {
  return sign_manifest(unsigned_one(), key(fill).secret()).value();
}
PublicKey signer_of(std::uint8_t fill) {
  return key(fill).public_key();
}

// A tracker and what clients of it say; client N comes from prefix 198.51.N.
struct EnvelopeTracker {
  explicit EnvelopeTracker(Registry& behind) : registry(behind), core(behind, {}, 1) {}

  void meet(ClientId client) {
    if (core.knows(client)) return;
    core.connected(client, peer_id(static_cast<std::uint32_t>(client)),
                   "198.51." + std::to_string(client) + ".7", Time{0});
  }
  // What the tracker says of the manifest in the signer's envelope, or in any.
  bool has(ClientId client, const std::optional<PublicKey>& signer) {
    meet(client);
    const proto::Announce announce{
        .content_id = unsigned_one().id, .listen_port = 1, .signer = signer};
    return std::get<proto::AnnounceReply>(core.handle(client, announce, Time{0})).has_manifest;
  }
  proto::TrackerReply put_first(ClientId client, const std::string& bytes, std::size_t count,
                                const std::optional<PublicKey>& signer = {}) {
    (void)has(client, {});
    return core.handle(client,
                       proto::TrackerManifestPut{unsigned_one().id, bytes.size(), 0,
                                                 bytes.substr(0, count), signer},
                       Time{0});
  }
  // Whether the answer says that it is kept.
  bool put(ClientId client, const Manifest& whole, const std::optional<PublicKey>& signer = {}) {
    const std::string& bytes = whole.file_bytes;
    const auto reply = put_first(client, bytes, bytes.size(), signer);
    const auto* kept = std::get_if<proto::TrackerManifestPutReply>(&reply);
    return kept && kept->next_offset == bytes.size();
  }
  bool put(ClientId client, std::uint8_t fill) {
    return put(client, envelope_by(fill), signer_of(fill));
  }
  // Empty if there is none.
  std::string got(const std::optional<PublicKey>& signer) {
    meet(99);
    auto reply = core.handle(99, proto::TrackerManifestGet{unsigned_one().id, 0, signer}, Time{0});
    if (auto* part = std::get_if<proto::ManifestPart>(&reply)) return part->data;
    CHECK(std::get<TrackerError>(reply).code == TrackerErrorCode::kUnknownContent);
    return {};
  }

  Registry& registry;
  AnnounceCore core;
};

TEST_CASE("a stranger's copy without the signature does not keep the publisher's away") {
  MemoryRegistry registry;
  EnvelopeTracker tracker(registry);
  REQUIRE(tracker.put(1, unsigned_one()));
  CHECK(tracker.has(3, {}));
  CHECK_FALSE(tracker.has(2, signer_of(1)));
  REQUIRE(tracker.put(2, 1));
  CHECK(tracker.has(2, signer_of(1)));
  CHECK(tracker.got(signer_of(1)) == envelope_by(1).file_bytes);
  CHECK(tracker.got({}) == unsigned_one().file_bytes);
  CHECK(tracker.got(signer_of(2)).empty());
}

TEST_CASE("an answer never says that an envelope is kept which is not") {
  MemoryRegistry registry;
  EnvelopeTracker tracker(registry);
  REQUIRE(tracker.put(1, 9));
  const std::string& bytes = envelope_by(1).file_bytes;
  SUBCASE("its sender names the signer") {
    const auto reply = tracker.put_first(2, bytes, 10, signer_of(1));
    CHECK(std::get<proto::TrackerManifestPutReply>(reply).next_offset == 10);
    CHECK(tracker.put(2, 1));
  }
  SUBCASE("its sender does not, as those of an earlier version") {
    const auto reply = tracker.put_first(2, bytes, 10);
    CHECK(std::get<proto::TrackerManifestPutReply>(reply).next_offset == 10);
    CHECK(tracker.put(2, envelope_by(1)));
  }
  CHECK(tracker.got(signer_of(1)) == bytes);
  const auto again = tracker.put_first(3, bytes, 10, signer_of(1));
  CHECK(std::get<proto::TrackerManifestPutReply>(again).next_offset == bytes.size());
}

TEST_CASE("eight junk signers of one prefix push out nobody else's envelope") {
  MemoryRegistry registry;
  EnvelopeTracker tracker(registry);
  SUBCASE("the publisher came first") {
    REQUIRE(tracker.put(1, 1));
    for (std::uint8_t junk = 11; junk <= 18; ++junk) CHECK(tracker.put(2, junk));
  }
  SUBCASE("the publisher comes last") {
    for (std::uint8_t junk = 11; junk <= 18; ++junk) CHECK(tracker.put(2, junk));
    CHECK_FALSE(tracker.has(1, signer_of(1)));
    REQUIRE(tracker.put(1, 1));
    for (std::uint8_t junk = 21; junk <= 28; ++junk) CHECK(tracker.put(2, junk));
  }
  CHECK(tracker.has(1, signer_of(1)));
  CHECK(tracker.got(signer_of(1)) == envelope_by(1).file_bytes);
  CHECK(registry.signers_of(unsigned_one().id).size() == 4);
  // Others want the place: one is left of the prefix.
  for (std::uint8_t other = 3; other <= 4; ++other) CHECK(tracker.put(other, other));
  CHECK(registry.signers_of(unsigned_one().id).size() == 4);
  for (const std::uint8_t kept : {1, 3, 4})
    CHECK(registry.hosts({unsigned_one().id, signer_of(kept)}));
}

TEST_CASE("of eight junk signers of four prefixes the publisher hears, and puts its own again") {
  MemoryRegistry registry;
  EnvelopeTracker tracker(registry);
  REQUIRE(tracker.put(1, 1));
  for (std::uint8_t junk = 0; junk < 8; ++junk)
    CHECK(tracker.put(2 + junk % 4u, static_cast<std::uint8_t>(11 + junk)));
  CHECK_FALSE(tracker.has(1, signer_of(1)));
  REQUIRE(tracker.put(1, 1));
  CHECK(tracker.got(signer_of(1)) == envelope_by(1).file_bytes);
  CHECK(registry.signers_of(unsigned_one().id).size() == 4);
}

TEST_CASE("of envelopes of as many prefixes an unsigned one goes first, then the first kept") {
  MemoryRegistry registry;
  EnvelopeTracker tracker(registry);
  REQUIRE(tracker.put(1, 1));
  REQUIRE(tracker.put(2, 2));
  REQUIRE(tracker.put(3, unsigned_one()));
  REQUIRE(tracker.put(4, 4));
  REQUIRE(tracker.put(5, 5));
  CHECK(registry.signers_of(unsigned_one().id) ==
        std::vector{signer_of(1), signer_of(2), signer_of(4), signer_of(5)});
  CHECK(!tracker.got(signer_of(1)).empty());  // use does not count
  REQUIRE(tracker.put(6, 6));
  CHECK(registry.signers_of(unsigned_one().id) ==
        std::vector{signer_of(2), signer_of(4), signer_of(5), signer_of(6)});
}

TEST_CASE("envelopes of a content are kept over a restart, in the order in which they came") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "t.sqlite";
  {
    const auto registry = SqliteRegistry::open(path, Time{0}).value();
    EnvelopeTracker tracker(*registry);
    for (std::uint8_t number = 1; number <= 5; ++number) REQUIRE(tracker.put(number, number));
    CHECK(!tracker.got(signer_of(2)).empty());  // is used last
  }
  const auto registry = SqliteRegistry::open(path, Time{0}).value();
  EnvelopeTracker tracker(*registry);
  CHECK_FALSE(tracker.has(1, signer_of(1)));
  CHECK(tracker.got(signer_of(3)) == envelope_by(3).file_bytes);
  REQUIRE(tracker.put(6, 6));
  CHECK(registry->signers_of(unsigned_one().id) ==
        std::vector{signer_of(3), signer_of(4), signer_of(5), signer_of(6)});
  REQUIRE(registry->remove_manifest({unsigned_one().id, signer_of(4)}).ok());
  CHECK(tracker.got(signer_of(4)).empty());
  CHECK(registry->hosted_manifests().size() == 3);
}

TEST_CASE("a database of version 2 keeps its manifests, and learns who signed them") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "t.sqlite";
  {
    auto database = Database::open(path).value();
    REQUIRE(database
                .execute("CREATE TABLE peer(content BLOB NOT NULL, id BLOB NOT NULL, ip TEXT NOT "
                         "NULL, port INTEGER NOT NULL, complete INTEGER NOT NULL, PRIMARY "
                         "KEY(content, id)) WITHOUT ROWID; CREATE TABLE manifest(number INTEGER "
                         "PRIMARY KEY, content BLOB NOT NULL UNIQUE, network TEXT NOT NULL, used "
                         "INTEGER NOT NULL, bytes BLOB NOT NULL); PRAGMA user_version=2")
                .ok());
    auto insert = database.prepare("INSERT INTO manifest VALUES(NULL, ?, 'net', ?, ?)").value();
    const Manifest one = envelope_by(1), other = manifest(4, "other");
    for (const Manifest& manifest : {one, other})
      REQUIRE(insert.bind_bytes(1, manifest.id.raw())
                  .bind(2, 1)
                  .bind_bytes(3, manifest.file_bytes)
                  .run()
                  .ok());
  }
  const auto registry = SqliteRegistry::open(path, Time{0}).value();
  EnvelopeTracker tracker(*registry);
  CHECK(tracker.got(signer_of(1)) == envelope_by(1).file_bytes);
  CHECK(registry->hosted({unsigned_one().id, signer_of(1)})->prefix == "net");
  CHECK(registry->hosts(manifest(4, "other").id));
}

TEST_CASE("a tracker for known publishers hands out the envelope of one of them") {
  MemoryRegistry registry;
  {
    EnvelopeTracker before(registry);
    REQUIRE(before.put(1, 9));
  }
  EnvelopeTracker tracker(registry);
  CoreRules rules;
  rules.served.publishers = PublisherList{{signer_of(1), {}}};
  tracker.core.change(rules, Time{0});
  tracker.meet(1);
  const std::string& bytes = envelope_by(1).file_bytes;
  const proto::TrackerManifestPut put{unsigned_one().id, bytes.size(), 0, bytes, signer_of(1)};
  REQUIRE(
      std::holds_alternative<proto::TrackerManifestPutReply>(tracker.core.handle(1, put, Time{0})));
  CHECK(tracker.got({}) == bytes);
}

}  // namespace
}  // namespace firn::tracker::test
