// Checks claims about blocks of verified generations (client/core/convictions.h).
#pragma once

#include <memory>

#include "client/app/coding/coded_content.h"
#include "client/app/coding/coding_outcomes.h"
#include "client/app/coding/task_line.h"
#include "client/core/actions.h"

namespace firn::app {

// Owner thread.
class ClaimChecker {
 public:
  ClaimChecker(std::shared_ptr<const CodedContent> content, TaskLine& tasks,
               CodingOutcomes& outcomes);

  // Answered by claim_checked. A claim is not called false if the generation cannot be read, or has
  // changed on the disk.
  void check(core::CheckClaim action);

 private:
  static bool is_false(const CodedContent& content, const proto::FalseClaim& claim,
                       const SharedBuffer& data);

  const std::shared_ptr<const CodedContent> content_;
  TaskLine& tasks_;
  CodingOutcomes& outcomes_;
};

}  // namespace firn::app
