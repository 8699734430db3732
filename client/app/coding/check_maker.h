// Makes check sums of verified generations for neighbours (client/core/check_serving.h).
#pragma once

#include <cstdint>
#include <memory>

#include "client/app/coding/coded_content.h"
#include "client/app/coding/coding_outcomes.h"
#include "client/app/coding/task_line.h"
#include "client/core/actions.h"

namespace firn::app {

// Owner thread.
class CheckMaker {
 public:
  CheckMaker(std::shared_ptr<const CodedContent> content, TaskLine& tasks,
             CodingOutcomes& outcomes);

  // Answered by check_made; without sums if the generation cannot be read.
  void make(core::MakeCheck action);

 private:
  static proto::CheckReply make_on_worker(const CodedContent& content,
                                          const core::MakeCheck& action,
                                          const SharedBuffer& generation);

  const std::shared_ptr<const CodedContent> content_;
  TaskLine& tasks_;
  CodingOutcomes& outcomes_;
};

}  // namespace firn::app
