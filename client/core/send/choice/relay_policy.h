// How a relay chooses which neighbour gets a block of which generation next. A peer that was
// complete from the start, or that is complete and has more than kFewToLookAt neighbours, chooses
// by SourcePolicy. A choice is made only when some socket can take a block, so it is as late as it
// can be.
//
// Neighbours take turns, but one of low rank comes sooner. Of the generations in which the relay
// surely has news for the neighbour it takes the lowest, in a large mesh the one with the largest
// rank gap.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <variant>
#include <vector>

#include "client/core/base/why_not.h"
#include "client/core/neighbour/neighbours.h"
#include "client/core/rows/holdings.h"
#include "client/core/send/choice/choice.h"
#include "client/core/send/choice/late_binding.h"
#include "client/core/send/choice/prospects.h"
#include "codec/random.h"

namespace firn::core::policy {

// A generation of which at most this many rows are missing is open to every relay [013].
inline constexpr std::uint32_t kClosing = 4;

// The front of a download, as a relay sees it: the generations to which its newest rows belong.
//
// The highest one is at the front. A generation that the download has passed stays at the front
// while first-hand rows of it are on their way from other relays to their neighbours: the rank that
// a neighbour reports leaves them out.
class DownloadFront {
 public:
  // Where the download is (Holdings::frontier), as last said.
  std::uint32_t frontier() const { return frontier_; }
  // It goes on to there. What it passes stays at the front for `lag` more.
  void move(std::uint32_t frontier, TimeUs lag, TimeUs now) {
    passed_.push_back({now + lag, first_of(frontier_)});
    frontier_ = frontier;
  }
  // The lowest generation at the front.
  std::uint32_t first(TimeUs now) {
    while (!passed_.empty() && passed_.front().until <= now) passed_.pop_front();
    return passed_.empty() ? first_of(frontier_) : passed_.front().first;
  }

 private:
  struct Passed {
    TimeUs until = 0;
    std::uint32_t first = 0;
  };
  static std::uint32_t first_of(std::uint32_t frontier) { return frontier > 0 ? frontier - 1 : 0; }

  std::uint32_t frontier_ = 0;
  std::deque<Passed> passed_;
};

class RelayPolicy {
 public:
  struct Circumstances {
    bool small_mesh = false;     // the swarm is so small that every peer can know every other
    TimeUs trial_from = kNever;  // trust::Terms::trial_from
  };

  explicit RelayPolicy(std::uint64_t seed) : random_(seed, 0x72656c6179) {}

  // Which generations can be served has changed.
  void look_again();

  std::optional<Choice> choose(const Holdings& holdings, const Neighbours& neighbours,
                               const Circumstances& circumstances, const Sockets& sockets,
                               TimeUs now);
  // Why the neighbour is not chosen; nullopt: it is, in its turn. As choose() has it, but without
  // a bound on the time that this takes.
  std::optional<WhyNot> why_not(const Holdings& holdings, const Neighbours& neighbours,
                                const Neighbour& neighbour, const Circumstances& circumstances,
                                const Sockets& sockets, TimeUs now) const;

 private:
  // What is remembered of a neighbour while it is connected.
  struct Memory {
    PeerKey peer = kNoPeer;
    const Neighbour* neighbour = nullptr;  // since remember()
    std::uint64_t last_choice = 0;         // number of the last choice of it
    std::uint32_t look_from = 0;   // where to look on if the lowest generations are of no use to it
    bool placed = false;           // among the others: it has told of its ranks
    std::uint64_t head_start = 0;  // rows that it lacked when it came and that make it no sooner
    Prospects prospects{};
  };
  struct Eligible {
    std::uint64_t turn = 0;  // the lowest comes first
    Memory* memory = nullptr;
  };
  // Which neighbours are served last while others need blocks.
  enum class Last { kNobody, kDebtors, kOnTrial };
  struct Candidate {
    std::uint32_t generation = 0;
    double score = 0;  // 0: nothing
    bool use_null_vector = false;
    bool plain = false;
  };
  void remember(const Neighbours& neighbours);
  void place_newcomers();
  static Last served_last(const Circumstances& circumstances, bool complete);
  static bool is_last(const Neighbour& neighbour, Last last, const Circumstances& circumstances);
  // Whether some neighbours that are not served last want something.
  static bool others_want(const Neighbours& neighbours, Last last,
                          const Circumstances& circumstances);
  void line_up(const Neighbours& neighbours, const Circumstances& circumstances, bool complete,
               const Sockets& sockets, TimeUs now);
  void find_front(const Holdings& holdings, const Neighbours& neighbours, TimeUs now);
  Candidate best_urgent(const Holdings& holdings, Memory& memory, bool small_mesh, TimeUs now);
  Candidate best_generation(const Holdings& holdings, Memory& memory, bool small_mesh, TimeUs now);
  Candidate best_from(std::uint32_t& g, const Holdings& holdings, const Neighbour& neighbour,
                      Prospects& prospects, bool small_mesh, TimeUs now);
  std::variant<Candidate, WhyNot> judge(const Holdings& holdings, const Neighbour& neighbour,
                                        std::uint32_t g, bool small_mesh, TimeUs now) const;

  codec::CoefficientStream random_;
  DownloadFront front_;            // of small meshes
  TimeUs began_ = kNever;          // first asked for a choice
  std::uint32_t front_first_ = 0;  // the lowest generation there
  std::uint64_t choices_ = 0;
  std::vector<Memory> memory_;      // of the neighbours, in their order
  std::vector<Eligible> eligible_;  // scratch of choose()
};

}  // namespace firn::core::policy
