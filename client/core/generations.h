// The generations of a content as this peer fills them: what it holds, from which peers it takes
// rows of which, and which it has lost.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "client/core/holdings.h"
#include "client/core/rescue.h"
#include "client/core/start_state.h"
#include "proto/content/shape.h"

namespace firn::core {

class Generations {
 public:
  // `memory_bytes`: Options::memory_bytes.
  Generations(const Shape& shape, std::uint64_t memory_bytes);

  const Holdings& holdings() const { return holdings_; }

  // What an earlier run left. Returns the generations of which all rows are there.
  std::vector<std::uint32_t> restore(const StartState& state, TimeUs now);

  // --- filling ---
  // Whether rows of g from this peer are wanted, and there is memory to open g. A generation that
  // is turned away for want of memory is remembered (Verified::waiting).
  bool accepts(std::uint32_t g, const PeerId& sender);
  // Whether it is named to the peer as wanted. Of generations that are not open no more are named
  // at a time than there is memory for: each neighbour may begin to send what it is told of.
  bool invites(std::uint32_t g, const PeerId& sender, TimeUs now);
  // Generations that were turned away, while there is memory for one more: in turn, `count_max` at
  // most, and only those that some neighbour offers. Those that were named before have not come.
  bool any_waiting() const { return !not_opened_.empty(); }
  std::vector<std::uint32_t> next_waiting(const std::function<bool(std::uint32_t)>& offered,
                                          std::uint32_t count_max, TimeUs now);
  const std::set<std::uint32_t>& waiting() const { return not_opened_; }
  // Where g has just been opened and took the last room: the next few generations, which are turned
  // away from now on. Senders that are told so at once send nothing of them.
  std::vector<std::uint32_t> shut_after(std::uint32_t g);
  // Holdings::insert.
  std::optional<std::uint32_t> insert(std::uint32_t g, const Vector& vector,
                                      const Holdings::Origin& origin, TimeUs now);
  bool full(std::uint32_t g) const { return holdings_.rank(g) == holdings_.blocks_in(g); }
  // Its rows are being decoded; returns their vectors.
  const std::vector<Vector>& start_decode(std::uint32_t g);
  bool decoding(std::uint32_t g) const;

  struct Verified {
    std::vector<std::uint32_t> waiting;  // turned away for want of memory; there is some for these
    bool check_evidence = false;
  };
  Verified verified(std::uint32_t g, TimeUs now);

  // --- false and lost ones ---
  // Rows of open generation g of which some are false, if it decoded to false data: those that are
  // not proven; all, where all are.
  struct Suspects {
    std::vector<std::uint32_t> slots;
    std::vector<PeerId> senders;
    std::vector<bool> answered;  // its sender answers for the row
  };
  Suspects suspects(std::uint32_t g) const;
  // g decoded to false data, for the rows of these senders: Rescue::failed.
  Rescue::Verdict failed(std::uint32_t g, const std::vector<PeerId>& senders,
                         const Rescue::Holders& holders, TimeUs now) {
    return rescue_.failed(g, senders, holders, now);
  }
  // Rescue::lift.
  void lift_rescue(std::uint32_t g) { rescue_.lift(g); }
  // Back to rank 0, to be fetched again.
  void lose(std::uint32_t g);
  // As lose, but not wanted any more.
  void give_up(std::uint32_t g);
  // Rows that have been judged: Holdings::prove and remove.
  void prove(std::uint32_t g, const std::vector<std::uint32_t>& slots) {
    holdings_.prove(g, slots);
  }
  // Holdings::believe, doubt and doubt_all.
  void believe(std::uint32_t g, const std::vector<std::uint32_t>& slots) {
    holdings_.believe(g, slots);
  }
  void doubt(const PeerId& sender) { holdings_.doubt(sender); }
  void doubt_all(bool proven_too) { holdings_.doubt_all(proven_too); }
  void remove(std::uint32_t g, const std::vector<std::uint32_t>& slots);
  // Rows of open generations that this peer has sent and that are not proven, but for generations
  // under decode.
  struct Slots {
    std::uint32_t generation = 0;
    std::vector<std::uint32_t> slots;
  };
  std::vector<Slots> unproven_rows_of(const PeerId& sender) const;
  // Rescue::review.
  std::vector<std::uint32_t> review_rescues(const Rescue::Holders& holders, TimeUs now);
  TimeUs next_rescue_review() const { return rescue_.next_review(); }

  // Lost generations of which no row has come since.
  bool any_lost() const { return !lost_.empty(); }
  const std::set<std::uint32_t>& lost() const { return lost_; }
  // A few of those that are `offered` by some neighbour, in turn; `count_max` at most.
  std::vector<std::uint32_t> next_lost(const std::function<bool(std::uint32_t)>& offered,
                                       std::uint32_t count_max);

 private:
  std::uint64_t room() const;
  bool begun(std::uint32_t g) const;
  bool may_open(std::uint32_t g);
  std::uint64_t room_to_invite(TimeUs now);
  void forget_settled();  // of those that wait

  const std::uint64_t memory_bytes_;
  Holdings holdings_;
  Rescue rescue_;
  std::set<std::uint32_t> not_opened_;       // turned away, or named since and not open yet
  std::map<std::uint32_t, TimeUs> invited_;  // not open; when it was named
  std::uint32_t next_waiting_ = 0;           // from which on next_waiting looks next
  std::set<std::uint32_t> lost_;
  std::uint32_t next_lost_ = 0;  // from which on next_lost looks next
};

}  // namespace firn::core
