// What the swarm core asks its driver to do. The driver (client/app, or a simulation) performs
// actions in order and feeds the outcome back as an input; the core never waits.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "client/core/base/types.h"
#include "codec/secret_memory.h"
#include "proto/base/result.h"
#include "proto/content/manifest.h"
#include "proto/messages.h"

namespace firn::core {

// Coding vectors are shared, never changed.
using Vector = std::shared_ptr<const std::vector<std::uint8_t>>;

// Connect; answer with peer_opened(.., attempt) or connect_failed(attempt).
struct Connect {
  std::uint64_t attempt = 0;
  Address address;
};

// Close the connection after what is queued. The core has forgotten the peer already; a later
// peer_closed for it is ignored.
struct Close {
  PeerKey peer = kNoPeer;
};

// Answer a ManifestPart with manifest_part_departed(peer) once it has been handed to the kernel.
struct Send {
  PeerKey peer = kNoPeer;
  proto::PeerMessage message;  // never a Block
};

// Make the payload of `block`, then send it. Answer with blocks_departed(peer) once it has been
// handed to the kernel (or could not be made: then nothing is sent, which the protocol allows).
//   slots empty:  the generation is verified: block = the source block `block.source_index`, or the
//                 combination of source blocks with block.coefficients.
//   else:         block = sum_i mix[i] * (row in slots[i]), rows as stored by StoreRow.
struct SendBlock {
  PeerKey peer = kNoPeer;
  proto::Block block;  // payload empty
  // Any other random vector would do as well: a driver that has such a block of this generation
  // ready may send that one, with its vector in place of block.coefficients.
  bool exchangeable = false;
  // The next SendBlock is of the same generation and for the same peer, and these may leave
  // together: small blocks of a fast source.
  bool more_follow = false;
  std::vector<std::uint32_t> slots;
  std::vector<std::uint8_t> mix;
};

// Keep an innovative row. Answer with row_stored() once it needs no more memory than a spooled row
// does (it is in the spool, or its generation has been dropped).
struct StoreRow {
  std::uint32_t generation = 0;
  std::uint32_t slot = 0;
  Vector vector;
  PeerId sender;
  Standing standing = Standing::kUnanswered;  // to be kept with it (ResumedRow)
  proto::Payload payload;
};

// These rows are proven now: store that with them. Needs no answer; if it cannot be stored, a later
// run has the rows judged once more.
struct MarkProven {
  std::uint32_t generation = 0;
  std::vector<std::uint32_t> slots;
};

// No row counts as proven any more: in memory and in the store, proven rows become kUnanswered.
// Needs no answer.
struct DoubtRows {};

// All rows of a generation are there: decode, check the digest, write it to its files. Answer with
// generation_decoded(generation, outcome).
struct Decode {
  std::uint32_t generation = 0;
  std::vector<Vector> vectors;  // vectors[s] belongs to slot s, 0..n-1
};

// Ask an origin for these consecutive generations, compare each with its digest and write it to its
// files. Answer with generation_fetched(g, ...) for each, in order.
struct FetchFromOrigin {
  std::uint32_t first = 0, count = 0;
};

enum class DecodeOutcome {
  kVerified,  // decoded, digest right, written
  kCorrupt,   // digest wrong: some row was false
  kFailed,    // rows could not be read back; they are fetched again
};

// Forget the rows of a generation.
struct DropRows {
  std::uint32_t generation = 0;
};

// Forget the rows in these slots.
struct DropSlots {
  std::uint32_t generation = 0;
  std::vector<std::uint32_t> slots;
};

// Say which of these rows are false: those whose hash under the key is not the combination of the
// source blocks' check sums that their vector promises. Answer with rows_judged(generation, ...).
struct JudgeRows {
  std::uint32_t generation = 0;
  codec::SecretVector<std::uint8_t> key, sums;  // as CheckReply has them
  std::vector<std::uint32_t> slots;
  std::vector<Vector> vectors;  // of those slots
};

// Compute check sums of t bytes of the generation's source blocks under this key; if it is empty,
// under a new secret one. Answer with proof_made(peer, ...).
struct MakeCheck {
  PeerKey peer = kNoPeer;  // kNoPeer: to compare them with what another has told (check_review.h)
  std::uint32_t generation = 0;
  std::uint32_t tag_bytes = 0;  // t
  codec::SecretVector<std::uint8_t> key;
};

// Hash the source blocks of a verified generation. Answer with proof_made(peer, ...); without
// leaves if the generation cannot be read.
struct MakeLeaves {
  PeerKey peer = kNoPeer;
  std::uint32_t generation = 0;
};

// Answer with tracker_replied or tracker_failed.
struct AnnounceTo {
  std::size_t tracker = 0;  // index into Options::trackers
  proto::Announce announce;
};

// Only without a manifest: ask a tracker for it. Answer with manifest_read(kNoPeer, tracker, ...).
struct FetchManifestFrom {
  std::size_t tracker = 0;
};

// Only without a manifest: keep this part of it with those that came from the same neighbour before
// it, in order; one at offset 0 begins anew. With the last one all of it is there: answer with
// manifest_read(peer, ...). One without data: drop them.
struct KeepManifestPart {
  PeerKey peer = kNoPeer;
  proto::ManifestPart part;
};

// The manifest has arrived: open the store, then call start(). It names no trackers.
struct ManifestArrived {
  Manifest manifest;
};

// Every generation is verified. Finish the store (final names); answer with content_finished().
struct ContentComplete {};

// The peer leaves: it has seeded as long as SeedPolicy says, or stop() was called. The last action.
struct Finished {};

// Something a person may want to know.
struct Notice {
  enum class Kind {
    kInfo,
    kWarning,
  };
  Kind kind = Kind::kInfo;
  std::string text;
  // Groups notices of one kind of which there may be very many; else empty.
  std::string topic = {};
};

using Action =
    std::variant<Connect, Close, Send, SendBlock, StoreRow, MarkProven, Decode, DropRows, DropSlots,
                 JudgeRows, MakeCheck, MakeLeaves, AnnounceTo, FetchManifestFrom, KeepManifestPart,
                 ManifestArrived, ContentComplete, Finished, Notice, DoubtRows, FetchFromOrigin>;

}  // namespace firn::core
