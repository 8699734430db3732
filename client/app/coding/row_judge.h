// Judges rows of unfinished generations by check sums (codec/check_sums.h): which of them are the
// combinations of source blocks that their vectors promise.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "client/app/coding/coded_content.h"
#include "client/app/coding/coding_outcomes.h"
#include "client/app/coding/spooler.h"
#include "client/app/coding/task_line.h"
#include "client/core/actions.h"

namespace firn::app {

// Owner thread.
class RowJudge {
 public:
  RowJudge(std::shared_ptr<const CodedContent> content, TaskLine& tasks, Spooler& rows,
           CodingOutcomes& outcomes);

  // Answered by rows_judged. The rows are those that stand in the slots now.
  void judge(core::JudgeRows action);

 private:
  static RowVerdict judge_on_worker(const CodedContent& content, const core::JudgeRows& action,
                                    std::vector<RowRef> rows);

  const std::shared_ptr<const CodedContent> content_;
  TaskLine& tasks_;
  Spooler& rows_;
  CodingOutcomes& outcomes_;
};

}  // namespace firn::app
