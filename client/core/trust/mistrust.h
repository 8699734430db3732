// Suspends peers that sent a false row by the check sums of makers that may lie (peer_checks.h):
// for a while nothing is taken from them or sent to them. A record outlives the connection.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "client/core/trust/regards.h"

namespace firn::core::trust {

// A peer takes nothing from a neighbour, and sends it nothing, for this time after such sums have
// shown a row of it to be false; twice as long each further time within kOffenceMemory. Less:
// polluters return; more: liars can part honest peers for longer.
inline constexpr TimeUs kMistrustTime = 10 * kSecond;

class Mistrust {
 public:
  Mistrust(const World& world, Regards& regards) : world_(world), regards_(regards) {}

  // Its Hello has come.
  void greeted(const Neighbour& n);
  // It sent a false row, by the word of `maker`. Where that one is not known to tell the truth
  // (`truthful`) the word of such peers counts once against each.
  void add(const Neighbour& n, const PeerId& maker, bool truthful);
  // It has turned out what the word of this maker is worth: those that are mistrusted by it are so
  // for longer, or not any more.
  void found_truthful(const PeerId& maker);
  void found_lying(const PeerId& maker);

  // Neighbours that are not mistrusted any more, since the last call: they are to be asked for rows
  // again.
  std::vector<PeerKey> take_ended() { return std::exchange(ended_, {}); }

  // Ends what is over; all of it where nothing new comes from others either.
  void step();
  TimeUs next_due() const;

 private:
  struct Record {
    TimeUs since = 0, until = 0;  // 0: it is not mistrusted now
    std::uint32_t times = 0;      // lately
    bool by_unsure = false;       // the word of a peer that was not known to tell the truth, ever
    PeerId maker;                 // by whose word, the last time
  };
  Record& record_of(const PeerId& id);
  void apply(const Neighbour* n, const Record& record);
  TimeUs starves_at() const;

  const World& world_;
  Regards& regards_;
  std::map<PeerId, Record> records_;
  std::vector<PeerKey> ended_;
};

}  // namespace firn::core::trust
