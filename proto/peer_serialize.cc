// Peer messages: from values to frames. A block's payload is not touched: its tag and length end
// the head, and the payload follows as a buffer of its own.
#include <google/protobuf/arena.h>
#include <google/protobuf/wire_format_lite.h>

#include "proto/base/limits.h"
#include "proto/base/plain_text.h"
#include "proto/framing.h"
#include "proto/messages.h"
#include "proto/outgoing_frame.h"
#include "proto/peer_endpoint.h"
#include "proto/wire.h"

namespace firn::proto {
namespace {

using google::protobuf::Arena;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedOutputStream;

void fill(const Hello& from, wire::Hello& to) {
  to.set_version_min(from.version_min);
  to.set_version_max(from.version_max);
  to.set_content_id(from.content_id.bytes.data(), from.content_id.bytes.size());
  to.set_listen_port(from.listen_port);
  to.set_agent(to_plain_text(from.agent, limits::kAgentBytesMax));
  to.set_has_manifest(from.has_manifest);
  to.set_certificate(from.certificate);
}

void fill(const Span& from, wire::Span& to) {
  to.set_first(from.first);
  to.set_count(from.count);
}

void fill(const State& from, wire::State& to) {
  to.set_acknowledged(from.acknowledged);
  to.set_credit(from.credit);
  to.set_prefer_coded(from.prefer_coded);
  to.set_upload_kib(from.upload_kib);
  to.set_neighbours(from.neighbours);
  to.set_proven_only(from.proven_only);
  to.set_trusted_only(from.trusted_only);
  to.set_epoch(from.epoch);
  for (const Span& span : from.complete) fill(span, *to.add_complete());
  for (const Span& span : from.unwanted) fill(span, *to.add_unwanted());
  for (const Span& span : from.withdrawn) fill(span, *to.add_withdrawn());
  for (const Span& span : from.fetching) fill(span, *to.add_fetching());
  for (const Received& received : from.received) {
    wire::Received& entry = *to.add_received();
    entry.set_peer(received.peer_prefix);
    entry.set_blocks(received.blocks);
  }
  for (const std::uint64_t prefix : from.convicted) to.add_convicted(prefix);
  for (const GenerationState& generation : from.generations) {
    wire::GenerationState& entry = *to.add_generations();
    entry.set_generation(generation.generation);
    entry.set_rank(generation.rank);
    entry.set_quota(generation.quota);
    if (!generation.null_vector.empty())
      entry.set_null_vector(generation.null_vector.data(), generation.null_vector.size());
    entry.set_wanted_blocks(generation.wanted_blocks.data(), generation.wanted_blocks.size());
    entry.set_held_blocks(generation.held_blocks.data(), generation.held_blocks.size());
    entry.set_urgency(generation.urgency);
  }
}

// All but the payload.
void fill(const Block& from, wire::Block& to) {
  to.set_generation(from.generation);
  to.set_sequence(from.sequence);
  if (from.source_index)
    to.set_source_index(*from.source_index);
  else
    to.set_coefficients(from.coefficients.data(), from.coefficients.size());
  to.set_recoded(from.recoded);
  to.set_unproven(from.unproven);
  if (from.state) fill(*from.state, *to.mutable_state());
}

void fill(const Hello& from, wire::PeerMessage& to) {
  fill(from, *to.mutable_hello());
}
void fill(const State& from, wire::PeerMessage& to) {
  fill(from, *to.mutable_state());
}
void fill(const Block&, wire::PeerMessage&) {
  FIRN_CHECK(!"blocks have a way of their own");
}
void fill(const ManifestRequest& from, wire::PeerMessage& to) {
  to.mutable_manifest_request()->set_offset(from.offset);
}
void fill(const ManifestPart& from, wire::PeerMessage& to) {
  wire::ManifestPart& part = *to.mutable_manifest_part();
  part.set_total_bytes(from.total_bytes);
  part.set_offset(from.offset);
  part.set_data(from.data);
}
void fill(const CheckRequest& from, wire::PeerMessage& to) {
  wire::CheckRequest& request = *to.mutable_check_request();
  for (const std::uint32_t g : from.generations) request.add_generations(g);
  request.set_key(from.key.data(), from.key.size());
}
void fill(const CheckReply& from, wire::PeerMessage& to) {
  wire::CheckReply& reply = *to.mutable_check_reply();
  reply.set_generation(from.generation);
  reply.set_key(from.key.data(), from.key.size());
  reply.set_sums(from.sums.data(), from.sums.size());
}
void fill(const LeafRequest& from, wire::PeerMessage& to) {
  wire::LeafRequest& request = *to.mutable_leaf_request();
  for (const std::uint32_t g : from.generations) request.add_generations(g);
}
void fill(const LeafReply& from, wire::PeerMessage& to) {
  wire::LeafReply& reply = *to.mutable_leaf_reply();
  reply.set_generation(from.generation);
  reply.set_leaves(from.leaves.data(), from.leaves.size() * sizeof(Digest));
}
void fill(const PrivateProof& from, wire::PeerMessage& to) {
  to.mutable_private_proof()->set_proof(from.proof.data(), from.proof.size());
}
void fill(const PassedOver&, wire::PeerMessage&) {
  FIRN_CHECK(!"what was passed over is not sent");
}
void fill(const PeerExchange& from, wire::PeerMessage& to) {
  wire::PeerExchange& exchange = *to.mutable_peer_exchange();
  for (const PeerEndpoint& peer : from.peers) endpoint_to_wire(peer, *exchange.add_peers());
}
void fill(const Goodbye& from, wire::PeerMessage& to) {
  wire::Goodbye& goodbye = *to.mutable_goodbye();
  goodbye.set_reason(static_cast<wire::Goodbye::Reason>(from.reason));
  goodbye.set_detail(to_plain_text(from.detail, limits::kReasonBytesMax));
}

static_assert(static_cast<int>(GoodbyeReason::kUnspecified) == wire::Goodbye::UNSPECIFIED &&
              static_cast<int>(GoodbyeReason::kBanned) == wire::Goodbye::BANNED &&
              static_cast<int>(GoodbyeReason::kDuplicate) == wire::Goodbye::DUPLICATE);

// Scratch memory for one generated message: the first few KiB come from the stack.
class WireScratch {
 public:
  template <typename Message>
  Message& make() {
    return *Arena::CreateMessage<Message>(&arena_);
  }

