// Chooses which generations this peer asks of an origin: a web server that has the content's files.
// An origin is slow, shared or paid for, so each generation should leave it once: what some peer
// holds, or says that it fetches (a claim, State.fetching), is left to the peers.
//
// Claims and holders that bring nothing do not count for ever. What is usual is measured: how long
// a generation takes, here or at neighbours. A claim lapses after ten times as long without news of
// it. If the peers have brought less than a generation in such a time, neither claims nor holders
// count until they bring more: they may be slow, or lie.
//
// A generation is passed on once it has come whole. With many requests at a time the last ones all
// end together and have then to be spread, so a swarm makes no more than an origin serves quickly.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "client/core/base/context.h"
#include "client/core/mesh/membership.h"
#include "client/core/neighbour/outbox.h"
#include "client/core/receive/downlink.h"
#include "client/core/receive/receiving.h"
#include "client/core/receive/store_pressure.h"
#include "client/core/rows/generations.h"
#include "codec/random.h"

namespace firn::core {

class OriginFetch final : public Part {
 public:
  OriginFetch(const Context& context, const Life& life, Membership& membership, Outbox& outbox,
              const StorePressure& pressure, Downlink& down, Generations& generations,
              Receiving& receiving);

  // SwarmCore::origin_open and generation_fetched.
  void open(bool open);
  void fetched(std::uint32_t g, bool verified);
  // The neighbour's State has been taken over.
  void told(const Neighbour& n);

  void step() override;
  TimeUs next_due() override;
  void neighbour_left(const Neighbour& n) override { claims_.erase(n.key); }

  // Content bytes that came from origins and were right.
  std::uint64_t bytes() const { return bytes_; }

 private:
  // Consecutive generations that come one after the other.
  struct Run {
    std::uint32_t first = 0, count = 0;
    TimeUs since = 0;  // when the last of it came, else when it was asked for
    bool has(std::uint32_t g) const { return g >= first && g - first < count; }
  };
  const Holdings& holdings() const { return generations_.holdings(); }
  bool idle() const { return !open_ || life_.complete() || life_.finishing() || holdings().done(); }
  void took(TimeUs each);
  TimeUs lapse() const;
  void review();
  // Of neighbours, and not lapsed.
  template <typename F>
  void each_claim(F&& f) const;
  bool claimed(std::uint32_t g) const;
  bool free(std::uint32_t g) const;
  std::size_t under_way() const;  // runs, here and at neighbours
  bool may_start();
  std::optional<std::uint32_t> choose_urgent() const;
  std::optional<std::uint32_t> choose();
  std::uint32_t length(std::uint32_t first);
  bool start(std::optional<std::uint32_t> first, std::uint32_t count_max);
  void tell();

  const Context& context_;
  const Life& life_;
  Membership& membership_;
  Outbox& outbox_;
  const StorePressure& pressure_;
  Downlink& down_;
  Generations& generations_;
  Receiving& receiving_;
  codec::CoefficientStream random_;

  bool open_ = false;
  std::vector<Run> runs_;                       // of this peer
  std::map<PeerKey, std::vector<Run>> claims_;  // of neighbours
  std::uint32_t next_ = UINT32_MAX;             // behind the last run
  // For a generation, of late, and when it was asked for with few others; none: not known.
  std::optional<TimeUs> usual_, undisturbed_, share_;
  // Progress since the last review, at which `alone_` was found: peers do not count.
  bool alone_ = false;
  TimeUs reviewed_at_ = 0;
  std::uint64_t rows_then_ = 0;
  TimeUs look_at_ = 0;
  TimeUs drawn_for_ = -1;
  bool goes_on_ = false;
  std::uint64_t bytes_ = 0;
};

}  // namespace firn::core
