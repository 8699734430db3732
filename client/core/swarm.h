// The swarm core decides for one content at one peer: which peers to call, which blocks to ask for,
// which rows to believe, which block to send next. Feed it inputs and the time, drain its actions,
// ask when to wake it. It does no I/O, reads no clock, and never calls back. The same inputs and
// seed give the same actions.
//
//   inputs                                 actions
//   peer_opened, message, ...   ------>    Connect, Send, SendBlock, ...
//   row_stored, generation_decoded         StoreRow, Decode, ...
//   tracker_replied, ...                   AnnounceTo, ...
//   wake
//
// Use: any sequence of inputs, then take_actions() and next_wake() after each.
// Threads: one. Times must not go backwards.
//
// Life: without a manifest (from a link) the core finds peers and fetches it (ManifestArrived);
// start() gives it the content's shape and what an earlier run left; then it downloads, recodes for
// others, completes (ContentComplete), seeds as long as SeedPolicy says (Finished). A peer that has
// everything starts with all generations verified.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "client/core/base/actions.h"
#include "client/core/base/types.h"
#include "client/core/rows/generation_set.h"
#include "client/core/view/report.h"
#include "client/core/view/standstill.h"
#include "client/core/view/swarm_view.h"
#include "proto/content/manifest.h"
#include "proto/messages.h"

namespace firn::core {

struct Parts;  // parts.h

class SwarmCore {
 public:
  SwarmCore(const ContentId& content_id, Options options, TimeUs now);
  ~SwarmCore();

  // Gives the shape; once. If everything is verified the peer is a source; `finished` says that the
  // store needs no finishing (firn share, seed).
  void start(const Manifest& manifest, const StartState& state, bool finished, TimeUs now);
  bool started() const;

  // --- connections ---
  // A connection is open, and both identities are proven. `attempt`: from Connect, 0 for an
  // accepted one. `round_trip`: shortest one that the kernel measured, microseconds; 0: not known.
  void peer_opened(PeerKey peer, const PeerId& id, const std::string& ip, std::uint16_t port,
                   std::uint64_t attempt, TimeUs now, TimeUs round_trip = 0);
  void connect_failed(std::uint64_t attempt, const Error& error, TimeUs now);
  // `why`: for people, where it is known.
  void peer_closed(PeerKey peer, TimeUs now, const std::string& why = {});
  // As peer_closed, because what the peer sent was no frame or no message: `what`, for people.
  void peer_broke_protocol(PeerKey peer, const std::string& what, TimeUs now);
  // A validated message (proto/messages.h), and the bytes its frame had.
  void message(PeerKey peer, proto::PeerMessage message, std::size_t frame_bytes, TimeUs now);
  // The oldest `blocks` SendBlocks for this peer have left this host's queues. `bytes`: of all
  // their frames; 0: they could not be made.
  void blocks_departed(PeerKey peer, std::uint32_t blocks, std::size_t bytes, TimeUs now);
  // The ManifestPart last sent to this peer has been handed to the kernel.
  void manifest_part_departed(PeerKey peer, TimeUs now);

  // --- coding and disk ---
  // Answers to one StoreRow each.
  void row_stored(TimeUs now);
  void generation_decoded(std::uint32_t generation, DecodeOutcome outcome, TimeUs now);
  // An origin can be asked for generations from now on, or none can. At first none can.
  void origin_open(bool open, TimeUs now);
  // All generations that no origin has, as far as is known now.
  void origins_lack(const GenerationSet& lacking, TimeUs now);
  // The answer for one generation of FetchFromOrigin. `verified`: it came, is right and written.
  void generation_fetched(std::uint32_t generation, bool verified, TimeUs now);
  // The answer to JudgeRows: which of its slots hold true rows, and which false ones. `readable`:
  // false if they could not be read back; then both are empty.
  void rows_judged(std::uint32_t generation, const std::vector<std::uint32_t>& right,
                   const std::vector<std::uint32_t>& wrong, bool readable, TimeUs now);
  // The answer to MakeCheck, with the key, or to MakeLeaves; without sums or leaves if they could
  // not be made.
  void proof_made(PeerKey peer, std::variant<proto::CheckReply, proto::LeafReply> reply,
                  TimeUs now);
  // The answer to the last ContentComplete, not to one before want(). False: something is missing
  // since, and another ContentComplete will come.
  bool content_finished(TimeUs now);
  // The disk accepts nothing for now (full, vanished): no blocks are granted until it is resumed.
  // The driver keeps and retries what failed, and says so again each time that it fails; DropRows
  // goes first.
  void store_paused(const Error& error, TimeUs now);
  void store_resumed(TimeUs now);
  // A verified generation cannot be read, or has changed, and is not served. `fetch_again`: it is
  // wanted once more; otherwise its file belongs to the user, who may have changed it, and the
  // download ends without the generation unless it is regained.
  void generation_lost(std::uint32_t generation, const Error& error, bool fetch_again, TimeUs now);
  // A generation that was lost and not fetched again is right again.
  void generation_regained(std::uint32_t generation, TimeUs now);

  // --- what the user wants ---
  // These generations from now on, a flag for each; at the start, StartState::wanted. Others that
  // are verified are kept and served. ContentComplete comes once all wanted ones are there, also if
  // they were before: the store must know the choice by then (ContentStore::choose).
  void want(const std::vector<bool>& wanted, TimeUs now);
  // What is read now comes before the rest: kUrgentMax generations at most. Replaces what was said
  // before; what is verified, or not wanted, is no matter.
  void hurry(Urgent urgent, TimeUs now);

  // --- trackers ---
  // Peers that the driver has heard of by other ways, which are taken as a tracker's are.
  void peers_named(const std::vector<proto::PeerEndpoint>& peers, TimeUs now);
  void tracker_replied(std::size_t tracker, const proto::AnnounceReply& reply, TimeUs now);
  void tracker_failed(std::size_t tracker, const Error& error, std::uint32_t retry_seconds,
                      TimeUs now);
  // A manifest file, not yet believed, or why there is none; from a neighbour or (kNoPeer) a
  // tracker. A neighbour is punished for kCorrupt and kBadInput alone.
  void manifest_read(PeerKey peer, std::size_t tracker, Result<std::string> file_bytes, TimeUs now);

  // --- limits ---
  // This content's own limits, at first those of Options: bytes a second, 0: none.
  void set_limits(std::uint64_t up, std::uint64_t down, TimeUs now);

  // --- time ---
  void wake(TimeUs now);
  // When wake() must be called at the latest if nothing else comes; kNever: not at all.
  TimeUs next_wake() const;

  // Says goodbye to all peers and trackers (STOPPED announces); Finished follows.
  void stop(TimeUs now);

  // Actions since the last call, in the order they must be performed.
  std::vector<Action> take_actions();

  // With all present and past neighbours, or without any.
  Report report(ReportOn on = ReportOn::kNeighbours) const;
  Counters counters() const;
  // Whether this generation is still to be fetched, wherever from.
  bool wants(std::uint32_t generation) const;

  // Why nothing comes now. Its time grows with the number of missing generations.
  Standstill standstill() const;
  // For people, as of the last input. Its time grows with the number of open generations.
  SwarmView view() const;
  // The connected peers alone. Its time grows with their number.
  std::vector<PeerStatus> peers() const;

 private:
  void step();

  std::unique_ptr<Parts> parts_;
};

}  // namespace firn::core
