#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <variant>

#include "proto/base/limits.h"
#include "proto/messages.h"
#include "proto/wire.h"
#include "tests/proto/document.h"
#include "tests/proto/hex.h"
#include "tests/proto/random_messages.h"
#include "tests/proto/wire_frames.h"

using namespace firn;
using namespace firn::proto;
using namespace firn::test;

namespace {

std::string fault(const wire::TrackerRequest& message) {
  const auto parsed = parse_tracker_request(bytes_of(message.SerializeAsString()));
  if (parsed.ok()) return "";
  CHECK(parsed.error().code == ErrorCode::kProtocol);
  return parsed.error().detail;
}
std::string fault(const wire::TrackerReply& message) {
  const auto parsed = parse_tracker_reply(bytes_of(message.SerializeAsString()));
  if (parsed.ok()) return "";
  CHECK(parsed.error().code == ErrorCode::kProtocol);
  return parsed.error().detail;
}

bool has(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("random tracker messages come back as they were sent") {
  RandomMessages random(3);
  std::size_t request_kinds[3] = {}, reply_kinds[4] = {};
  for (int round = 0; round < 1500; ++round) {
    const TrackerRequest request = random.tracker_request();
    ++request_kinds[request.index()];
    const auto parsed_request = parse_tracker_request(bytes_of(message_in(serialize(request))));
    REQUIRE(parsed_request.ok());
    CHECK(*parsed_request == request);

    const TrackerReply reply = random.tracker_reply();
    ++reply_kinds[reply.index()];
    const auto parsed_reply = parse_tracker_reply(bytes_of(message_in(serialize(reply))));
    REQUIRE(parsed_reply.ok());
    CHECK(*parsed_reply == reply);
  }
  CHECK(std::ranges::all_of(request_kinds, [](std::size_t count) { return count > 100; }));
  CHECK(std::ranges::all_of(reply_kinds, [](std::size_t count) { return count > 100; }));
}

TEST_CASE("a signer that is no key is refused, and none is none") {
  const std::string id(32, 'c');
  for (const std::string& signer : {std::string(31, 'k'), std::string(33, 'k'),
                                    std::string(32, '\0'), "\1" + std::string(31, '\0')}) {
    wire::TrackerRequest announce, get, put;
    announce.mutable_announce()->set_content_id(id);
    announce.mutable_announce()->set_signer(signer);
    get.mutable_manifest_get()->set_content_id(id);
    get.mutable_manifest_get()->set_signer(signer);
    put.mutable_manifest_put()->set_content_id(id);
    put.mutable_manifest_put()->set_total_bytes(1);
    put.mutable_manifest_put()->set_data("x");
    put.mutable_manifest_put()->set_signer(signer);
    for (const auto* request : {&announce, &get, &put}) CHECK(has(fault(*request), "signer"));
  }
  wire::TrackerRequest announce;
  announce.mutable_announce()->set_content_id(id);
  announce.mutable_announce()->set_signer("");
  const auto parsed = parse_tracker_request(bytes_of(announce.SerializeAsString()));
  REQUIRE(parsed.ok());
  CHECK_FALSE(std::get<Announce>(*parsed).signer);
}

TEST_CASE("tracker messages of no known kind are refused") {
  for (const char* hex : {"", "2a00", "0801", "00", "0a05", "0c"}) {
    CAPTURE(hex);
    const std::string bytes = from_hex(hex);
    CHECK_FALSE(parse_tracker_request(bytes_of(bytes)).ok());
    CHECK_FALSE(parse_tracker_reply(bytes_of(bytes)).ok());
  }
}

TEST_CASE("an announce out of bounds is refused") {
  wire::TrackerRequest good;
  good.mutable_announce()->set_content_id(std::string(32, 'c'));
  good.mutable_announce()->set_listen_port(65535);
  CHECK(fault(good) == "");
  wire::TrackerRequest bad = good;
  bad.mutable_announce()->set_listen_port(65536);
  CHECK(has(fault(bad), "port"));
  bad = good;
  bad.mutable_announce()->set_content_id("short");
  CHECK(has(fault(bad), "32 bytes"));
}

TEST_CASE("nobody lacks more than all of a content") {
  wire::TrackerRequest message;
  message.mutable_announce()->set_content_id(std::string(32, 'c'));
  for (const std::uint32_t lacks : {0u, 99u, 100u, 101u, 256u, 0xffffffffu}) {
    message.mutable_announce()->set_lacks_percent(lacks);
    const auto parsed = parse_tracker_request(bytes_of(message.SerializeAsString()));
    REQUIRE(parsed.ok());
    CHECK(std::get<Announce>(*parsed).lacks_percent == std::min(lacks, 100u));
  }
}

TEST_CASE("an announce may want more peers than one reply holds, and gets what it holds") {
  wire::TrackerRequest message;
  message.mutable_announce()->set_content_id(std::string(32, 'c'));
  message.mutable_announce()->set_peers_wanted(0xffffffff);
  message.mutable_announce()->set_event(static_cast<wire::Announce::Event>(77));
  const auto parsed = parse_tracker_request(bytes_of(message.SerializeAsString()));
  REQUIRE(parsed.ok());
  const auto& announce = std::get<Announce>(*parsed);
  CHECK(announce.peers_wanted == limits::kAnnouncePeersMax);
  CHECK(announce.event == AnnounceEvent::kPeriodic);
}

TEST_CASE("manifest gets and puts out of bounds are refused") {
  wire::TrackerRequest get;
  get.mutable_manifest_get()->set_content_id(std::string(32, 'c'));
  CHECK(fault(get) == "");
  get.mutable_manifest_get()->set_offset(limits::kManifestBytesMax + 1);
  CHECK(has(fault(get), "offset"));

  const auto put = [](std::uint64_t total, std::uint64_t offset, std::size_t bytes) {
    wire::TrackerRequest message;
    auto& to = *message.mutable_manifest_put();
    to.set_content_id(std::string(32, 'c'));
    to.set_total_bytes(total);
    to.set_offset(offset);
    to.set_data(std::string(bytes, 'm'));
    return fault(message);
  };
  CHECK(put(10, 0, 10) == "");
  CHECK(put(10, 9, 1) == "");
  CHECK(has(put(10, 10, 0), "no data"));
  CHECK(has(put(0, 0, 0), "no data"));
  CHECK(has(put(10, 9, 2), "past"));
  CHECK(has(put(limits::kManifestBytesMax + 1, 0, 1), "larger"));
}

TEST_CASE("a tracker's reply out of bounds is refused") {
  const auto reply = [](std::size_t peers, std::uint32_t port) {
    wire::TrackerReply message;
    message.mutable_announce()->set_interval_seconds(60);
    for (std::size_t i = 0; i < peers; ++i) {
      auto& peer = *message.mutable_announce()->add_peers();
      peer.set_peer_id(std::string(32, 'p'));
      peer.set_ip("\x7f\x01\x01\x01");
      peer.set_port(port);
    }
    return fault(message);
  };
  CHECK(reply(limits::kAnnouncePeersMax, 1) == "");
  CHECK(has(reply(limits::kAnnouncePeersMax + 1, 1), "too many"));
  CHECK(has(reply(1, 0), "wrong size"));

  wire::TrackerReply error;
  error.mutable_error()->set_code(static_cast<wire::TrackerError::Code>(99));
  error.mutable_error()->set_detail(std::string(limits::kReasonBytesMax, 'x'));
  CHECK(fault(error) == "");
  error.mutable_error()->set_detail(std::string(limits::kReasonBytesMax + 1, 'x'));
  CHECK(has(fault(error), "detail"));
  error.mutable_error()->set_detail("two\nlines");
  CHECK(has(fault(error), "detail"));

  wire::TrackerReply put;
  put.mutable_manifest_put()->set_next_offset(limits::kManifestBytesMax + 1);
  CHECK(has(fault(put), "offset"));
}

TEST_CASE("tracker messages are sent as docs/protocol.md prints them") {
  Announce announce;
  announce.content_id.bytes.fill(0xcc);
  announce.event = AnnounceEvent::kStarted;
  announce.listen_port = 7000;
  CHECK(to_hex(whole(serialize(TrackerRequest(announce)))) ==
        hex_example("protocol.md", "announce"));
  AnnounceReply reply{.interval_seconds = 60,
                      .complete_count = 1,
                      .incomplete_count = 2,
                      .has_manifest = true,
                      .peers = {{.id = {}, .ip = "2001:db8::1", .port = 1}}};
  reply.peers[0].id.bytes.fill(0xaa);
  CHECK(to_hex(whole(serialize(TrackerReply(reply)))) ==
        hex_example("protocol.md", "announce_reply"));
  const TrackerReply error = TrackerError{TrackerErrorCode::kSlowDown, "wait", 30};
  CHECK(to_hex(whole(serialize(error))) == hex_example("protocol.md", "tracker_error"));
}
