// Judges, at a source in a large mesh, which neighbours pass on what they are given: whether their
// rows have reached others, and so what a row is worth that the neighbour gets (Neighbour::worth).
// Most neighbours do not know each other there, so the reports of small meshes (contributions.h)
// would say nothing. Nobody is banned by it.
//
// A row goes to one neighbour alone, and the others can only have it if that one passed it on. So
// downloading peers of a large mesh send sources null vectors now and then: z, drawn at random
// among the vectors orthogonal to all that they hold of a generation. A row v that the source gave
// to some neighbour has come through to the sender of z if v.z = 0 (else it is 0 by chance, once
// in 256 times), by whatever way and mixed with whatever else. A neighbour whose rows come through
// to nobody may have been banned by all others, or take and give nothing, or give the same
// combination again and again: the source need not know which.
//
// A peer that lacks mixtures of nearly all that was sent holds nearly no row by itself: a null
// vector that lets next to nothing through tells nobody's rows from others', and is not counted.
//
// A sender of null vectors may lie. What a neighbour's rows are worth is what two fifths of the
// reporters say at least (kReportersShare), those of one address together as one
// (voices.h), so that a smaller share that praises a friend, or accuses somebody, achieves nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "client/core/base/context.h"
#include "client/core/base/types.h"
#include "client/core/mesh/membership.h"
#include "client/core/send/source/voices.h"
#include "proto/messages.h"

namespace firn::core {

inline constexpr double kAccusedWorth = 1.0 / 4;  // in a large mesh, of a peer that one convicts
// In a large mesh sources find out by null vectors what has spread: rows so old should have.
// Double: +4 % at 40 peers [096].
inline constexpr TimeUs kSpreadTime = 1500 * kMillisecond;
inline constexpr TimeUs kSpreadRecent = 5 * kSecond;  // by a reporter that holds all of it [064]

class Spread final : public Part {
 public:
  Spread(const Context& context, Membership& membership);

  // The block is on its way to the neighbour. Whether its vector is remembered.
  bool sent(const proto::Block& block, const Neighbour& to);
  // The neighbour's State, before it is taken over.
  void told(const Neighbour& by, const proto::State& state);
  void neighbour_left(const Neighbour& n) override;

  // Once a second: what is old counts less and less (kContributionMemory).
  void forget(double kept);
  // The part of its rows that have come through to others, as enough of these say; nullopt: too few
  // of them have said anything.
  std::optional<double> share(const Neighbour& of) const;

  // Its Hello has come: it is worth what others say of it.
  void greeted(Neighbour& n) const { n.worth = hearsay(n, ask()); }
  // Reviews all neighbours. True: one turned out to pass next to nothing on (Neighbour::sink).
  bool review();

 private:
  using Asked = std::vector<const Neighbour*>;
  Asked ask() const;
  double hearsay(const Neighbour& of, const Asked& asked) const;
  struct SentRow {
    PeerKey to = kNoPeer;
    TimeUs at = 0;
    std::optional<std::uint32_t> source_index;
    std::vector<std::uint8_t> vector;  // where it is no source block
  };
  struct Told {
    double rows = 0, through = 0;  // sums that forget
  };
  bool asks(const Neighbour& by) const;
  bool asked_about(const SentRow& row, const Neighbour& by, TimeUs age_max) const;
  template <typename Through>
  bool tells_apart(const Neighbour& by, const std::vector<SentRow>& rows, Through&& through) const;
  template <typename Through>
  void count(const Neighbour& by, const std::vector<SentRow>& rows, TimeUs age_max,
             Through&& through);

  const Context& context_;
  Membership& membership_;
  Voices voices_;
  std::map<std::uint32_t, std::vector<SentRow>> rows_;  // by generation
  std::unordered_map<PeerKey, TimeUs> kept_at_;         // the last row, by neighbour
  std::map<PeerKey, std::map<PeerKey, Told>> told_;     // by neighbour given to, and reporter
  std::unordered_map<PeerKey, TimeUs> told_at_;         // the last time, by reporter
};

}  // namespace firn::core
