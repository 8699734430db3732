// Messages between peers and trackers: generated classes, checked. docs/protocol.md has the rules.
#include <algorithm>

#include "proto/base/limits.h"
#include "proto/base/plain_text.h"
#include "proto/base/public_key.h"
#include "proto/message_checks.h"
#include "proto/messages.h"
#include "proto/outgoing_frame.h"
#include "proto/peer_endpoint.h"
#include "proto/wire.h"
#include "proto/wire_fields.h"

namespace firn::proto {
namespace {

using Bytes = std::span<const std::uint8_t>;

Error bad_message(const std::string& what) {
  return protocol_error("a tracker message", what);
}

// The body of a message that is one oneof with fields 1..last; of several the last one counts.
struct Body {
  int field = 0;  // 0: none
  Bytes bytes;
};
Result<Body> find_body(Bytes frame, int last) {
  if (frame.size() > limits::kFrameBytesMax) return bad_message("it is larger than a frame may be");
  Body body;
  FieldReader fields(frame);
  while (fields.next())
    if (fields.is_bytes() && fields.number() <= last) body = {fields.number(), fields.bytes()};
  if (!fields.ok()) return bad_message("malformed");
  if (body.field == 0)
    return bad_message("an empty message, or of a kind that this version does not know");
  return body;
}

// A publisher's key, where one is named. False: what is named is no key.
bool set_signer(std::string_view from, std::optional<PublicKey>& to) {
  if (is_public_key(from)) to = PublicKey::from_bytes(from);
  return to || from.empty();
}

// Field by field: a tracker reads many of them, and the generated class would take memory for each.
Result<Announce> parse_announce(Bytes body) {
  using Wire = wire::Announce;
  Announce announce;
  announce.peers_wanted = 0;
  Bytes content_id, signer;
  std::uint32_t port = 0, peers_wanted = 0;
  FieldReader fields(body);
  while (fields.next()) {
    if (fields.is_bytes(Wire::kContentIdFieldNumber)) {
      content_id = fields.bytes();
    } else if (fields.is_varint(Wire::kEventFieldNumber)) {
      const auto event = static_cast<int>(fields.varint());
      announce.event =
          Wire::Event_IsValid(event) ? static_cast<AnnounceEvent>(event) : AnnounceEvent::kPeriodic;
    } else if (fields.is_varint(Wire::kListenPortFieldNumber)) {
      port = static_cast<std::uint32_t>(fields.varint());
    } else if (fields.is_varint(Wire::kCompleteFieldNumber)) {
      announce.complete = fields.varint() != 0;
    } else if (fields.is_varint(Wire::kPeersWantedFieldNumber)) {
      peers_wanted = static_cast<std::uint32_t>(fields.varint());
    } else if (fields.is_bytes(Wire::kSignerFieldNumber)) {
      signer = fields.bytes();
    } else if (fields.is_varint(Wire::kLacksPercentFieldNumber)) {
      announce.lacks_percent =
          static_cast<std::uint8_t>(std::min<std::uint64_t>(fields.varint(), 100));
    }
  }
  if (!fields.ok()) return bad_message("announce: malformed");
  const auto id = ContentId::from_bytes(as_text(content_id));
  if (!id) return bad_message("announce: the content id does not have 32 bytes");
  if (port > 0xffff) return bad_message("announce: the port is above 65535");
  if (!set_signer(as_text(signer), announce.signer))
    return bad_message("announce: the signer is no key");
  announce.content_id = *id;
  announce.listen_port = static_cast<std::uint16_t>(port);
  announce.peers_wanted = std::min<std::uint32_t>(peers_wanted, limits::kAnnouncePeersMax);
  return announce;
}

Result<TrackerManifestGet> parse_manifest_get(Bytes body) {
  wire::TrackerManifestGet from;
  if (!parse_wire(body, from)) return bad_message("manifest get: malformed");
  const auto content_id = ContentId::from_bytes(from.content_id());
  if (!content_id) return bad_message("manifest get: the content id does not have 32 bytes");
  if (from.offset() > limits::kManifestBytesMax)
    return bad_message("manifest get: an offset past the largest manifest");
  TrackerManifestGet get{*content_id, from.offset()};
  if (!set_signer(from.signer(), get.signer))
    return bad_message("manifest get: the signer is no key");
  return get;
}

Result<TrackerManifestPut> parse_manifest_put(Bytes body) {
  wire::TrackerManifestPut from;
  if (!parse_wire(body, from)) return bad_message("manifest put: malformed");
  const auto content_id = ContentId::from_bytes(from.content_id());
  if (!content_id) return bad_message("manifest put: the content id does not have 32 bytes");
  const auto fault = part_fault(from.total_bytes(), from.offset(), from.data().size());
  if (!fault.empty()) return bad_message("manifest put: " + std::string(fault));
  if (from.data().empty()) return bad_message("manifest put: there is no data");
  TrackerManifestPut put{.content_id = *content_id,
                         .total_bytes = from.total_bytes(),
                         .offset = from.offset(),
                         .data = std::move(*from.mutable_data())};
  if (!set_signer(from.signer(), put.signer))
    return bad_message("manifest put: the signer is no key");
  return put;
}

Result<AnnounceReply> parse_announce_reply(Bytes body) {
  if (!count_fits(body, wire::AnnounceReply::kPeersFieldNumber, limits::kAnnouncePeersMax))
    return bad_message("announce reply: malformed, or too many addresses");
  wire::AnnounceReply from;
  if (!parse_wire(body, from)) return bad_message("announce reply: malformed");
  AnnounceReply reply;
  reply.interval_seconds = from.interval_seconds();
  reply.complete_count = from.complete_count();
  reply.incomplete_count = from.incomplete_count();
  reply.has_manifest = from.has_manifest();
  for (const wire::PeerAddress& address : from.peers()) {
    auto endpoint = endpoint_from_wire(address);
    if (!endpoint) return bad_message("announce reply: an id, ip or port of the wrong size");
    reply.peers.push_back(std::move(*endpoint));
  }
  return reply;
}

Result<ManifestPart> parse_reply_part(Bytes body) {
  Result<ManifestPart> part = parse_manifest_part(body);
  if (!part.ok()) return bad_message("manifest part: " + part.error().detail);
  return part;
}

Result<TrackerManifestPutReply> parse_put_reply(Bytes body) {
  wire::TrackerManifestPutReply from;
  if (!parse_wire(body, from) || from.next_offset() > limits::kManifestBytesMax)
    return bad_message("manifest put reply: malformed, or an offset past the largest manifest");
  return TrackerManifestPutReply{from.next_offset()};
}

Result<TrackerError> parse_error(Bytes body) {
  if (!text_fits(body, wire::TrackerError::kDetailFieldNumber, limits::kReasonBytesMax))
    return bad_message("error: malformed, or the detail is too long or not plain UTF-8");
  wire::TrackerError from;
  if (!parse_wire(body, from)) return bad_message("error: malformed");
  TrackerError error;
  if (wire::TrackerError::Code_IsValid(from.code()))
    error.code = static_cast<TrackerErrorCode>(from.code());
  error.detail = std::move(*from.mutable_detail());
  error.retry_seconds = from.retry_seconds();
  return error;
}

void set_content_id(const ContentId& from, std::string& to) {
  to = from.raw();
}

void fill(const Announce& from, wire::TrackerRequest& request) {
  wire::Announce& to = *request.mutable_announce();
  set_content_id(from.content_id, *to.mutable_content_id());
  to.set_event(static_cast<wire::Announce::Event>(from.event));
  to.set_listen_port(from.listen_port);
  to.set_complete(from.complete);
  to.set_peers_wanted(from.peers_wanted);
  if (from.signer) *to.mutable_signer() = from.signer->raw();
  to.set_lacks_percent(from.lacks_percent);
}
void fill(const TrackerManifestGet& from, wire::TrackerRequest& request) {
  wire::TrackerManifestGet& to = *request.mutable_manifest_get();
  set_content_id(from.content_id, *to.mutable_content_id());
  to.set_offset(from.offset);
  if (from.signer) *to.mutable_signer() = from.signer->raw();
}
void fill(const TrackerManifestPut& from, wire::TrackerRequest& request) {
  wire::TrackerManifestPut& to = *request.mutable_manifest_put();
  set_content_id(from.content_id, *to.mutable_content_id());
  to.set_total_bytes(from.total_bytes);
  to.set_offset(from.offset);
  to.set_data(from.data);
  if (from.signer) *to.mutable_signer() = from.signer->raw();
}

void fill(const AnnounceReply& from, wire::TrackerReply& reply) {
  wire::AnnounceReply& to = *reply.mutable_announce();
  to.set_interval_seconds(from.interval_seconds);
  to.set_complete_count(from.complete_count);
  to.set_incomplete_count(from.incomplete_count);
  to.set_has_manifest(from.has_manifest);
  for (const PeerEndpoint& peer : from.peers) endpoint_to_wire(peer, *to.add_peers());
}
void fill(const ManifestPart& from, wire::TrackerReply& reply) {
  wire::ManifestPart& to = *reply.mutable_manifest_part();
  to.set_total_bytes(from.total_bytes);
  to.set_offset(from.offset);
  to.set_data(from.data);
}
void fill(const TrackerManifestPutReply& from, wire::TrackerReply& reply) {
  reply.mutable_manifest_put()->set_next_offset(from.next_offset);
}
void fill(const TrackerError& from, wire::TrackerReply& reply) {
  wire::TrackerError& to = *reply.mutable_error();
  to.set_code(static_cast<wire::TrackerError::Code>(from.code));
  to.set_detail(to_plain_text(from.detail, limits::kReasonBytesMax));
  to.set_retry_seconds(from.retry_seconds);
}

static_assert(static_cast<int>(AnnounceEvent::kStopped) == wire::Announce::STOPPED &&
              static_cast<int>(TrackerErrorCode::kSlowDown) == wire::TrackerError::SLOW_DOWN &&
              static_cast<int>(TrackerErrorCode::kNotAllowed) == wire::TrackerError::NOT_ALLOWED);

}  // namespace

Result<TrackerRequest> parse_tracker_request(std::span<const std::uint8_t> frame) {
  const Result<Body> body = find_body(frame, wire::TrackerRequest::kManifestPutFieldNumber);
  if (!body.ok()) return body.error();
  switch (body->field) {
    case wire::TrackerRequest::kAnnounceFieldNumber:
      return as_any<TrackerRequest>(parse_announce(body->bytes));
    case wire::TrackerRequest::kManifestGetFieldNumber:
      return as_any<TrackerRequest>(parse_manifest_get(body->bytes));
    default:
      return as_any<TrackerRequest>(parse_manifest_put(body->bytes));
  }
}

Result<TrackerReply> parse_tracker_reply(std::span<const std::uint8_t> frame) {
  const Result<Body> body = find_body(frame, wire::TrackerReply::kErrorFieldNumber);
  if (!body.ok()) return body.error();
  switch (body->field) {
    case wire::TrackerReply::kAnnounceFieldNumber:
      return as_any<TrackerReply>(parse_announce_reply(body->bytes));
    case wire::TrackerReply::kManifestPartFieldNumber:
      return as_any<TrackerReply>(parse_reply_part(body->bytes));
    case wire::TrackerReply::kManifestPutFieldNumber:
      return as_any<TrackerReply>(parse_put_reply(body->bytes));
    default:
      return as_any<TrackerReply>(parse_error(body->bytes));
  }
}

OutgoingFrame serialize(const TrackerRequest& request) {
  wire::TrackerRequest to;
  std::visit([&](const auto& body) { fill(body, to); }, request);
  return frame_of(to);
}

OutgoingFrame serialize(const TrackerReply& reply) {
  wire::TrackerReply to;
  std::visit([&](const auto& body) { fill(body, to); }, reply);
  return frame_of(to);
}

}  // namespace firn::proto
