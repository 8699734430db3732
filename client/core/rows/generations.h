// The generations of a content while this peer downloads them: its holdings, which generations
// memory allows it to open and to name to neighbours, and which it has lost.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "client/core/base/types.h"
#include "client/core/rows/holdings.h"
#include "proto/content/shape.h"
#include "proto/messages.h"

namespace firn::core {

inline constexpr std::uint64_t kOpenMin = 4;        // generations open at once, however large n is
inline constexpr std::uint32_t kEndShare = 8;       // reads_end(): 1/8 of the rows [100]
inline constexpr TimeUs kInviteTime = 1 * kSecond;  // then others are named in its place [062]
// So long after the disk was full twice as many may be open. Less: rows are fetched for nothing.
inline constexpr TimeUs kRoomAgainAfter = 60 * kSecond;

class Generations {
 public:
  // `memory_bytes`: Options::memory_bytes.
  Generations(const Shape& shape, std::uint64_t memory_bytes);

  const Holdings& holdings() const { return holdings_; }

  // What an earlier run left. Returns the generations of which all rows are there.
  std::vector<std::uint32_t> restore(const StartState& state, TimeUs now);

  // --- filling ---
  // Whether there is memory to open g, if it is not open. A generation that is turned away for want
  // of memory is remembered (`verified`).
  bool accepts(std::uint32_t g);
  // Whether it is named to neighbours as wanted. Of generations that are not open no more are named
  // at a time than there is memory for: each neighbour may begin to send what it is told of.
  bool invites(std::uint32_t g, TimeUs now);
  // Generations that were turned away, while there is memory for one more: in turn, `count_max` at
  // most, and only those that some neighbour offers. One that was named before may be named again.
  std::vector<std::uint32_t> next_waiting(const std::function<bool(std::uint32_t)>& offered,
                                          std::uint32_t count_max, TimeUs now);
  const std::set<std::uint32_t>& waiting() const { return not_opened_; }
  // If g has just been opened and took the last room: the next few generations, which are turned
  // away from now on. Senders must be told at once, so that they send nothing of them.
  std::vector<std::uint32_t> shut_after(std::uint32_t g);
  // Holdings::insert.
  std::optional<std::uint32_t> insert(std::uint32_t g, const Vector& vector,
                                      const Holdings::Origin& origin, TimeUs now) {
    return holdings_.insert(g, vector, origin, now);
  }
  // The disk is full: of the open generations that are not being decoded the one with the fewest
  // rows, whose rows are to go. Without it there are as many as may be open for now. Empty: another
  // one's rows need room as well, and this is the only one.
  std::optional<std::uint32_t> close_one(TimeUs now);
  bool full(std::uint32_t g) const { return holdings_.rank(g) == holdings_.blocks_in(g); }
  // Its rows are being decoded; returns their vectors.
  const std::vector<Vector>& start_decode(std::uint32_t g);

  // g is verified. Returns generations that were turned away for want of memory; now there is some
  // for these.
  std::vector<std::uint32_t> verified(std::uint32_t g, TimeUs now);

  // --- false and lost ones ---
  // Back to rank 0, to be fetched again.
  void lose(std::uint32_t g);
  // As lose, but not wanted any more.
  void give_up(std::uint32_t g);
  // Holdings::want. What is wanted from now on waits as if it had been turned away; returns those
  // of it that there is room for. Rows of what is not wanted any more are for the caller to drop.
  std::vector<std::uint32_t> want(GenerationSet wanted, TimeUs now);
  // What the user reads now: these are named to neighbours as urgent, and opened whatever room
  // there is. Returns those that were so, or are.
  std::vector<std::uint32_t> hurry(Urgent urgent);
  const Urgent& urgent() const { return urgent_; }
  // Little is missing of what is read first.
  bool reads_end() const {
    const auto first = std::ranges::find_if(
        urgent_, [this](const auto& one) { return holdings_.wants(one.first); });
    if (first == urgent_.end()) return false;
    const std::uint32_t blocks = holdings_.blocks_in(first->first);
    return (blocks - holdings_.rank(first->first)) * kEndShare <= blocks;
  }
  std::uint32_t urgency(std::uint32_t g) const {
    const auto known = urgent_.find(g);
    return known == urgent_.end() ? proto::kNotUrgent : known->second;
  }
  // What comes from an origin (origin_fetch.h): no other peer need ask for it there.
  void set_fetching(std::vector<proto::Span> spans) { fetching_ = std::move(spans); }
  const std::vector<proto::Span>& fetching() const { return fetching_; }
  // What this peer neither has in whole nor wants.
  std::vector<std::uint32_t> unwanted() const;
  // Rows that have been judged: Holdings::mark, doubt, doubt_all and remove.
  void mark(std::uint32_t g, const std::vector<std::uint32_t>& slots, Rows as) {
    holdings_.mark(g, slots, as);
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

  // Lost generations of which no row has come since.
  const std::set<std::uint32_t>& lost() const { return lost_; }
  // A few of those that are `offered` by some neighbour, in turn; `count_max` at most.
  std::vector<std::uint32_t> next_lost(const std::function<bool(std::uint32_t)>& offered,
                                       std::uint32_t count_max);

 private:
  std::uint64_t room() const;
  void widen(TimeUs now);
  bool begun(std::uint32_t g) const;
  std::uint64_t room_to_invite(TimeUs now);
  void forget_settled();  // of those that wait
  // Of those that wait and are not named yet, as many as there is room for.
  std::vector<std::uint32_t> welcome(TimeUs now);

  const std::uint64_t memory_bytes_;
  std::uint64_t disk_room_ = ~std::uint64_t{0};  // generations that the disk has room for
  TimeUs widen_at_ = kNever;                     // it may have more again
  Holdings holdings_;
  std::set<std::uint32_t> not_opened_;       // turned away, or named since and not open yet
  std::map<std::uint32_t, TimeUs> invited_;  // not open; when it was named
  std::uint32_t next_waiting_ = 0;           // from which on next_waiting looks next
  Urgent urgent_;                            // to be read
  std::vector<proto::Span> fetching_;
  std::set<std::uint32_t> lost_;
  std::uint32_t next_lost_ = 0;  // from which on next_lost looks next
};

}  // namespace firn::core
