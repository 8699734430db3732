// Chooses which generations this peer asks of an origin: a web server that has the content's files.
// An origin is slow, shared or paid for, so each generation should leave it once. This peer asks
// for no generation that a neighbour holds or says that it fetches (a claim, State.fetching).
// A claim lapses after ten times as long as a generation usually takes. If neighbours offer
// something and bring less than a generation in such a time, they may be slow or lie: neither what
// they hold nor what they claim counts.
//
// A peer passes a generation on only once the whole has come. If neighbours fetch many at a time,
// all end late and together, and then have to be spread. So neighbours together have two runs under
// way, and more only if the origin serves these quickly or they do not slow each other down.
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
// Multiples of the usual time: until a claim lapses; until rows count as no longer coming.
inline constexpr TimeUs kLapseTimes = 10;
inline constexpr TimeUs kLapseMin = 2 * kSecond;
inline constexpr TimeUs kStandsTimes = 4;

class OriginFetch final : public MeshPart {
 public:
  OriginFetch(const MeshPart& mesh, const Trackers& trackers, const StorePressure& pressure,
              Downlink& down, Generations& generations, Receiving& receiving);

  // SwarmCore::origin_open, origins_lack and generation_fetched.
  void open(bool open);
  void lack(const GenerationSet& lacking) { lacking_ = lacking; }
  void fetched(std::uint32_t g, bool verified);
  void told(const Neighbour& n);  // a State of the neighbour has come, and `n` has its values

  void step() override;
  TimeUs next_due() override { return idle() ? kNever : due_; }
  void neighbour_left(const Neighbour& n) override { claims_.erase(n.key); }

  std::uint64_t bytes() const { return bytes_; }  // of the content, verified, from origins

 private:
  // Consecutive generations, which come in order.
  struct Run {
    proto::Span left;
    TimeUs since = 0;  // when its last generation came; before the first, when it was asked for
  };
  struct Claims {  // of a neighbour
    std::vector<proto::Span> runs;
    TimeUs since = 0;  // when one of them was last completed; before that, when it was claimed
  };
  const Holdings& holdings() const { return generations_.holdings(); }
  bool idle() const {
    return !open_ || pressure_.paused() || life_.complete() || life_.finishing() ||
           holdings().done();
  }
  void took(TimeUs each);
  TimeUs lapse() const;
  void review();
  bool counts(const Claims& claims) const;
  // `all`: runs here and at neighbours. `before_us`: runs of neighbours with lower ids than ours.
  struct Count {
    TimeUs all = 0, before_us = 0;
  };
  Count under_way() const;
  void look();
  bool free(std::uint32_t g);
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
  std::uint32_t next_ = UINT32_MAX;   // the generation behind the last run
  bool measured_ = false;             // usual_ comes from runs of this peer
  bool goes_on_ = false;              // a run has just ended
  std::uint64_t bytes_ = 0;
  // Times for a generation, of late; none: not known. `undisturbed_`: while at most kAtOnce runs
  // were under way. `share_`: divided by the runs under way, the part of the origin's time.
  std::optional<TimeUs> usual_, undisturbed_, share_;
  // The last review found that neighbours offer something and bring nothing: they do not count.
  bool alone_ = false;
  TimeUs reviewed_at_ = 0;
  std::uint64_t rows_then_ = 0;
  TimeUs look_at_ = 0;     // not before then
  TimeUs due_ = 0;         // when time alone may let this peer ask for something
  GenerationSet lacking_;  // no origin has these
  GenerationSet taken_;    // at the last look: held, claimed, under way, or lacking
  enum class Turn { kNone, kOneOfFew, kOneMore } turn_ = Turn::kNone;  // that this peer waits for
};

}  // namespace firn::core
