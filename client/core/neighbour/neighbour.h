// One connected peer: facts. Its parts, each with private state, and who writes to it:
//
//   contact  how it is connected, and what its Hello told   (membership)
//   holds    what it holds and wants                        (read by all)
//   grants   what we grant it, as its receiver              (granting)
//   untold   what it is to be told of us                    (granting)
//   pipe     what we send it                                (sending)
//   traffic  what came and went, counted                    (receiving, outbox)
//   reports  what it says came to it from others            (contributions)
//
// Neighbour itself has what concerns several parts, and what follows from the facts: whether blocks
// may go to it, whether it is useful, or in debt. How it is regarded trust/ decides (regard_as).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/core/base/types.h"
#include "client/core/base/why_not.h"
#include "client/core/neighbour/contact.h"
#include "client/core/neighbour/grants.h"
#include "client/core/neighbour/pipeline.h"
#include "client/core/neighbour/remote_holdings.h"
#include "client/core/neighbour/traffic.h"
#include "client/core/neighbour/untold.h"
#include "proto/messages.h"

namespace firn::core {

// A neighbour that had credit for so long, and sent nothing, only takes.
inline constexpr TimeUs kTakerTime = 10 * kSecond;
// In a small mesh: blocks that a neighbour may owe. A new row pays for kDebtRepaid blocks, and what
// is owed beyond that is forgiven; at most kDebtSaved are kept for later. The slowest uplinks of a
// swarm bring one row for ten blocks or so [042, 069]. Half: six of twelve that send sparse rows
// cost 8 % more, as honest peers are in debt too; double: takers get more, +4 % [096].
inline constexpr std::uint64_t kDebtMax = 20;
inline constexpr std::uint64_t kDebtRepaid = 32;
inline constexpr std::uint64_t kDebtSaved = 256;
// Part of its last blocks that is new, below which a neighbour is no holder to count with: it mixes
// a few rows again and again, or claims what it lacks [042, 069]. The second is for a peer that has
// met polluters, which drop rows of honest ones too: at 1 it starves [096].
inline constexpr double kUsefulMin = 0.75;
inline constexpr double kUsefulMinPolluted = 0.5;
// Below the first worth its rows count as lost [042], double +2 % [096]; above the second it is
// served as any other in a large mesh.
inline constexpr double kSinkWorth = 1.0 / 8;
inline constexpr double kTrustedWorth = 1.0 / 2;

// Tit-for-tat: the blocks that a neighbour was given beyond what it has paid for with new rows.
// Only in a small mesh, where each peer has news for each other one; in a large one some have none
// for those nearer to the source.
//
// A new row pays for several blocks, and what is owed beyond that is forgiven. So a peer with a
// slow uplink that brings one row for ten stays ahead of what it gets, although it may bring none
// for a while. If it did not, peers with fast uplinks would soon pass over the slow ones, these
// would lack most and be served by each other alone, and what the source gives to them would reach
// nobody else [069].
class FairExchange {
 public:
  // It has brought a new row, and has been sent `blocks_sent` so far. `saves`: the row may pay for
  // later blocks as well.
  void repaid(std::uint64_t blocks_sent, bool saves) {
    const std::uint64_t saved = std::min(paid_for_ + kDebtRepaid, blocks_sent + kDebtSaved);
    paid_for_ = saves ? std::max(saved, blocks_sent) : blocks_sent;
    owed_before_ = 0;
  }
  // Blocks that it owes from before it was sent any (predecessors.h).
  void begin_with(std::uint64_t owed) { owed_before_ = owed; }
  // It has brought too little for the `blocks_sent` that it has been sent so far.
  bool over(std::uint64_t blocks_sent) const {
    return blocks_sent + owed_before_ >= paid_for_ + kDebtMax;
  }

 private:
  std::uint64_t paid_for_ = 0;  // blocks that it may have been sent before it owes any
  std::uint64_t owed_before_ = 0;
};

// What a neighbour says in its States that it has received from others. By this a source learns
// which of its neighbours pass on what they are given.
class Reports {
 public:
  // The lists of a State. An empty list of convicted peers counts as well beside a report of
  // blocks: then its sender takes back what it said of others.
  void take(std::vector<proto::Received>&& received, std::vector<std::uint64_t>&& convicted) {
    if (!received.empty() || !convicted.empty()) convicted_ = std::move(convicted);
    if (!received.empty()) received_ = std::move(received);
  }
  // It says that this peer sent it a false block.
  bool convicts(std::uint64_t peer_prefix) const {
    return std::find(convicted_.begin(), convicted_.end(), peer_prefix) != convicted_.end();
  }
  // Innovative blocks, in all, from the peer whose id begins so; -1: it says nothing of that peer.
  std::int64_t from(std::uint64_t peer_prefix) const {
    for (const proto::Received& entry : received_) {
      if (entry.peer_prefix == peer_prefix) return entry.blocks;
    }
    return -1;
  }
  bool any() const { return !received_.empty(); }

