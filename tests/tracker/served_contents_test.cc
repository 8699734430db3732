// Trackers that serve listed publishers or contents alone.
#include "tracker/served_contents.h"

#include <doctest/doctest.h>

#include "proto/base/limits.h"
#include "proto/content/sealed_manifest.h"
#include "tests/tracker/tracker_fixture.h"
#include "tracker/announce_core.h"
#include "tracker/registry_memory.h"

namespace firn::tracker::test {
namespace {

using proto::AnnounceReply;
using proto::TrackerError;
using proto::TrackerErrorCode;

Manifest signed_by_key(std::uint8_t fill, const std::string& name = "file") {
  return sign_manifest(manifest(4, name), key(fill).secret()).value();
}

ServedLists publishers(std::initializer_list<std::uint8_t> fills) {
  ServedLists lists;
  lists.publishers.emplace();
  for (const std::uint8_t fill : fills)
    lists.publishers->emplace(key(fill).public_key(), PublisherLimits());
  return lists;
}
ServedLists contents(std::initializer_list<ContentId> ids) {
  ServedLists lists;
  lists.contents.emplace(ids);
  return lists;
}

struct ServingTracker {
  explicit ServingTracker(ServedLists lists) : core(registry, {{.served = std::move(lists)}}, 1) {
    for (ClientId client : {1, 2})
      core.connected(client, peer_id(static_cast<std::uint32_t>(client)), "192.0.2.1", Time{0});
  }
  void serve(ServedLists lists) { core.change({.served = std::move(lists)}, Time{0}); }
  proto::TrackerReply announce(const ContentId& id, ClientId client = 1,
                               proto::AnnounceEvent event = {}) {
    return core.handle(client, proto::Announce{.content_id = id, .event = event, .listen_port = 1},
                       Time{0});
  }
  proto::TrackerReply put(const ContentId& id, const std::string& bytes) {
    return core.handle(1, proto::TrackerManifestPut{id, bytes.size(), 0, bytes}, Time{0});
  }
  proto::TrackerReply get(const ContentId& id) {
    return core.handle(2, proto::TrackerManifestGet{id, 0}, Time{0});
  }

