#include <doctest/doctest.h>

#include "client/app/net/tracker_client.h"
#include "proto/base/limits.h"
#include "tests/app/net/fake_transport.h"

namespace firn::app {
namespace {

using tests::FakeTransport;

struct Listener final : TrackerEvents {
  int replies = 0;
  std::vector<Error> failures;
  std::vector<std::uint32_t> retries;
  std::vector<Result<std::string>> manifests;
  std::vector<Address> pinned;

  void tracker_replied(std::size_t, const proto::AnnounceReply&) override { ++replies; }
  void tracker_failed(std::size_t, const Error& error, std::uint32_t retry) override {
    failures.push_back(error);
    retries.push_back(retry);
  }
  void tracker_manifest(std::size_t, Result<std::shared_ptr<ManifestSpool>> bytes) override {
    if (bytes.ok())
      manifests.push_back(std::string((*bytes)->bytes().value()));
    else
      manifests.push_back(bytes.error());
  }
  void tracker_key_seen(std::size_t, const Address& address) override { pinned.push_back(address); }
};

struct Fixture {
  FakeTransport transport;
  TransportInbox inbox{1 << 20, [] {}};
  tests::NoContents contents;
  Connections connections{inbox, contents};
  Listener listener;
  core::TimeUs now = 0;
  TrackerClient client{connections, 0, {{}, "tracker", 99}, {}, listener};

