// How nonces get to the authority and what it says of them back (authority_clock.h), at a cost that
// does not grow with the swarm. A relay gathers the nonces of its neighbours, one of each, and its
// own in a list, and sends the hash of the list on as its nonce, towards the authority. Once an
// Epoch names that, it sends each neighbour the list as proof that its nonce was in it. So the
// authority names a nonce for each of its own neighbours, however many peers stand behind them; and
// a neighbour that sends false nonces without end fills no place but its own.
//
// With the nonces go alarms, and the generations that peers want judged.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "client/core/authority_clock.h"
#include "client/core/context.h"
#include "client/core/epochs.h"
#include "client/core/membership.h"
#include "client/core/outbox.h"
#include "proto/base/token_bucket.h"
#include "proto/messages.h"

namespace firn::core {

class Timekeeping final : public LeaveWatcher {
 public:
  Timekeeping(const Context& context, Membership& membership, Outbox& outbox, const Epochs& epochs);

  const AuthorityClock& authority_clock() const { return clock_; }
  // The Epoch, or an earlier one of its speaker, names a nonce of this peer: so it was signed after
  // this peer began, and is no recording of what was said in an earlier run.
  bool is_fresh(const proto::Epoch& epoch) const {
    return fresh_from_ && epoch.number >= *fresh_from_;
  }
  // Changes with the clock's bound.
  std::uint32_t bounds() const { return bounds_; }

  // A neighbour's request, to be sent on.
  void asked(const Neighbour& n, const proto::EpochRequest& request);
  // A new Epoch has come.
  void learned(const proto::Epoch& epoch);
  // False if the proof is none.
  bool proved(const Neighbour& n, const proto::EpochProof& proof);

  // This peer has met a false row.
  void raise_alarm();
  // It holds rows of g that it wants judged.
  void want(std::uint32_t g) { wanted_.insert(g); }

  void leaves(const Neighbour& n) override;

  // Sends what has gathered.
  void step();
  TimeUs next_due() const;

 private:
  // Nonces that were sent on as one.
  struct Batch {
    proto::Nonce hash{};
    TimeUs sent = 0;
    bool own = false;  // ours is among them
    std::vector<proto::Nonce> list;
    std::vector<PeerKey> from;  // of the others, in their order, after ours
  };
  proto::Nonce draw();
  bool wants_own() const;
  void answer(const Batch& batch, std::uint64_t epoch, TimeUs heard, const proto::EpochProof& on);
  void send();

  const Context& context_;
  Membership& membership_;
  Outbox& outbox_;
  const Epochs& epochs_;
  AuthorityClock clock_;
  std::uint32_t bounds_ = 0;
  std::optional<std::uint64_t> fresh_from_;  // number of the first such Epoch
  std::uint32_t speakers_ = 0;
  std::uint64_t drawn_ = 0;
  TimeUs own_sent_ = -kSecond, sent_ = -kSecond, alarm_sent_ = -kSecond;
  bool alarm_ = false;
  std::map<PeerKey, proto::Nonce> gathered_;
  std::map<PeerKey, TokenBucket> allowances_;
  std::set<std::uint32_t> wanted_;                        // generations, by this peer
  std::map<PeerKey, std::set<std::uint32_t>> wanted_by_;  // what neighbours asked for last
  std::deque<Batch> batches_;
  std::deque<proto::Epoch> heard_;  // the last few, without sums: what proofs lead to
};

}  // namespace firn::core
