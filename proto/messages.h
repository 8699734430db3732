// The messages of peer.proto and tracker.proto as values that have been validated: parsing checks
// every length, count and id against limits.h, so that code behind it need not.
//
// Not checked here, for want of the content's shape: that a generation exists, that a vector has n
// coefficients and a payload k bytes. The session does that (client/core).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "proto/base/ids.h"
#include "proto/base/limits.h"
#include "proto/base/result.h"

namespace firn::proto {

// Bytes of one payload, 64-byte aligned, shared by all that still need them, never changed after
// they are filled.
class Payload {
 public:
  Payload() = default;
  static Payload allocate(std::size_t bytes);
  static Payload copy_of(std::span<const std::uint8_t> bytes);

  std::span<const std::uint8_t> bytes() const { return {data_.get(), size_}; }
  std::span<std::uint8_t> writable() { return {data_.get(), size_}; }  // before it is shared
  std::size_t size() const { return size_; }
  explicit operator bool() const { return data_ != nullptr; }
  bool operator==(const Payload&) const;  // same bytes

 private:
  std::shared_ptr<std::uint8_t[]> data_;
  std::size_t size_ = 0;
};

struct PeerEndpoint {
  PeerId id;
  std::string ip;  // numeric text, IPv4 or IPv6 without brackets and zone
  std::uint16_t port = 0;
  bool operator==(const PeerEndpoint&) const = default;
};

struct Hello {
  std::uint32_t version_min = 1;
  std::uint32_t version_max = 1;
  ContentId content_id;
  std::uint16_t listen_port = 0;
  std::string agent;
  bool has_manifest = false;
  std::string certificate = {};  // 64 bytes, or empty (proto/content/authority.h)
  bool operator==(const Hello&) const = default;
};

// How soon a generation is read: later ones count as the last.
enum Urgency : std::uint32_t { kNotUrgent, kReadSoon, kAwaited };

struct GenerationState {
  std::uint32_t generation = 0;
  std::uint32_t rank = 0;
  std::uint32_t quota = 0;
  std::vector<std::uint8_t> null_vector;         // empty or n coefficients
  std::vector<std::uint8_t> wanted_blocks = {};  // empty or n bits, as peer.proto says
  std::vector<std::uint8_t> held_blocks = {};    // likewise
  std::uint32_t urgency = 0;                     // Urgency
  bool operator==(const GenerationState&) const = default;
};

struct Span {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  bool operator==(const Span&) const = default;
};

struct Received {
  std::uint64_t peer_prefix = 0;  // the first 8 bytes of a peer id, big-endian
  std::uint32_t blocks = 0;       // innovative ones that came from it
  bool operator==(const Received&) const = default;
};

struct State {
  std::uint32_t acknowledged = 0;
  std::uint32_t credit = 0;
  bool prefer_coded = false;
  std::vector<Span> complete;
  std::vector<GenerationState> generations;
  std::uint32_t upload_kib = 0;      // a second, to all its neighbours; 0: not known
  std::uint32_t neighbours = 0;      // that its sender has; 0: as many as it said last
  std::vector<Span> unwanted = {};   // generations that it neither holds nor wants
  std::vector<Span> withdrawn = {};  // that it held in whole once and cannot serve any more
  bool proven_only = false;
  bool trusted_only = false;
  std::vector<Span> fetching = {};  // generations that it fetches from an origin now
  std::vector<Received> received = {};
  std::vector<std::uint64_t> convicted = {};  // prefixes of ids of peers that sent false blocks
  // Written, never read: the highest number of an Epoch that came (docs/protocol.md, "Retired").
  std::uint64_t epoch = 0;
  // Read, never written. A peer of the last version that sets it takes no blocks without a claim,
  // which nobody makes any more (docs/protocol.md, "Retired").
  bool wants_claims = false;
  bool operator==(const State&) const = default;
};

struct Block {
  std::uint32_t generation = 0;
  std::uint32_t sequence = 0;
  std::optional<std::uint32_t> source_index;  // systematic; else `coefficients` has n bytes
  std::vector<std::uint8_t> coefficients;
  bool recoded = false;
  std::optional<State> state;
  Payload payload;
  bool unproven = false;  // its sender does not answer for it
  bool operator==(const Block&) const = default;
};

struct CheckRequest {
  std::vector<std::uint32_t> generations;  // 1 to kCheckGenerationsMax
  std::vector<std::uint8_t> key = {};      // 32 bytes, or none
  bool operator==(const CheckRequest&) const = default;
};

struct CheckReply {
  std::uint32_t generation = 0;
  std::vector<std::uint8_t> key;   // 32 bytes; empty: as in the last one on this connection
  std::vector<std::uint8_t> sums;  // of n source blocks, n times t bytes; empty: there are none
  bool operator==(const CheckReply&) const = default;
};

struct LeafRequest {
  std::vector<std::uint32_t> generations;  // 1 to kLeafGenerationsMax
  bool operator==(const LeafRequest&) const = default;
};

struct LeafReply {
  std::uint32_t generation = 0;
  std::vector<Digest> leaves;  // of n source blocks; empty: there are none
  bool operator==(const LeafReply&) const = default;
};

struct PrivateProof {
  std::array<std::uint8_t, limits::kPrivateProofBytes> proof{};
  bool operator==(const PrivateProof&) const = default;
};

struct ManifestRequest {
  std::uint64_t offset = 0;
  bool operator==(const ManifestRequest&) const = default;
};

struct ManifestPart {
  std::uint64_t total_bytes = 0;
  std::uint64_t offset = 0;
  std::string data;
  bool operator==(const ManifestPart&) const = default;
};

struct PeerExchange {
  std::vector<PeerEndpoint> peers;
  bool operator==(const PeerExchange&) const = default;
};

enum class GoodbyeReason {
  kUnspecified,
  kShuttingDown,
  kNotServing,
  kVersion,
  kProtocolError,
  kBanned,
  kTooManyPeers,
  kNotUseful,
  kSelf,
  kDuplicate,
};

struct Goodbye {
  GoodbyeReason reason = GoodbyeReason::kUnspecified;
  std::string detail;
  bool operator==(const Goodbye&) const = default;
};

// A message of a retired kind, or of a kind that this version does not know. It is no fault. Its
// content was not read, but for one number. Nobody sends one: serialize() and wire_bytes() do not
// take it.
struct PassedOver {
  std::uint64_t epoch = 0;  // of an Epoch (docs/protocol.md, "Retired"): its number
  bool operator==(const PassedOver&) const = default;
};

using PeerMessage =
    std::variant<Hello, State, Block, ManifestRequest, ManifestPart, PeerExchange, Goodbye,
                 CheckRequest, CheckReply, LeafRequest, LeafReply, PrivateProof, PassedOver>;

// What one frame holds. Of several bodies the last one of a known kind counts. Errors: kProtocol
// with what is wrong, also if there is no body. Any thread. A block's payload is copied once, from
// `frame` into its own Payload; its fields may come in any order.
Result<PeerMessage> parse_peer_message(std::span<const std::uint8_t> frame);

// A frame ready to send: `head` (length prefix and all small fields), then `payload` (may be
// empty). Only a Block has a payload; it is not copied. Texts (agent, detail) are made plain and
// cut to their limits on the way; any other field past its limit is the caller's mistake.
struct OutgoingFrame {
  std::string head;
  Payload payload;
  std::size_t bytes() const { return head.size() + payload.size(); }
};
OutgoingFrame serialize(const PeerMessage& message);
OutgoingFrame serialize(const Block& block);

// Bytes that serialize(message) would send, without making them (simulation, rate limits).
std::size_t wire_bytes(const PeerMessage& message);
std::size_t wire_bytes(const Block& block);

// Bytes of memory that a message holds beside sizeof(PeerMessage): what a queue of messages is
// charged. A State of a few bytes on the wire can be many times larger in memory.
std::size_t heap_bytes(const PeerMessage& message);

// --- tracker ---

enum class AnnounceEvent { kPeriodic, kStarted, kCompleted, kStopped };

struct Announce {
  ContentId content_id;
  AnnounceEvent event = AnnounceEvent::kPeriodic;
  std::uint16_t listen_port = 0;
  bool complete = false;
  std::uint8_t lacks_percent = 0;  // of the content, at most 100; 0: complete, or not said
  std::uint32_t peers_wanted = 50;
  std::optional<PublicKey> signer = {};  // whose envelope of the manifest is meant; none: any
  bool operator==(const Announce&) const = default;
};
struct TrackerManifestGet {
  ContentId content_id;
  std::uint64_t offset = 0;
  std::optional<PublicKey> signer = {};  // none: any
  bool operator==(const TrackerManifestGet&) const = default;
};
struct TrackerManifestPut {
  ContentId content_id;
  std::uint64_t total_bytes = 0;
  std::uint64_t offset = 0;
  std::string data;
  std::optional<PublicKey> signer = {};  // none: it is not said
  bool operator==(const TrackerManifestPut&) const = default;
};
using TrackerRequest = std::variant<Announce, TrackerManifestGet, TrackerManifestPut>;

struct AnnounceReply {
  std::uint32_t interval_seconds = 0;
  std::uint32_t complete_count = 0;
  std::uint32_t incomplete_count = 0;
  bool has_manifest = false;
  std::vector<PeerEndpoint> peers;
  bool operator==(const AnnounceReply&) const = default;
};
struct TrackerManifestPutReply {
  std::uint64_t next_offset = 0;
  bool operator==(const TrackerManifestPutReply&) const = default;
};
enum class TrackerErrorCode {
  kUnspecified,
  kMalformed,
  kUnknownContent,
  kTooLarge,
  kSlowDown,
  kInternal,
  kNotAllowed,
};
struct TrackerError {
  TrackerErrorCode code = TrackerErrorCode::kUnspecified;
  std::string detail;
  std::uint32_t retry_seconds = 0;
  bool operator==(const TrackerError&) const = default;
};
using TrackerReply =
    std::variant<AnnounceReply, ManifestPart, TrackerManifestPutReply, TrackerError>;

Result<TrackerRequest> parse_tracker_request(std::span<const std::uint8_t> frame);
Result<TrackerReply> parse_tracker_reply(std::span<const std::uint8_t> frame);
OutgoingFrame serialize(const TrackerRequest& request);
OutgoingFrame serialize(const TrackerReply& reply);

}  // namespace firn::proto
