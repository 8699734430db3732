// How a content stands, for a page: its generations, its neighbours, and the peers that this one
// has banned.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/core/generation_set.h"
#include "client/core/peer_status.h"
#include "client/core/types.h"

namespace firn::core {

struct Parts;  // parts.h

// A generation of which some rows are held.
struct FillingGeneration {
  enum class State {
    kFilling,
    kInFlight,     // one of its senders owes blocks
    kStalled,      // nothing has come for kStalledTime
    kQuarantined,  // it decoded to false data, and is fetched block by block; or rows of it wait to
                   // be proven for longer than kProvenTime, where only proven ones are mixed
    kDecoding,
  };
  static constexpr TimeUs kStalledTime = 10 * kSecond;
  static constexpr TimeUs kProvenTime = 3 * kSecond;  // proofs come sooner

  struct Sender {
    PeerId id;
    std::uint32_t rows = 0;
  };
  std::uint32_t number = 0;
  std::uint32_t rank = 0;
  std::uint32_t blocks = 0;  // that it needs
  std::uint32_t proven = 0;  // of its rows
  State state = State::kFilling;
  TimeUs still_for = 0;  // since its rank has grown
  std::vector<Sender> senders;
};

struct Ban {
  PeerId id;
  std::string ip;  // empty: not known any more
  std::uint32_t strikes = 0;
  TimeUs left = 0;
  std::string why;
};

struct SwarmView {
  static constexpr std::size_t kBansMax = 256;

  std::vector<PeerStatus> peers;  // in the order in which they came
  std::vector<Ban> bans;          // those that last longest, kBansMax at most
  // Of no generations before the shape is known.
  std::uint32_t generation_size = 0;  // n; the last generation may have fewer
  std::uint32_t last_blocks = 0;      // of the last generation
  GenerationSet verified = GenerationSet(0);
  GenerationSet given_up = GenerationSet(0);  // lost, and not wanted any more
  std::vector<FillingGeneration> filling;     // by number
};

SwarmView view_of(const Parts& parts);

}  // namespace firn::core
