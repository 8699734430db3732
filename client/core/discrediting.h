// A peer that speaks for the content's authority has told false check sums (check_review.h): what
// rests on its word falls. It is banned, those that it had convicted are welcome again, and rows
// wait for another's proof.
#pragma once

#include "client/core/check_review.h"
#include "client/core/discredited.h"
#include "client/core/epoch_judging.h"
#include "client/core/epochs.h"
#include "client/core/generations.h"
#include "client/core/judging.h"
#include "client/core/membership.h"
#include "client/core/outbox.h"
#include "client/core/trust.h"

namespace firn::core {

class Discrediting {
 public:
  Discrediting(Membership& membership, Outbox& outbox, Discredited& discredited, Epochs& epochs,
               Trust& trust, Judging& judging, EpochJudging& epoch_judging,
               Generations& generations);

  void carry_out(const CheckReview::Finding& finding);

 private:
  Membership& membership_;
  Outbox& outbox_;
  Discredited& discredited_;
  Epochs& epochs_;
  Trust& trust_;
  Judging& judging_;
  EpochJudging& epoch_judging_;
  Generations& generations_;
};

}  // namespace firn::core
