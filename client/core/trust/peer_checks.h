// Judges rows by check sums of makers: peers that hold a generation, do not speak for the authority
// (judging.h has its sums), and may lie:
//   - The receiver draws the key, once the rows are there that it wants to judge, and uses it for
//     those alone. So the makers cannot help anybody to make a row that passes.
//   - All neighbours that hold the generation are asked under the same key, until some were found
//     to tell the truth: then those are (kMakers). Where they disagree none is believed.
//   - The sums of each maker are kept until the generation is verified; then this peer compares
//     them with the true ones (check_review.h). A generation about which makers disagree is fetched
//     plainly, so that it is verified soon.
// Only where all that claim to hold the generation lie are their sums taken for true; what follows
// from the word of those that have not shown yet that they tell the truth is bounded
// (Trust::found_false).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "client/core/trust/check_review.h"
#include "client/core/trust/recent_ids.h"
#include "client/core/trust/verdicts.h"
#include "codec/random.h"
#include "proto/base/token_bucket.h"
#include "proto/messages.h"

namespace firn::core::trust {

class PeerChecks {
 public:
  PeerChecks(const World& world, Verdicts& verdicts, CheckReview& review);

  // Asks for sums to judge the rows of g by that are not proven. Nothing where there are none, or
  // nobody can be asked. Now and then as a sample, as often as makers answer; and where g decoded
  // to false data. True: an answer is waited for.
  bool sample(std::uint32_t g);
  bool doubt(std::uint32_t g);
  // Somebody can be asked about g.
  bool held(std::uint32_t g) const;
  bool asking(std::uint32_t g) const { return questions_.contains(g); }

  // An answer has come. False if it was never asked for anything, or the answer does not fit the
  // content.
  bool replied(const Neighbour& n, proto::CheckReply&& reply);

  // Questions that are over.
  struct Answer {
    std::uint32_t generation = 0;
    CheckStatement statement;          // sums empty: nobody told any, or not all told the same:
    bool disputed = false;             // those disagreed
    std::vector<std::uint32_t> slots;  // rows to judge: those still there that are not proven yet
  };
  std::vector<Answer> take_answers();

  // By sums of such makers rows of g have turned out wrong; how often so, since it began.
  std::uint32_t count_wrong(std::uint32_t g) { return ++wrong_[g]; }
  // g is verified, or begins anew.
  void forget(std::uint32_t g);
  // This peer has told true sums.
  void found_truthful(const PeerId& id) { truthful_.add(id); }
  // It has told false ones: its word counts for nothing, also in questions that are not over.
  void discredit(const PeerId& maker);
  // It is asked before others that have not been found to tell the truth.
  bool truthful(const PeerId& id) const { return truthful_.contains(id); }
  // Such a peer is near, and holds g.
  bool sure(std::uint32_t g) const;

  void neighbour_left(const Neighbour& n);
  TimeUs next_due() const;

 private:
  struct Question {
    codec::SecretVector<std::uint8_t> key;
    std::map<std::uint32_t, Vector> rows;  // by slot
    std::vector<PeerKey> waits_for;
    CheckStatement first;  // that came
    bool disagreed = false;
    TimeUs due = 0;
  };
  std::vector<const Neighbour*> makers(std::uint32_t g);
  bool makes(const Neighbour& n, std::uint32_t g) const;
  bool ask(std::uint32_t g);
  bool over(const Question& question) const;
  codec::SecretVector<std::uint8_t> draw_key();

  const World& world_;
  Verdicts& verdicts_;
  CheckReview& review_;
  RecentIds truthful_, liars_;
  std::map<std::uint32_t, Question> questions_;  // by generation
  std::set<PeerKey> ever_asked_;
  std::map<std::uint32_t, std::uint32_t> doubted_, wrong_;  // how often each was, since it began
  TokenBucket samples_;                                     // generations
  std::uint64_t drawn_ = 0;                                 // keys
  codec::CoefficientStream random_;
};

}  // namespace firn::core::trust