 private:
  alignas(std::max_align_t) char first_block_[4096];
  Arena arena_{first_block_, sizeof first_block_};
};

// Sizes on the wire of Blocks and States. Field numbers below 16 have a tag of one byte.
std::size_t varint_field(std::uint64_t value) {
  return value == 0 ? 0 : 1 + CodedOutputStream::VarintSize64(value);
}
std::size_t fixed64_field(std::uint64_t value) {
  return value == 0 ? 0 : 1 + sizeof value;
}
std::size_t bytes_field(std::size_t bytes) {
  return 1 + CodedOutputStream::VarintSize32(static_cast<std::uint32_t>(bytes)) + bytes;
}

constexpr std::size_t kLateTagBytes = 2;  // of fields 16 to 2047

std::size_t body_bytes(const State& state) {
  std::size_t bytes = varint_field(state.acknowledged) + varint_field(state.credit) +
                      varint_field(state.prefer_coded) + varint_field(state.upload_kib) +
                      varint_field(state.neighbours) + varint_field(state.proven_only) +
                      varint_field(state.epoch) + (state.trusted_only ? kLateTagBytes + 1 : 0);
  if (!state.convicted.empty()) bytes += bytes_field(state.convicted.size() * 8);
  for (const std::vector<Span>* spans : {&state.complete, &state.unwanted, &state.withdrawn})
    for (const Span& span : *spans)
      bytes += bytes_field(varint_field(span.first) + varint_field(span.count));
  for (const Span& span : state.fetching)
    bytes += kLateTagBytes - 1 + bytes_field(varint_field(span.first) + varint_field(span.count));
  for (const Received& entry : state.received)
    bytes += bytes_field(fixed64_field(entry.peer_prefix) + varint_field(entry.blocks));
  for (const GenerationState& entry : state.generations) {
    const std::size_t null_vector =
        entry.null_vector.empty() ? 0 : bytes_field(entry.null_vector.size());
    const std::size_t wanted_blocks =
        entry.wanted_blocks.empty() ? 0 : bytes_field(entry.wanted_blocks.size());
    const std::size_t held_blocks =
        entry.held_blocks.empty() ? 0 : bytes_field(entry.held_blocks.size());
    bytes += bytes_field(varint_field(entry.generation) + varint_field(entry.rank) +
                         varint_field(entry.quota) + null_vector + wanted_blocks + held_blocks +
                         varint_field(entry.urgency));
  }
  return bytes;
}

std::size_t body_bytes(const Block& block) {
  const std::size_t vector = block.source_index
                                 ? 1 + CodedOutputStream::VarintSize32(*block.source_index)
                                 : bytes_field(block.coefficients.size());
  const std::size_t state = block.state ? bytes_field(body_bytes(*block.state)) : 0;
  return varint_field(block.generation) + varint_field(block.sequence) + vector +
         varint_field(block.recoded) + varint_field(block.unproven) + state +
         bytes_field(block.payload.size());
}

}  // namespace

OutgoingFrame serialize(const Block& block) {
  WireScratch scratch;
  wire::Block& small_fields = scratch.make<wire::Block>();
  fill(block, small_fields);
  const std::size_t small_bytes = small_fields.ByteSizeLong();
  const std::size_t block_bytes = small_bytes + bytes_field(block.payload.size());
  const std::size_t message_bytes = bytes_field(block_bytes);

  OutgoingFrame frame;
  frame.payload = block.payload;
  frame.head.resize(kFramePrefixBytes + message_bytes - block.payload.size());
  auto* out = reinterpret_cast<std::uint8_t*>(frame.head.data());
  write_frame_prefix(out, message_bytes);
  out += kFramePrefixBytes;
  const auto write_bytes_header = [&out](int field, std::size_t bytes) {
    out = WireFormatLite::WriteTagToArray(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED, out);
    out = CodedOutputStream::WriteVarint32ToArray(static_cast<std::uint32_t>(bytes), out);
  };
  write_bytes_header(wire::PeerMessage::kBlockFieldNumber, block_bytes);
  out = small_fields.SerializeWithCachedSizesToArray(out);
  write_bytes_header(wire::Block::kPayloadFieldNumber, block.payload.size());
  FIRN_CHECK(out == reinterpret_cast<std::uint8_t*>(frame.head.data() + frame.head.size()));
  return frame;
}

OutgoingFrame serialize(const PeerMessage& message) {
  if (const Block* block = std::get_if<Block>(&message)) return serialize(*block);
  WireScratch scratch;
  wire::PeerMessage& to = scratch.make<wire::PeerMessage>();
  std::visit([&](const auto& body) { fill(body, to); }, message);
  return frame_of(to);
}

std::size_t wire_bytes(const Block& block) {
  return kFramePrefixBytes + bytes_field(body_bytes(block));
}

std::size_t wire_bytes(const PeerMessage& message) {
  // The two that come by the million are counted, the others made.
  if (const Block* block = std::get_if<Block>(&message)) return wire_bytes(*block);
  if (const State* state = std::get_if<State>(&message))
    return kFramePrefixBytes + bytes_field(body_bytes(*state));
  return serialize(message).bytes();
}

}  // namespace firn::proto
