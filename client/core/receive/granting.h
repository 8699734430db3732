// Makes the States for neighbours: what this peer holds and wants, and the credit and quotas that
// it grants.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "client/core/base/uplink.h"
#include "client/core/mesh/membership.h"
#include "client/core/receive/downlink.h"
#include "client/core/receive/leases.h"
#include "client/core/receive/promises.h"
#include "client/core/receive/quota_turns.h"
#include "client/core/receive/store_pressure.h"
#include "client/core/rows/generations.h"
#include "client/core/trust/trust.h"
#include "codec/random.h"
#include "proto/messages.h"

namespace firn::core {

class Granting final : public MeshPart {
 public:
  struct Links {
    const Uplink& up;
    Downlink& down;
  };
  Granting(const MeshPart& mesh, const StorePressure& pressure, Links links,
           Generations& generations, const QuotaTurns& turns, trust::Trust& trust);

  // The first State, or the first that the neighbour can understand: everything we hold.
  void greet(Neighbour& n);
  // A State that rides on a block which leaves anyway; nullopt: there is no news.
  std::optional<proto::State> riding_state(Neighbour& n);
  // The neighbour's State has been taken over.
  void told(Neighbour& n);
  // Forgets the shares of the last rows that the last step worked out: neighbours may have changed.
  // A step sends States last.
  void look_anew() { holders_.clear(); }
  // A block of the neighbour has come.
  void came(const Neighbour& n) { promises_.update(n, context_.now); }
  // All States that are due.
  void step() override;
  // This peer leaves. If it is complete, neighbours that do not know are told, due or not.
  void tell_completion();
  TimeUs next_due() override;

  // What was granted and has not come is no load on the downlink.
  void neighbour_left(const Neighbour& n) override {
    links_.down.will_not_come(n.grants.outstanding());
    sources_.erase(n.key);
    promises_.neighbour_left(n.key);
    look_anew();
  }

  // Nothing is granted because of rows that wait in memory for the store.
  bool store_behind();

  // Why no blocks come from the neighbour; nullopt: they may come any time.
  std::optional<WhyNot> why_none_from(const Neighbour& n) const;

 private:
  // What decides, for all neighbours alike, when States are due.
  struct Bounds {
    bool open = false;  // anything can be granted at all
    bool room = false;  // more may be promised
    bool end = false;
    bool operator==(const Bounds&) const = default;
  };
  const Holdings& holdings() const { return generations_.holdings(); }
  policy::GrantLimits limits();
  std::uint64_t memory_room() const;
  std::uint64_t promised();
  bool can_grant(const Neighbour& n);
  TimeUs due(Neighbour& n);
  TimeUs work_out_due(const Neighbour& n);
  void review_bounds();
  proto::State make_state(Neighbour& n, std::size_t entries_max);
  void grant(Neighbour& n);
  void tell_received(Neighbour& n, const trust::Terms& terms, proto::State& state);
  void tell_convicted(Neighbour& n, const trust::Terms& terms, proto::State& state);
  void tell_plain(const Neighbour& n, trust::Asks&& asks, proto::GenerationState& entry);
  void tell_generations(Neighbour& n, const trust::Terms& terms, std::size_t entries_max,
                        proto::State& state);

  const StorePressure& pressure_;
  Links links_;
  Generations& generations_;
  const QuotaTurns& turns_;
  trust::Trust& trust_;
  codec::CoefficientStream random_;  // of null vectors
  std::uint32_t told_lacking_ = 0;   // the last generation that a source was told of
  Bounds bounds_;
  Promises promises_;
  policy::Holders holders_;
  bool amid_polluters_ = false;  // as of when promises were counted last
  std::set<PeerKey> sources_;    // neighbours that have everything
};

}  // namespace firn::core
