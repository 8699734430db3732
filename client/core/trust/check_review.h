// Finds out whether the check sums by which rows were judged were true. Their maker may lie, or
// hold a damaged copy. Once the generation is verified this peer works out the same sums itself,
// and compares.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "client/core/trust/recent_ids.h"
#include "client/core/trust/verdicts.h"
#include "codec/secret_memory.h"
#include "proto/base/ids.h"
#include "proto/messages.h"

namespace firn::core::trust {

// Peers of which it is kept that they were shown to be guilty, or are mistrusted.
inline constexpr std::size_t kOffendersKept = 256;

// Check sums of a generation, and the peer that made them.
struct CheckStatement {
  PeerId maker;
  codec::SecretVector<std::uint8_t> key, sums;  // as CheckReply has them
  bool vouched = true;                          // the maker speaks for the authority
};

class CheckReview {
 public:
  explicit CheckReview(Verdicts& verdicts) : verdicts_(verdicts) {}

  // Somebody has stated this; nobody is convicted by it yet.
  void heard(std::uint32_t g, const CheckStatement& by);
  // By the statement this peer answered for a false row of g.
  void convicted(const PeerId& id, std::uint32_t g, const CheckStatement& by);
  // This peer is guilty, whatever becomes of check sums.
  void guilty(const PeerId& id) { guilty_.add(id); }
  // g is verified: its sums are worked out (MakeCheck for nobody), `blocks` of them, once for each
  // key.
  void verified(std::uint32_t g, std::uint32_t blocks);

  struct Finding {
    PeerId liar;
    std::vector<PeerId> acquitted;  // nothing speaks against them but the liar's word
    bool vouched = true;  // it has spoken for the authority: rows may be proven by its word
  };
  struct Findings {
    std::vector<Finding> lies;
    std::vector<PeerId> truthful;  // makers that do not speak for the authority, and told the truth
    std::vector<PeerId> guilty;    // by the sums of those
  };
  // The answer to MakeCheck. Nothing if what was stated is not known any more.
  Findings made(const proto::CheckReply& truth);

 private:
  struct Case {
    std::uint32_t generation = 0;
    CheckStatement statement;
    std::vector<PeerId> convicted;
  };
  Case& case_of(std::uint32_t g, const CheckStatement& by);
  std::vector<PeerId> acquit(const PeerId& liar);

  Verdicts& verdicts_;
  std::deque<Case> cases_;  // oldest first
  RecentIds guilty_{kOffendersKept};
};

}  // namespace firn::core::trust
