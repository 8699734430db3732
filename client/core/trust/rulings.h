// All that judges rows, and what follows once something has turned out about them: which rows go,
// which count, and what becomes of those that sent them, or told false check sums.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "client/core/trust/check_review.h"
#include "client/core/trust/judging.h"
#include "client/core/trust/plain_fetch.h"
#include "client/core/trust/proof_serving.h"
#include "client/core/trust/regards.h"
#include "client/core/trust/regime.h"
#include "client/core/trust/verdicts.h"

namespace firn::core::trust {

class Rulings {
 public:
  Rulings(const World& seen, std::string authority_key, std::vector<Digest> digests);
  Rulings(const Rulings&) = delete;  // its parts refer to each other

  // The peer is guilty of a false block of g, whether or not an authority has lied.
  void blame(const PeerId& id, std::uint32_t g);
  void decoded_falsely(std::uint32_t g);
  // Answers: to LeafRequest, to JudgeRows (as SwarmCore::rows_judged), and to MakeCheck of a
  // review.
  void leaves_came(const Neighbour& n, proto::LeafReply&& reply);
  void rows_judged(std::uint32_t g, const std::vector<std::uint32_t>& right,
                   const std::vector<std::uint32_t>& wrong, bool readable);
  void reviewed(std::uint32_t g, const CheckReview::Findings& findings);
  void step();

  // Goes on with what had to wait until the verdicts so far had been carried out. False: nothing
  // does.
  bool go_on();

  const World world;
  Verdicts verdicts;
  Regards regards;
  Regime regime;
  CheckReview review;
  Judging judging;
  PlainFetch plain;
  ProofServing proofs;

 private:
  void then(std::function<void()> rest) { waiting_.push_back(std::move(rest)); }
  void mark(std::uint32_t g, const std::vector<std::uint32_t>& slots, Rows as);
  void fetch_again(std::uint32_t g);
  void ban(const PeerId& id, std::uint32_t g);
  void convict(std::uint32_t g, const std::vector<std::uint32_t>& wrong, const CheckStatement& by);
  void doubt(const PeerId& sender, const PeerId& by);
  void discredit(const CheckReview::Finding& lie);
  void settle(std::uint32_t g);

  std::optional<std::uint32_t> disputed_;  // a generation about whose check sums makers disagree
  std::deque<std::function<void()>> waiting_;
};

}  // namespace firn::core::trust
