// Answers neighbours' requests for proofs: check sums, and leaf lists (plain_fetch.h). Check sums
// are made under the key that a neighbour sends, of any generation that is verified here
// (peer_checks.h); or, by a peer that speaks for the authority, under a key that it draws for each
// neighbour (judging.h). Leaves are those of generations that this peer has verified, or whose leaf
// list it holds. A proof costs a pass over the generation, and n t or 32 n bytes, so each
// neighbour's requests are bounded.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>

#include "client/core/trust/plain_fetch.h"
#include "client/core/trust/verdicts.h"
#include "codec/secret_memory.h"
#include "proto/base/token_bucket.h"
#include "proto/messages.h"

namespace firn::core::trust {

// t: a false row passes with odds of 2^-8t, and its sender is banned where it does not. Twice as
// many bytes cost a source of 8 Mbit/s with twelve neighbours 0.3 % of its uplink.
inline constexpr std::uint32_t kCheckTagBytes = 4;
// Bytes of a generation that cost one allowance: check sums take a quarter of the time of leaves,
// most of it to read the generation.
inline constexpr std::uint64_t kLeafPassBytes = 1 << 20;
inline constexpr std::uint64_t kSumsPassBytes = 4 << 20;
// Generations that a neighbour may ask for a second, and twice as many at once: sums, leaf lists.
// Less: polluters are found late; more: a neighbour can make us hash.
inline constexpr std::uint64_t kChecksPerSecond = 32;
inline constexpr std::uint64_t kLeavesPerSecond = 16;

// What a neighbour pays for a proof that takes a pass over generation g, in allowances of one
// generation of `pass_bytes` each: larger ones take as many times longer.
inline std::uint64_t pass_cost(const Shape& shape, std::uint32_t g, std::uint64_t pass_bytes) {
  return std::max<std::uint64_t>(1, (shape.padded_bytes(g) + pass_bytes - 1) / pass_bytes);
}

class ProofServing {
 public:
  ProofServing(const World& world, Verdicts& verdicts, const PlainFetch& plain);

  // False if the neighbour asks for what does not exist.
  bool asked(const Neighbour& n, const proto::CheckRequest& request);
  bool asked(const Neighbour& n, const proto::LeafRequest& request);
  // Sends what was made for this neighbour.
  void made(PeerKey peer, proto::CheckReply&& reply);
  void made(PeerKey peer, proto::LeafReply&& reply);

  void neighbour_left(const Neighbour& n) { clients_.erase(n.key); }

 private:
  struct Client {
    TokenBucket sums, leaves;                                     // generations
    codec::SecretVector<std::uint8_t> key = {};                   // drawn with the first sums
    bool told = false;                                            // it has the key
    std::deque<codec::SecretVector<std::uint8_t>> its_keys = {};  // sums under them are being made
  };
  Client& client(PeerKey peer);
  static bool is_under_its_key(Client& asking, const proto::CheckReply& reply);

  const World& world_;
  Verdicts& verdicts_;
  const PlainFetch& plain_;
  TokenBucket for_peers_;  // generations, of all neighbours together, under their keys
  std::map<PeerKey, Client> clients_;
};

}  // namespace firn::core::trust
