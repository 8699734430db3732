// Judges rows by check sums (codec/check_sums.h), a homomorphic hash. The authority of the content
// draws a key for one receiver, and sends it the sums of a generation's source blocks under that
// key. Whether a row is a combination of source blocks then shows at once. Only the receiver and
// the authority know the key, so a false row passes only with a probability of 2^-8t (t:
// kCheckTagBytes).
//
// A peer asks for the sums of generations of which it holds rows that are not proven, but only of
// so many that the authority's uplink hardly notices (kCheckShareMax); once it has met a
// false row, of each generation that it begins.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "client/core/trust/check_review.h"
#include "client/core/trust/peer_checks.h"
#include "client/core/trust/regime.h"
#include "client/core/trust/verdicts.h"
#include "codec/secret_memory.h"
#include "proto/messages.h"

namespace firn::core::trust {

// In a small mesh a peer asks about rows of some generation now and then, more often where some
// sender has shown no true row yet. Less: sums cost uplinks; more: polluters are found late.
inline constexpr TimeUs kPeerSample = 4 * kSecond;

class Judging {
 public:
  Judging(const World& world, Verdicts& verdicts, const Regime& regime, CheckReview& review);

  // What it asks of peers that do not speak for the authority.
  PeerChecks& peers() { return peers_; }

  // Generation g, of which all rows are there, decoded to false data: they are to be judged. False:
  // they cannot be, as nobody near can make sums, or all of them are proven.
  bool doubt(std::uint32_t g);
  // False rows are about.
  void alarm();
  // A row of g has come.
  void row_came(std::uint32_t g) { changed_.push_back(g); }
  // An answer of the authority has come. False if nobody asked for it, or it does not fit the
  // content.
  bool replied(const Neighbour& n, proto::CheckReply&& reply);
  // Of slots that were judged those which hold the same rows as then.
  std::vector<std::uint32_t> still_there(std::uint32_t g,
                                         const std::vector<std::uint32_t>& slots) const;
  // Has those of g's rows judged by these sums, whose key is good for them; nothing while others
  // are.
  void judge(std::uint32_t g, const CheckStatement& by, const std::vector<std::uint32_t>& slots);
  // The sums by which rows of g are judged now; null: none are.
  const CheckStatement* stated(std::uint32_t g) const;
  bool under_way(std::uint32_t g) const { return under_way_.contains(g); }
  // The rows have been judged. True if the generation was doubted.
  bool judged(std::uint32_t g);
  // g is verified, or begins anew: its key is forgotten.
  void forget(std::uint32_t g);
  // What this peer has stated is worth nothing.
  void discredit(const PeerId& maker);
  // Doubted generations that will not be judged any more: the answer is overdue, or the authority
  // has left. Has rows judged by what peers have answered.
  std::vector<std::uint32_t> take_unanswered();
  // A generation about which those disagreed that were asked; nullopt: none since the last call.
  std::optional<std::uint32_t> take_disputed() { return std::exchange(disputed_, std::nullopt); }

  void neighbour_left(const Neighbour& n);

  // Has rows judged that have come, and sends the requests that have gathered.
  void step();
  TimeUs next_due() const;

 private:
  struct Asked {
    PeerKey from = kNoPeer;
    TimeUs due = 0;  // then the request counts as unanswered
  };
  // What makes a generation due that had no rows since.
  struct Mesh {
    bool strict = false;
    std::size_t authorities = 0;  // that hold everything
    bool operator==(const Mesh&) const = default;
  };
  using Secret = codec::SecretVector<std::uint8_t>;
  struct UnderWay {
    CheckStatement by;
    std::map<std::uint32_t, Vector> rows;  // by slot
  };
  const Neighbour* authority_for(std::uint32_t g) const;
  bool ask(std::uint32_t g);
  bool ask_peers(std::uint32_t g);
  void judge_unproven(std::uint32_t g, const CheckStatement& known);
  void judge_by_peers(std::vector<std::uint32_t>& failed);
  Mesh mesh() const;
  void look_ahead();
  void look_at(std::uint32_t g, const OpenGeneration& open);
  bool sampled(std::uint32_t g) const;
  void sample_by_peers();
  enum class Sampled { kOnTrial, kUnbelieved, kUnproven };
  std::uint32_t to_sample(const OpenGeneration& open, Sampled which) const;

  const World& world_;
  Verdicts& verdicts_;
  const Regime& regime_;
  PeerChecks peers_;
  std::map<std::uint32_t, Asked> asked_;  // by generation, as the next
  std::map<std::uint32_t, CheckStatement> sums_;
  std::map<std::uint32_t, UnderWay> under_way_;
  std::set<std::uint32_t> doubted_;
  bool alarmed_ = false;
  std::vector<std::uint32_t> changed_;  // generations to be looked at in the next step
  TimeUs next_review_ = 0;              // of all generations that are open
  TimeUs next_sample_ = 0;              // by the word of peers
  bool believed_too_ = false;           // in the next sample
  std::optional<std::uint32_t> disputed_;
  Mesh seen_;                                               // in the last step
  std::map<PeerKey, std::vector<std::uint32_t>> requests_;  // to be sent in this step
  std::map<PeerKey, Secret> keys_told_;                     // by authorities
};

}  // namespace firn::core::trust
