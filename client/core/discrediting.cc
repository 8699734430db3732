#include "client/core/discrediting.h"

#include <string>

#include "client/core/policy/constants.h"

namespace firn::core {

Discrediting::Discrediting(Membership& membership, Outbox& outbox, Discredited& discredited,
                           Epochs& epochs, Trust& trust, Judging& judging,
                           EpochJudging& epoch_judging, Generations& generations)
    : membership_(membership),
      outbox_(outbox),
      discredited_(discredited),
      epochs_(epochs),
      trust_(trust),
      judging_(judging),
      epoch_judging_(epoch_judging),
      generations_(generations) {}

void Discrediting::carry_out(const CheckReview::Finding& finding) {
  if (finding.vouched) discredited_.add(finding.liar);
  if (epochs_.speaks(finding.liar)) epoch_judging_.forget();
  epochs_.discredit(finding.liar);
  judging_.discredit(finding.liar);
  trust_.found_lying(finding.liar);
  // Which rows are believed, or proven, by its word, nobody has kept; nor which of those that
  // counted as proven a speaker for the authority has sent.
  generations_.doubt_all(finding.vouched);
  if (finding.vouched) outbox_.push(DoubtRows{});
  for (const PeerId& id : finding.acquitted) trust_.acquit(id);
  membership_.acquit(finding.acquitted, finding.liar);
  membership_.punish(finding.liar, proto::GoodbyeReason::kBanned, "told false check sums",
                     policy::kStrikesConvicted,
                     " of generation " + std::to_string(finding.generation));
}

}  // namespace firn::core