  MemoryRegistry registry;
  AnnounceCore core;
};

bool refused(const proto::TrackerReply& reply) {
  const auto* error = std::get_if<TrackerError>(&reply);
  if (error == nullptr) return false;
  CHECK(error->detail.size() <= limits::kReasonBytesMax);
  CHECK(error->detail.find("another tracker") != std::string::npos);
  return error->code == TrackerErrorCode::kNotAllowed;
}
bool kept(const proto::TrackerReply& reply) {
  return std::holds_alternative<proto::TrackerManifestPutReply>(reply);
}
bool taken(const proto::TrackerReply& reply) {
  return std::holds_alternative<AnnounceReply>(reply);
}

TEST_CASE("where publishers are listed a content is served once its manifest shows one of them") {
  ServingTracker tracker(publishers({1, 2}));
  const Manifest known = signed_by_key(2), unknown = signed_by_key(3, "other");
  const Manifest nobodys = manifest(4, "nobody's");
  CHECK(refused(tracker.announce(known.id)));
  CHECK(tracker.registry.counts(known.id) == SwarmCounts{});
  CHECK(kept(tracker.put(known.id, known.file_bytes)));  // without an announce before
  CHECK(taken(tracker.announce(known.id)));
  CHECK(taken(tracker.announce(known.id, 2)));
  CHECK(std::holds_alternative<proto::ManifestPart>(tracker.get(known.id)));
  for (const Manifest& other : {unknown, nobodys}) {
    CHECK(refused(tracker.put(other.id, other.file_bytes)));
    CHECK(refused(tracker.announce(other.id)));
    CHECK(refused(tracker.get(other.id)));
    CHECK_FALSE(tracker.registry.has_manifest(other.id));
  }
}

TEST_CASE("a listed key that a manifest only names as its authority does not count") {
  Info info = firn::test::info_of_shape(1, 1, 4);
  info.authority_key = std::string(key(1).public_key().raw());
  const Manifest with_authority = make_manifest(info, {}).value();
  ServingTracker tracker(publishers({1}));
  CHECK(refused(tracker.put(with_authority.id, with_authority.file_bytes)));
  CHECK(refused(tracker.announce(with_authority.id)));
}

TEST_CASE("another list takes effect for contents that are hosted already, and back") {
  ServingTracker tracker({});
  const Manifest known = signed_by_key(1);
  CHECK(taken(tracker.announce(known.id)));
  CHECK(kept(tracker.put(known.id, known.file_bytes)));
  tracker.serve(publishers({2}));
  CHECK(refused(tracker.announce(known.id)));
  CHECK(refused(tracker.get(known.id)));
  CHECK(taken(tracker.announce(known.id, 1, proto::AnnounceEvent::kStopped)));
  CHECK(tracker.registry.counts(known.id) == SwarmCounts{});
  tracker.serve(publishers({2, 1}));
  CHECK(taken(tracker.announce(known.id)));
  tracker.serve(contents({}));
  CHECK(refused(tracker.announce(known.id)));
}

TEST_CASE("a manifest that is signed by a listed key takes the place of one that is not") {
  ServingTracker tracker({});
  const Manifest nobodys = manifest(4), known = signed_by_key(1, "file");
  REQUIRE(nobodys.id == known.id);
  CHECK(taken(tracker.announce(known.id)));
  CHECK(kept(tracker.put(nobodys.id, nobodys.file_bytes)));
  tracker.serve(publishers({1}));
  CHECK(refused(tracker.announce(known.id)));
  CHECK(refused(tracker.put(nobodys.id, nobodys.file_bytes)));
  CHECK(kept(tracker.put(known.id, known.file_bytes)));
  CHECK(taken(tracker.announce(known.id)));
  CHECK(std::get<proto::ManifestPart>(tracker.get(known.id)).total_bytes ==
        known.file_bytes.size());
}

TEST_CASE("a closed tracker serves what is listed, whoever published it") {
  const Manifest listed = manifest(4), other = signed_by_key(1, "other");
  ServingTracker tracker(contents({listed.id}));
  CHECK(taken(tracker.announce(listed.id)));
  CHECK(kept(tracker.put(listed.id, listed.file_bytes)));
  CHECK(refused(tracker.announce(other.id)));
  CHECK(refused(tracker.put(other.id, other.file_bytes)));
  // With a list of publishers either admits.
  ServedLists both = publishers({1});
  both.contents = contents({listed.id}).contents;
  tracker.serve(std::move(both));
  CHECK(taken(tracker.announce(listed.id)));
  CHECK(kept(tracker.put(other.id, other.file_bytes)));
  CHECK(taken(tracker.announce(other.id)));
}

TEST_CASE("a sealed manifest is hosted for the key that it is named by, and where it is listed") {
  const SigningKey rendezvous_key = key(9);
  const ContentId rendezvous = *ContentId::from_bytes(rendezvous_key.public_key().raw());
  std::string sealed(kSealedMagic);
  sealed.resize((64 << 10) - kSignatureBytes, 'x');
  sealed += *sign(sealed_message(sealed), rendezvous_key.secret());

  ServingTracker open({});
  CHECK(taken(open.announce(rendezvous)));
  std::string forged = sealed;
  forged[100] = 'y';
  CHECK(std::get<TrackerError>(open.put(rendezvous, forged)).code == TrackerErrorCode::kMalformed);
  CHECK(kept(open.put(rendezvous, sealed)));
  CHECK(taken(open.announce(content(1))));
  CHECK(std::get<TrackerError>(open.put(content(1), sealed)).code == TrackerErrorCode::kMalformed);

  ServingTracker closed(contents({rendezvous}));
  CHECK(taken(closed.announce(rendezvous)));
  CHECK(kept(closed.put(rendezvous, sealed)));
  ServingTracker known(publishers({9}));  // nobody can see whose it is
  CHECK(refused(known.put(rendezvous, sealed)));
}

}  // namespace
}  // namespace firn::tracker::test