 private:
  std::vector<proto::Received> received_;
  std::vector<std::uint64_t> convicted_;
};

// How this peer regards a neighbour's rows: the result of all that trust/ has found out about it.
// Granting and the policies use it.
enum class Regard : std::uint8_t {
  kProven,     // a row of it was shown to be true, or it speaks for the content's authority
  kNew,        // none was so far: it is on trial
  kSuspect,    // the same, and a row of it was false of late, or this peer has met polluters
  kSuspended,  // it was proven, but others say that it sends false rows now: it gets nothing, and
               // what it sends is thrown away
  kSuspendedOnTrial,  // the same of one that is on trial
};

inline bool is_suspended(Regard regard) {
  return regard >= Regard::kSuspended;
}
inline bool is_suspect(Regard regard) {
  return regard == Regard::kSuspect || regard == Regard::kSuspendedOnTrial;
}
inline bool on_trial(Regard regard) {
  return regard == Regard::kNew || is_suspect(regard);
}

class Neighbour {
 public:
  Neighbour(PeerKey own_key, const PeerId& own_id, std::string ip, std::uint16_t port,
            bool outgoing, TimeUs now)
      : key(own_key), id(own_id), contact(std::move(ip), port, outgoing, now), traffic(now) {}

  // Takes over a State. False if it breaks a rule (RemoteHoldings::apply, or an acknowledgement of
  // what was never sent).
  bool apply_state(proto::State&& state) {
    if (!pipe.acknowledge(state.acknowledged, holds)) return false;
    pipe.raise_credit(state.credit);
    reports.take(std::move(state.received), std::move(state.convicted));
    fetching = state.fetching;
    wants_claims_ = state.wants_claims;
    return holds.apply(std::move(state), pipe.next_sequence());
  }
  // Why no block may go to it now; nullopt: one may.
  std::optional<WhyNot> why_not_send() const {
    if (!holds.heard()) return WhyNot::kNotHeard;
    if (is_suspended(regard_)) return WhyNot::kSuspended;
    if (wants_claims_) return WhyNot::kLastVersion;
    if (!pipe.has_credit()) return WhyNot::kNoCredit;
    return std::nullopt;
  }
  bool may_send() const { return !why_not_send(); }
  // Books a block; returns its sequence number.
  std::uint32_t book_block(std::uint32_t generation, TimeUs now) {
    holds.in_flight(generation, pipe.next_sequence());
    return pipe.book(generation, now);
  }
  // Pipeline::departed.
  std::uint32_t block_departed(std::uint64_t bytes, TimeUs now) {
    return pipe.departed(bytes, holds, now);
  }
  // Rank over all generations, counting what is on its way.
  std::uint64_t expected_total_rank() const { return holds.total_rank() + pipe.in_flight(); }

  // Grants::book_arrival; the arrival is to be acknowledged.
  bool book_arrival(std::uint32_t sequence, std::uint64_t bytes, TimeUs now) {
    if (!grants.book_arrival(sequence, bytes, now)) return false;
    untold.arrived(sequence);
    return true;
  }
  // An innovative block of it has come.
  void brought_news() {
    traffic.innovative();
    fair_exchange_.repaid(pipe.blocks_sent(), !amid_polluters_);
  }
  // What those before it from its network have left (predecessors.h).
  void begin_with(std::uint64_t owed, std::uint32_t barren) {
    fair_exchange_.begin_with(owed);
    barren_before = barren;
  }
  // What it sends is mostly new.
  bool useful() const {
    const double least = amid_polluters_ ? kUsefulMinPolluted : kUsefulMin;
    return !is_suspended(regard_) && traffic.usefulness().share() >= least;
  }
  // It brings next to nothing for what it gets: a peer that only takes, or sends mixtures of few
  // rows. In a small mesh.
  bool in_debt() const { return !useful() || fair_exchange_.over(pipe.blocks_sent()); }
  // What trust/ makes of it. `amid_polluters`: this peer has met polluters not long ago. Among them
  // honest neighbours send more that is not new, and hostile ones are to save up nothing with true
  // rows.
  void regard_as(Regard regard, bool amid_polluters) {
    regard_ = regard;
    amid_polluters_ = amid_polluters;
  }
  Regard regard() const { return regard_; }
  // What a source gives to it reaches few others.
  bool sink() const { return worth < kSinkWorth; }
  // A source knows little good of it.
  bool low_worth() const { return worth < kTrustedWorth; }
  // It has had credit for long and sent nothing, though it holds something: a peer that only takes,
  // or one whose uplink does not reach as far as us.
  bool only_takes(TimeUs now) const {
    return grants.outstanding() > 0 && holds.total_rank() > 0 &&
           now - std::max(grants.last_arrival(), contact.opened_at()) >= kTakerTime;
  }

  // No block has come or gone since.
  TimeUs idle_since() const {
    return std::max({contact.opened_at(), grants.last_arrival(), pipe.last_departure()});
  }
  // Blocks that came or went.
  std::uint64_t moved() const { return grants.blocks_received() + pipe.blocks_sent(); }
  // As messages for people name it.
  std::string name() const { return id.text() + " at " + contact.endpoint(); }

  // What every step looks at comes first, in as few cache lines as it takes.
  const PeerKey key;
  Grants grants;
  Untold untold;
  Pipeline pipe;
  RemoteHoldings holds;
  const PeerId id;
  Contact contact;
  Traffic traffic;
  Reports reports;
  std::vector<proto::Span> fetching;  // generations that it fetches from an origin
  double worth = 1;                   // of a row that a source gives to it (contributions.h)
  std::uint32_t barren_before = 0;    // peers of its network that passed nothing on
  bool stranger = false;              // Neighbours::strangers

 private:
  FairExchange fair_exchange_;
  Regard regard_ = Regard::kNew;
  bool amid_polluters_ = false;
  // It is of the last version, and takes no block that its sender has not signed: this version
  // signs none.
  bool wants_claims_ = false;
};

}  // namespace firn::core
