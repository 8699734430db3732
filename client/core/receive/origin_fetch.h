// Chooses which generations this peer asks of an origin: a web server that has the content's files.
// Each generation should leave it once, as an origin is slow, shared or paid for: what some peer
// holds, or says that it fetches (a claim, State.fetching), is left to the peers.
//
// Peers that bring nothing do not count for ever. A claim lapses after ten times as long as a
// generation usually takes. If peers offer something, and bring less than a generation in such a
// time, neither what they hold nor what they claim counts: they may be slow, or lie.
//
// A generation can be passed on once it has come whole. With many runs at a time the last ones all
// end together, and have then to be spread. So neighbours have no more of them under way than an
// origin serves quickly, but for two, and more where these do not slow each other down.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "client/core/mesh/membership.h"
#include "client/core/mesh/trackers.h"
#include "client/core/receive/downlink.h"
#include "client/core/receive/receiving.h"
#include "client/core/receive/store_pressure.h"
#include "client/core/rows/generations.h"
#include "codec/random.h"

namespace firn::core {

inline constexpr TimeUs kUsualAtFirst = 1 * kSecond;  // for a generation, while nothing is known
// Of what is usual: claims lapse, and rows of a generation have stopped coming.
inline constexpr TimeUs kLapseTimes = 10;
inline constexpr TimeUs kLapseMin = 2 * kSecond;
inline constexpr TimeUs kStandsTimes = 4;

class OriginFetch final : public MeshPart {
 public:
  OriginFetch(const MeshPart& mesh, const Trackers& trackers, const StorePressure& pressure,
              Downlink& down, Generations& generations, Receiving& receiving);

  // SwarmCore::origin_open and generation_fetched.
  void open(bool open);
  void fetched(std::uint32_t g, bool verified);
  // The neighbour's State has been taken over.
  void told(const Neighbour& n);

  void step() override;
  TimeUs next_due() override { return idle() ? kNever : look_at_; }
  void neighbour_left(const Neighbour& n) override { claims_.erase(n.key); }

  // Content bytes that came from origins and were right.
  std::uint64_t bytes() const { return bytes_; }

 private:
  // Consecutive generations that come one after the other.
  struct Run {
    proto::Span left;
    TimeUs since = 0;  // when the last of it came, else when it was asked for
  };
  struct Claims {
    std::vector<proto::Span> runs;
    TimeUs since = 0;  // when one of them came last, else when it began
  };
  const Holdings& holdings() const { return generations_.holdings(); }
  bool idle() const { return !open_ || life_.complete() || life_.finishing() || holdings().done(); }
  void took(TimeUs each);
  TimeUs lapse() const;
  void review();
  bool counts(const Claims& claims) const;
  // Runs, here and at neighbours; of them those of neighbours whose ids are lower than ours.
  struct Count {
    TimeUs all = 0, before_us = 0;
  };
  Count under_way() const;
  void look();
  bool free(std::uint32_t g) const;
  bool meets_others() const;
  bool may_start();
  std::optional<std::uint32_t> choose();
  bool start(std::optional<std::uint32_t> first);
  void tell();

  const Trackers& trackers_;
  const StorePressure& pressure_;
  Downlink& down_;
  Generations& generations_;
  Receiving& receiving_;
  codec::CoefficientStream random_;

  bool open_ = false;
  std::vector<Run> runs_;             // of this peer
  std::map<PeerKey, Claims> claims_;  // of neighbours
  std::uint32_t next_ = UINT32_MAX;   // behind the last run
  bool measured_ = false;             // by runs of this peer
  bool goes_on_ = false;              // a run has just ended
  std::uint64_t bytes_ = 0;
  // For a generation, of late: in all; with few others under way; divided by all under way, which
  // is the time of the origin that it takes. None: not known.
  std::optional<TimeUs> usual_, undisturbed_, share_;
  // Progress since the last review, which found `alone_`: peers do not count.
  bool alone_ = false;
  TimeUs reviewed_at_ = 0;
  std::uint64_t rows_then_ = 0;
  TimeUs look_at_ = 0;
  GenerationSet taken_;  // as of the last look: what is not to be fetched
  enum class Turn { kNone, kOneOfFew, kOneMore } turn_ = Turn::kNone;  // that this peer waits for
};

}  // namespace firn::core