  Fixture() {
    inbox.attach(&transport);
    connections.attach(transport);
  }
  void open() {
    proto::transport::PeerInfo info;
    info.outgoing = true;
    info.id.bytes.fill(3);
    connections.handle(ConnectionOpened{transport.last, info}, now);
  }
  void reply(proto::TrackerReply reply) {
    connections.handle(ReplyArrived{transport.last, std::move(reply)}, now);
  }
  void lose(ErrorCode code) {
    connections.handle(ConnectionClosed{transport.last, {code, "lost", ""}}, now);
  }
  std::size_t requests() { return transport.sent[transport.last].size(); }
  template <typename T>
  T request(std::size_t index) {
    return std::get<T>(transport.request(transport.last, index));
  }
};

TEST_CASE("an announce connects, asks and tells the reply; the next one uses the same connection") {
  Fixture f;
  f.client.announce({}, f.now);
  CHECK(f.transport.dialled.size() == 1);
  CHECK(f.requests() == 0);
  f.open();
  REQUIRE(f.requests() == 1);
  f.reply(proto::AnnounceReply{});
  CHECK(f.listener.replies == 1);
  CHECK(f.client.idle());
  CHECK(f.client.next_wake() == core::kNever);
  f.client.announce({}, f.now);
  CHECK(f.requests() == 2);
  CHECK(f.transport.dialled.size() == 1);
}

TEST_CASE("a tracker that refuses an announce gets to see the manifest first, and is asked again") {
  Fixture f;
  f.client.offer_manifest("manifest");
  f.client.announce({}, f.now);
  f.open();
  const proto::TrackerError refusal{proto::TrackerErrorCode::kNotAllowed, "known publishers", 0};
  f.reply(refusal);
  REQUIRE(f.requests() == 2);
  CHECK(f.request<proto::TrackerManifestPut>(1).data == "manifest");
  SUBCASE("it knows the publisher") {
    f.reply(proto::TrackerManifestPutReply{8});
    REQUIRE(f.requests() == 3);
    CHECK(std::holds_alternative<proto::Announce>(f.transport.request(f.transport.last, 2)));
    proto::AnnounceReply taken;
    taken.has_manifest = true;
    f.reply(taken);
    CHECK(f.listener.replies == 1);
    CHECK_FALSE(f.client.refused());
  }
  SUBCASE("it does not") {
    f.reply(refusal);
    CHECK(f.requests() == 2);  // the announce fails with the manifest
    REQUIRE(f.listener.failures.size() == 1);
    CHECK(f.listener.failures[0].detail == "known publishers");
    CHECK(f.client.refused());
  }
  SUBCASE("it knows the publisher of another content") {
    f.reply(proto::TrackerManifestPutReply{8});
    f.reply(refusal);
    REQUIRE(f.listener.failures.size() == 1);
    CHECK(f.client.refused());
  }
  SUBCASE("it is busy") {
    f.reply(proto::TrackerError{proto::TrackerErrorCode::kSlowDown, "too many manifests", 7});
    REQUIRE(f.listener.failures.size() == 1);
    CHECK(f.listener.failures[0].detail == "too many manifests");
    CHECK_FALSE(f.client.refused());
  }
  CHECK(f.client.idle());
}

TEST_CASE("the first key seen is reported and asked for afterwards") {
  Fixture f;
  f.client.announce({}, f.now);
  f.open();
  f.reply(proto::AnnounceReply{});
  REQUIRE(f.listener.pinned.size() == 1);
  PeerId seen;
  seen.bytes.fill(3);
  CHECK(f.listener.pinned[0].id == seen);
  f.lose(ErrorCode::kIo);
  f.client.announce({}, f.now);
  REQUIRE(f.transport.dialled.size() == 2);
  CHECK_FALSE(f.transport.dialled[0].id.has_value());
  CHECK(f.transport.dialled[1].id == seen);
  f.open();
  CHECK(f.listener.pinned.size() == 1);  // said once
}

TEST_CASE("a tracker that cannot be reached is a failure, with its code") {
  Fixture f;
  f.client.announce({}, f.now);
  f.lose(ErrorCode::kWrongIdentity);
  REQUIRE(f.listener.failures.size() == 1);
  CHECK(f.listener.failures[0].code == ErrorCode::kWrongIdentity);
  CHECK(f.client.idle());
}

TEST_CASE("a tracker that does not answer within 15 seconds has failed") {
  Fixture f;
  f.client.announce({}, f.now);
  f.open();
  CHECK(f.client.next_wake() == TrackerClient::kTimeout);
  f.client.wake(TrackerClient::kTimeout - 1);
  CHECK(f.listener.failures.empty());
  f.client.wake(TrackerClient::kTimeout);
  REQUIRE(f.listener.failures.size() == 1);
  CHECK(f.listener.failures[0].code == ErrorCode::kUnreachable);
  CHECK(f.transport.closed.contains(f.transport.last));
}

TEST_CASE("a kept connection that was closed for idleness is made anew without a failure") {
  Fixture f;
  f.client.announce({}, f.now);
  f.open();
  f.reply(proto::AnnounceReply{});
  f.client.announce({}, f.now);  // crosses with the tracker's close
  f.lose(ErrorCode::kIo);
  CHECK(f.listener.failures.empty());
  CHECK(f.transport.dialled.size() == 2);
  f.open();
  CHECK(f.requests() == 1);
  f.lose(ErrorCode::kIo);  // a fresh one that is lost is a failure
  CHECK(f.listener.failures.size() == 1);
}

TEST_CASE("a tracker's error tells when to come back") {
  Fixture f;
  f.client.announce({}, f.now);
  f.open();
  f.reply(proto::TrackerError{proto::TrackerErrorCode::kSlowDown, "busy", 77});
  REQUIRE(f.listener.failures.size() == 1);
  CHECK(f.listener.retries[0] == 77);
  CHECK(f.listener.failures[0].detail == "busy");
}

TEST_CASE("a manifest is put in parts to a tracker that lacks it, and only to such") {
  Fixture f;
  const std::string manifest(limits::kManifestPartBytes + 100, 'm');
  f.client.offer_manifest(manifest);
  f.client.announce({}, f.now);
  f.open();
  proto::AnnounceReply reply;
  reply.has_manifest = true;
  f.reply(reply);
  CHECK(f.requests() == 1);

  f.client.announce({}, f.now);
  reply.has_manifest = false;
  f.reply(reply);
  REQUIRE(f.requests() == 3);
  const auto first = f.request<proto::TrackerManifestPut>(2);
  CHECK(first.total_bytes == manifest.size());
  CHECK(first.offset == 0);
  CHECK(first.data.size() == limits::kManifestPartBytes);
  f.reply(proto::TrackerManifestPutReply{limits::kManifestPartBytes});
  REQUIRE(f.requests() == 4);
  const auto second = f.request<proto::TrackerManifestPut>(3);
  CHECK(second.offset == limits::kManifestPartBytes);
  CHECK(second.data.size() == 100);
  f.reply(proto::TrackerManifestPutReply{manifest.size()});
  CHECK(f.client.idle());
  CHECK(f.listener.failures.empty());
}

TEST_CASE("a tracker is offered a manifest again after a time for each byte that it was sent") {
  constexpr std::size_t kPart = limits::kManifestPartBytes;
  constexpr core::TimeUs kPartPause = kPart * core::kSecond / TrackerClient::kOfferRate;
  Fixture f;
  std::size_t uploads = 0;
  // Announces until the time, as often as a tracker may ask for; it never has the manifest.
  const auto announce_until = [&](core::TimeUs end, const std::vector<proto::TrackerReply>& puts) {
    for (; f.now < end; f.now += core::kSecond) {
      f.client.announce({}, f.now);
      if (f.requests() == 0) f.open();
      f.reply(proto::AnnounceReply{});
      if (f.client.idle()) continue;
      ++uploads;
      for (const auto& reply : puts) f.reply(reply);
      REQUIRE(f.client.idle());
    }
  };
  f.client.offer_manifest(std::string(2 * kPart, 'm'));
  const proto::TrackerReply one = proto::TrackerManifestPutReply{kPart},
                            all = proto::TrackerManifestPutReply{2 * kPart},
                            busy = proto::TrackerError{proto::TrackerErrorCode::kSlowDown, "", 0};
  std::vector<proto::TrackerReply> puts;
  core::TimeUs pause = 2 * kPartPause;
  SUBCASE("that took it") {
    puts = {one, all};
  }
  SUBCASE("that took a part") {
    puts = {one, busy};
  }
  SUBCASE("that took nothing") {
    puts = {busy};
    pause = kPartPause;
  }
  announce_until(pause, puts);
  CHECK(uploads == 1);
  announce_until(pause + core::kSecond, puts);
  CHECK(uploads == 2);
}

TEST_CASE("a tracker that refuses announces is not shown the manifest each time") {
  Fixture f;
  const proto::TrackerError refusal{proto::TrackerErrorCode::kNotAllowed, "known publishers", 0};
  const std::string manifest(4 * TrackerClient::kOfferRate, 'm');  // 4 s
  f.client.offer_manifest(manifest);
  f.client.announce({}, f.now);
  f.open();
  f.reply(refusal);
  REQUIRE(f.requests() == 2);
  SUBCASE("which it took, and refused all the same") {
    f.reply(proto::TrackerManifestPutReply{manifest.size()});
    f.reply(refusal);
    CHECK(f.client.refused());
  }
  SUBCASE("for which it had no time") {
    f.reply(proto::TrackerError{proto::TrackerErrorCode::kSlowDown, "busy", 7});
    CHECK_FALSE(f.client.refused());
  }
  const bool refused = f.client.refused();
  const std::size_t requests = f.requests();
  f.now += core::kSecond;
  f.client.announce({}, f.now);
  f.reply(refusal);
  CHECK(f.requests() == requests + 1);
  CHECK(f.client.refused() == refused);  // as it was with the manifest
  CHECK(f.client.idle());
  f.now += 4 * core::kSecond;
  f.client.announce({}, f.now);
  f.reply(refusal);
  CHECK(f.request<proto::TrackerManifestPut>(requests + 2).data == manifest);
}

TEST_CASE("a manifest is fetched in parts") {
  Fixture f;
  f.client.fetch_manifest(f.now);
  f.open();
  CHECK(f.request<proto::TrackerManifestGet>(0).offset == 0);
  f.reply(proto::ManifestPart{5, 0, "abc"});
  CHECK(f.request<proto::TrackerManifestGet>(1).offset == 3);
  f.reply(proto::ManifestPart{5, 3, "de"});
  REQUIRE(f.listener.manifests.size() == 1);
  CHECK(f.listener.manifests[0].value() == "abcde");
  CHECK(f.client.idle());
}

TEST_CASE("a manifest is asked for, and put, in the envelope that the last announce named") {
  Fixture f;
  proto::Announce announce;
  announce.signer.emplace().bytes.fill(7);
  f.client.offer_manifest("manifest");
  f.client.announce(announce, f.now);
  f.client.fetch_manifest(f.now);
  f.open();
  f.reply(proto::AnnounceReply{});
  CHECK(f.request<proto::Announce>(0).signer == announce.signer);
  CHECK(f.request<proto::TrackerManifestGet>(1).signer == announce.signer);
  f.reply(proto::ManifestPart{1, 0, "m"});
  CHECK(f.request<proto::TrackerManifestPut>(2).signer == announce.signer);
}

TEST_CASE("a tracker without the manifest, or with parts that do not fit, is told as a failure") {
  for (const proto::ManifestPart& part :
       {proto::ManifestPart{0, 0, ""}, proto::ManifestPart{5, 1, "abc"},
        proto::ManifestPart{5, 0, ""}, proto::ManifestPart{2, 0, "abc"},
        proto::ManifestPart{limits::kManifestBytesMax + 1, 0, "abc"}}) {
    Fixture f;
    f.client.fetch_manifest(f.now);
    f.open();
    f.reply(part);
    REQUIRE(f.listener.manifests.size() == 1);
    CHECK_FALSE(f.listener.manifests[0].ok());
    CHECK(f.client.idle());
  }
}

TEST_CASE("a tracker that drips a manifest is given up, and its announce goes on") {
  Fixture f;
  f.client.fetch_manifest(f.now);
  f.client.announce({}, f.now);
  f.open();
  for (std::uint64_t at = 0; f.listener.manifests.empty(); ++at) {
    REQUIRE(at < 100);
    f.reply(proto::ManifestPart{limits::kManifestBytesMax, at, "x"});
    f.now += TrackerClient::kTimeout / 2;  // each part in time
    f.client.wake(f.now);
  }
  CHECK_FALSE(f.listener.manifests[0].ok());
  CHECK(f.transport.dialled.size() == 2);
  f.open();
  CHECK(f.requests() == 1);
  f.reply(proto::AnnounceReply{});
  CHECK(f.listener.replies == 1);
}

TEST_CASE("a tracker that takes a manifest byte by byte is given up") {
  Fixture f;
  f.client.offer_manifest(std::string(1000, 'm'));
  f.client.announce({}, f.now);
  f.open();
  f.reply(proto::AnnounceReply{});
  for (std::uint64_t at = 1; !f.client.idle(); ++at) {
    REQUIRE(at < 100);
    f.reply(proto::TrackerManifestPutReply{at});
    f.now += TrackerClient::kTimeout / 2;
    f.client.wake(f.now);
  }
}

TEST_CASE("a manifest may take longer than 15 seconds if it keeps coming") {
  Fixture f;
  f.client.fetch_manifest(f.now);
  f.open();
  const std::string part(limits::kManifestPartBytes, 'm');
  const std::uint64_t total = 10 * part.size();
  for (std::uint64_t at = 0; at < total; at += part.size()) {
    REQUIRE(f.listener.manifests.empty());
    f.now += 10 * core::kSecond;
    f.client.wake(f.now);
    f.reply(proto::ManifestPart{total, at, part});
  }
  REQUIRE(f.listener.manifests.size() == 1);
  CHECK(f.listener.manifests[0].ok());
}

TEST_CASE("a tracker that closes after one part is not asked again at once") {
  Fixture f;
  SUBCASE("of a manifest fetched") {
    f.client.fetch_manifest(f.now);
    f.open();
    f.reply(proto::ManifestPart{100, 0, "x"});
    f.lose(ErrorCode::kIo);
    REQUIRE(f.listener.manifests.size() == 1);
    CHECK_FALSE(f.listener.manifests[0].ok());
  }
  SUBCASE("of a manifest put") {
    f.client.offer_manifest(std::string(1000, 'm'));
    f.client.announce({}, f.now);
    f.open();
    f.reply(proto::AnnounceReply{});
    f.reply(proto::TrackerManifestPutReply{1});
    f.lose(ErrorCode::kIo);
  }
  CHECK(f.client.idle());
  CHECK(f.transport.dialled.size() == 1);
}

TEST_CASE("an answer that does not fit the question is a failure") {
  Fixture f;
  f.client.announce({}, f.now);
  f.open();
  f.reply(proto::TrackerManifestPutReply{});
  REQUIRE(f.listener.failures.size() == 1);
  CHECK(f.listener.failures[0].code == ErrorCode::kProtocol);
  CHECK(f.transport.closed.contains(f.transport.last));
}

TEST_CASE("what was never asked for closes the connection and does no harm") {
  Fixture f;
  f.client.announce({}, f.now);
  f.open();
  f.reply(proto::AnnounceReply{});
  f.reply(proto::AnnounceReply{});
  CHECK(f.listener.replies == 1);
  CHECK(f.transport.closed.contains(f.transport.last));
}

}  // namespace
}  // namespace firn::app
