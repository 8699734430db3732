// Peer messages: from the bytes of a frame to validated values.
//
// A message's body is found by walking the PeerMessage's fields, then parsed alone. A Block is
// walked in the same way, so that its payload goes from the frame straight into its own memory, if
// it did not come there (payload_place.h); all others are parsed by the generated classes and then
// checked.
#include <google/protobuf/arena.h>

#include "proto/base/limits.h"
#include "proto/message_checks.h"
#include "proto/messages.h"
#include "proto/payload_place.h"
#include "proto/peer_endpoint.h"
#include "proto/wire.h"
#include "proto/wire_fields.h"

namespace firn::proto {
namespace {

using Bytes = std::span<const std::uint8_t>;

Result<Hello> parse_hello(Bytes body) {
  if (!text_fits(body, wire::Hello::kAgentFieldNumber, limits::kAgentBytesMax))
    return peer_error("hello: malformed, or the agent is too long or not plain UTF-8");
  wire::Hello from;
  if (!parse_wire(body, from)) return peer_error("hello: not a Hello message");
  if (from.version_min() == 0 || from.version_min() > from.version_max())
    return peer_error("hello: versions " + std::to_string(from.version_min()) + " to " +
                      std::to_string(from.version_max()) + " are no range");
  const auto content_id = ContentId::from_bytes(from.content_id());
  if (!content_id) return peer_error("hello: the content id does not have 32 bytes");
  if (from.listen_port() > 0xffff) return peer_error("hello: the port is above 65535");
  if (!from.certificate().empty() && from.certificate().size() != limits::kCertificateBytes)
    return peer_error("hello: the certificate does not have 64 bytes");
  return Hello{.version_min = from.version_min(),
               .version_max = from.version_max(),
               .content_id = *content_id,
               .listen_port = static_cast<std::uint16_t>(from.listen_port()),
               .agent = std::move(*from.mutable_agent()),
               .has_manifest = from.has_manifest(),
               .certificate = std::move(*from.mutable_certificate())};
}

// Field 15 of a State, which peers of the last version send; peer.proto has no name for it.
constexpr int kWantsClaimsFieldNumber = 15;

// Counts before memory is taken for what is counted. False as well if the body is malformed.
bool state_fits(Bytes body, bool& wants_claims) {
  std::size_t spans = 0, entries = 0, received = 0, fetching = 0;
  FieldReader fields(body);
  while (fields.next()) {
    spans += fields.is_bytes(wire::State::kCompleteFieldNumber) ||
             fields.is_bytes(wire::State::kUnwantedFieldNumber) ||
             fields.is_bytes(wire::State::kWithdrawnFieldNumber);
    fetching += fields.is_bytes(wire::State::kFetchingFieldNumber);
    entries += fields.is_bytes(wire::State::kGenerationsFieldNumber);
    received += fields.is_bytes(wire::State::kReceivedFieldNumber);
    if (fields.is_varint(kWantsClaimsFieldNumber)) wants_claims = fields.varint() != 0;
    if (spans > limits::kStateSpansMax || entries > limits::kStateEntriesMax ||
        received > limits::kReceivedMax || fetching > limits::kFetchingMax)
      return false;
  }
  return fields.ok();
}

// False if one of them is empty or ends past the last possible generation.
template <typename WireSpans>
bool read_spans(const WireSpans& from, std::vector<Span>& to) {
  to.reserve(static_cast<std::size_t>(from.size()));
  for (const wire::Span& span : from) {
    if (span.count() == 0 ||
        std::uint64_t{span.first()} + span.count() > limits::kGenerationCountMax)
      return false;
    to.push_back({span.first(), span.count()});
  }
  return true;
}

Result<State> parse_state(Bytes body) {
  State state;
  if (!state_fits(body, state.wants_claims))
    return peer_error("state: malformed, or too many entries");

  // States are frequent and made of many small objects: the first few KiB come from the stack.
  alignas(std::max_align_t) char scratch[4096];
  google::protobuf::ArenaOptions options;
  options.initial_block = scratch;
  options.initial_block_size = sizeof scratch;
  google::protobuf::Arena arena(options);
  auto& from = *google::protobuf::Arena::CreateMessage<wire::State>(&arena);
  if (!parse_wire(body, from)) return peer_error("state: not a State message");

  state.acknowledged = from.acknowledged();
  state.credit = from.credit();
  state.prefer_coded = from.prefer_coded();
  state.upload_kib = from.upload_kib();
  state.neighbours = from.neighbours();
  state.proven_only = from.proven_only();
  state.trusted_only = from.trusted_only();
  if (!read_spans(from.complete(), state.complete) ||
      !read_spans(from.unwanted(), state.unwanted) ||
      !read_spans(from.withdrawn(), state.withdrawn) ||
      !read_spans(from.fetching(), state.fetching))
    return peer_error("state: a span is empty or ends past the last possible generation");
  for (const wire::Received& entry : from.received())
    state.received.push_back({entry.peer(), entry.blocks()});
  if (from.convicted_size() > static_cast<int>(limits::kConvictedMax))
    return peer_error("state: too many peers are convicted");
  state.convicted.assign(from.convicted().begin(), from.convicted().end());
  std::size_t wanted_blocks = 0;
  state.generations.reserve(static_cast<std::size_t>(from.generations_size()));
  for (const wire::GenerationState& entry : from.generations()) {
    if (entry.generation() >= limits::kGenerationCountMax)
      return peer_error("state: a generation's number is too large");
    if (entry.rank() > limits::kGenerationSizeMax || entry.quota() > limits::kGenerationSizeMax ||
        entry.null_vector().size() > limits::kGenerationSizeMax ||
        entry.wanted_blocks().size() > limits::kGenerationSizeMax / 8 ||
        entry.held_blocks().size() > limits::kGenerationSizeMax / 8)
      return peer_error(
          "state: a rank, quota, null vector or wanted blocks larger than any generation");
    wanted_blocks += !entry.wanted_blocks().empty();
    if (entry.wanted_blocks().empty() && !entry.held_blocks().empty())
      return peer_error("state: source blocks are held where none are wanted");
    if (wanted_blocks > limits::kWantedBlocksMax)
      return peer_error("state: source blocks of too many generations are wanted");
    const Bytes null_vector = as_bytes(entry.null_vector());
    const Bytes wanted = as_bytes(entry.wanted_blocks());
    const Bytes held = as_bytes(entry.held_blocks());
    state.generations.push_back({.generation = entry.generation(),
                                 .rank = entry.rank(),
                                 .quota = entry.quota(),
                                 .null_vector = {null_vector.begin(), null_vector.end()},
                                 .wanted_blocks = {wanted.begin(), wanted.end()},
                                 .held_blocks = {held.begin(), held.end()},
                                 .urgency = std::min<std::uint32_t>(entry.urgency(), kAwaited)});
  }
  return state;
}

// `apart`: the payload, where it is not in the body; it comes last there.
Result<Block> parse_block(Bytes body, const Payload& apart) {
  Block block;
  Bytes coefficients, payload;
  std::optional<Bytes> state;
  FieldReader fields(body);
  while (fields.next()) {
    // As in any protobuf parser: the last of repeated fields counts, and 32 bits of a varint.
    if (fields.is_varint(wire::Block::kGenerationFieldNumber)) {
      block.generation = static_cast<std::uint32_t>(fields.varint());
    } else if (fields.is_varint(wire::Block::kSequenceFieldNumber)) {
      block.sequence = static_cast<std::uint32_t>(fields.varint());
    } else if (fields.is_bytes(wire::Block::kCoefficientsFieldNumber)) {
      coefficients = fields.bytes();
      block.source_index.reset();
    } else if (fields.is_varint(wire::Block::kSourceIndexFieldNumber)) {
      block.source_index = static_cast<std::uint32_t>(fields.varint());
      coefficients = {};
    } else if (fields.is_varint(wire::Block::kRecodedFieldNumber)) {
      block.recoded = fields.varint() != 0;
    } else if (fields.is_varint(wire::Block::kUnprovenFieldNumber)) {
      block.unproven = fields.varint() != 0;
    } else if (fields.is_bytes(wire::Block::kStateFieldNumber)) {
      state = fields.bytes();
    } else if (fields.is_bytes(wire::Block::kPayloadFieldNumber)) {
      payload = fields.bytes();
    }
  }
  if (!fields.ok()) return peer_error("block: not a Block message");
  if (apart) payload = apart.bytes();
  if (block.generation >= limits::kGenerationCountMax)
    return peer_error("block: the generation's number is too large");
  if (block.sequence == 0) return peer_error("block: there is no sequence number");
  if (block.source_index && *block.source_index >= limits::kGenerationSizeMax)
    return peer_error("block: the source block's number is too large");
  if (!block.source_index && coefficients.empty())
    return peer_error("block: there is no coding vector");
  if (coefficients.size() > limits::kGenerationSizeMax)
    return peer_error("block: the coding vector is longer than any generation");
  if (payload.empty() || payload.size() > limits::kBlockBytesMax)
    return peer_error("block: a payload of " + std::to_string(payload.size()) + " bytes");
  if (state) {
    Result<State> parsed = parse_state(*state);
    if (!parsed.ok()) return parsed.error();
    block.state = std::move(*parsed);
  }
  block.coefficients.assign(coefficients.begin(), coefficients.end());
  block.payload = apart ? apart : Payload::copy_of(payload);
  return block;
}

Result<ManifestRequest> parse_manifest_request(Bytes body) {
  wire::ManifestRequest from;
  if (!parse_wire(body, from) || from.offset() > limits::kManifestBytesMax)
    return peer_error("manifest request: malformed, or an offset past the largest manifest");
  return ManifestRequest{from.offset()};
}

Result<ManifestPart> parse_part(Bytes body) {
  Result<ManifestPart> part = parse_manifest_part(body);
  if (!part.ok()) return peer_error("manifest part: " + part.error().detail);
  return part;
}

Result<PeerExchange> parse_peer_exchange(Bytes body) {
  if (!count_fits(body, wire::PeerExchange::kPeersFieldNumber, limits::kPeerExchangeMax))
    return peer_error("peer exchange: malformed, or too many addresses");
  wire::PeerExchange from;
  if (!parse_wire(body, from)) return peer_error("peer exchange: not a PeerExchange message");
  PeerExchange exchange;
  for (const wire::PeerAddress& address : from.peers()) {
    auto endpoint = endpoint_from_wire(address);
    if (!endpoint) return peer_error("peer exchange: an id, ip or port of the wrong size");
    exchange.peers.push_back(std::move(*endpoint));
  }
  return exchange;
}

Result<Goodbye> parse_goodbye(Bytes body) {
  if (!text_fits(body, wire::Goodbye::kDetailFieldNumber, limits::kReasonBytesMax))
    return peer_error("goodbye: malformed, or the detail is too long or not plain UTF-8");
  wire::Goodbye from;
  if (!parse_wire(body, from)) return peer_error("goodbye: not a Goodbye message");
  Goodbye goodbye;
  // A reason that this version does not know closes the connection as well as any other.
  if (wire::Goodbye::Reason_IsValid(from.reason()))
    goodbye.reason = static_cast<GoodbyeReason>(from.reason());
  goodbye.detail = std::move(*from.mutable_detail());
  return goodbye;
}

// A request that names 1 to `count_max` generations, and little else. Packed or not, a number takes
// a byte at least.
template <typename WireRequest>
Result<std::vector<std::uint32_t>> parse_generations(Bytes body, std::size_t count_max,
                                                     const std::string& name, WireRequest& from) {
  if (body.size() > count_max * 16 + 64 || !parse_wire(body, from) || from.generations().empty() ||
      from.generations_size() > static_cast<int>(count_max))
    return peer_error(name + ": malformed, or no or too many generations");
  std::vector<std::uint32_t> generations;
  for (const std::uint32_t g : from.generations()) {
    if (g >= limits::kGenerationCountMax)
      return peer_error(name + ": a generation's number is too large");
    generations.push_back(g);
  }
  return generations;
}

Result<CheckRequest> parse_check_request(Bytes body) {
  wire::CheckRequest from;
  auto generations = parse_generations(body, limits::kCheckGenerationsMax, "check request", from);
  if (!generations.ok()) return generations.error();
  const std::string& key = from.key();
  if (!key.empty() && key.size() != limits::kCheckKeyBytes)
    return peer_error("check request: a key of the wrong size");
  return CheckRequest{*std::move(generations), {key.begin(), key.end()}};
}

Result<LeafRequest> parse_leaf_request(Bytes body) {
  wire::LeafRequest from;
  auto generations = parse_generations(body, limits::kLeafGenerationsMax, "leaf request", from);
  if (!generations.ok()) return generations.error();
  return LeafRequest{*std::move(generations)};
}

Result<LeafReply> parse_leaf_reply(Bytes body) {
  wire::LeafReply from;
  if (!parse_wire(body, from)) return peer_error("leaf reply: not a LeafReply message");
  if (from.generation() >= limits::kGenerationCountMax)
    return peer_error("leaf reply: the generation's number is too large");
  const std::string& leaves = from.leaves();
  if (leaves.size() % kIdBytes != 0 || leaves.size() > limits::kGenerationSizeMax * kIdBytes)
    return peer_error("leaf reply: leaves of the wrong size");
  LeafReply reply{from.generation(), {}};
  reply.leaves.reserve(leaves.size() / kIdBytes);
  for (std::size_t at = 0; at < leaves.size(); at += kIdBytes)
    reply.leaves.push_back(*Digest::from_bytes(std::string_view(leaves).substr(at, kIdBytes)));
  return reply;
}

Result<CheckReply> parse_check_reply(Bytes body) {
  wire::CheckReply from;
  if (!parse_wire(body, from)) return peer_error("check reply: not a CheckReply message");
  if (from.generation() >= limits::kGenerationCountMax)
    return peer_error("check reply: the generation's number is too large");
  const Bytes key = as_bytes(from.key()), sums = as_bytes(from.sums());
  if ((!key.empty() && key.size() != limits::kCheckKeyBytes) ||
      sums.size() > limits::kGenerationSizeMax * limits::kCheckTagBytesMax)
    return peer_error("check reply: a key or sums of the wrong size");
  return CheckReply{from.generation(), {key.begin(), key.end()}, {sums.begin(), sums.end()}};
}

Result<PrivateProof> parse_private_proof(Bytes body) {
  wire::PrivateProof from;
  PrivateProof parsed;
  if (!parse_wire(body, from) || from.proof().size() != parsed.proof.size())
    return peer_error("private proof: malformed, or of the wrong size");
  std::ranges::copy(as_bytes(from.proof()), parsed.proof.begin());
  return parsed;
}

using Parse = Result<PeerMessage> (*)(Bytes body);

template <auto parse>
Result<PeerMessage> as_message(Bytes body) {
  return as_any<PeerMessage>(parse(body));
}

// Null: the kind is retired, or this version does not know it.
Parse parser_of(int kind) {
  switch (kind) {
    case wire::PeerMessage::kHelloFieldNumber:
      return as_message<parse_hello>;
    case wire::PeerMessage::kStateFieldNumber:
      return as_message<parse_state>;
    case wire::PeerMessage::kBlockFieldNumber:
      return [](Bytes body) { return as_any<PeerMessage>(parse_block(body, {})); };
    case wire::PeerMessage::kManifestRequestFieldNumber:
      return as_message<parse_manifest_request>;
    case wire::PeerMessage::kManifestPartFieldNumber:
      return as_message<parse_part>;
    case wire::PeerMessage::kPeerExchangeFieldNumber:
      return as_message<parse_peer_exchange>;
    case wire::PeerMessage::kGoodbyeFieldNumber:
      return as_message<parse_goodbye>;
    case wire::PeerMessage::kCheckRequestFieldNumber:
      return as_message<parse_check_request>;
    case wire::PeerMessage::kCheckReplyFieldNumber:
      return as_message<parse_check_reply>;
    case wire::PeerMessage::kLeafRequestFieldNumber:
      return as_message<parse_leaf_request>;
    case wire::PeerMessage::kLeafReplyFieldNumber:
      return as_message<parse_leaf_reply>;
    case wire::PeerMessage::kPrivateProofFieldNumber:
      return as_message<parse_private_proof>;
    default:
      return nullptr;
  }
}

// Of an Epoch of the last version all else is passed over. 0: it has none.
constexpr int kEpochKind = 10, kEpochNumberFieldNumber = 3;
std::uint64_t epoch_number(Bytes body) {
  std::uint64_t number = 0;
  FieldReader fields(body);
  while (fields.next())
    if (fields.is_varint(kEpochNumberFieldNumber)) number = fields.varint();
  return number;
}

}  // namespace

Result<PeerMessage> parse_peer_message(std::span<const std::uint8_t> frame) {
  if (frame.size() > limits::kFrameBytesMax) return peer_error("it is larger than a frame may be");
  bool has_body = false;
  PassedOver passed_over;
  Parse parse = nullptr;
  Bytes body;
  FieldReader fields(frame);
  while (fields.next()) {
    if (!fields.is_bytes()) continue;
    has_body = true;
    if (fields.number() == kEpochKind) passed_over.epoch = epoch_number(fields.bytes());
    if (const Parse known = parser_of(fields.number())) {
      parse = known;  // of several bodies the last one counts
      body = fields.bytes();
    }
  }
  if (!fields.ok()) return peer_error("not a PeerMessage");
  if (parse != nullptr) return parse(body);
  if (!has_body) return peer_error("an empty message");
  return PeerMessage(passed_over);
}

Result<PeerMessage> parse_peer_message(std::span<const std::uint8_t> head, Payload payload) {
  const PayloadPlace place = find_payload(head, head.size() + payload.size());
  if (place.outcome != PayloadPlace::Outcome::kFound || place.begin != head.size())
    return peer_error("not a PeerMessage");
  const Bytes fields = head.subspan(place.fields_begin, place.fields_end - place.fields_begin);
  return as_any<PeerMessage>(parse_block(fields, payload));
}

}  // namespace firn::proto
