// Judges rows of unfinished generations by check sums (codec/check_sums.h): which of them are the
// combinations of source blocks that their vectors promise.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "client/app/coding/coded_content.h"
#include "client/app/coding/coding_outcomes.h"
#include "client/app/coding/spooler.h"
#include "client/app/coding/task_line.h"
#include "client/core/actions.h"
#include "codec/check_key.h"

namespace firn::app {

// Owner thread.
class RowJudge {
 public:
  RowJudge(std::shared_ptr<const CodedContent> content, TaskLine& tasks, Spooler& rows,
           CodingOutcomes& outcomes);

  // Answered by rows_judged. The rows are those that stand in the slots now.
  void judge(core::JudgeRows action);

 private:
  // A generation's key, kept for the rows that come next: to derive it costs as much as to judge
  // several rows. Filled by its tasks, which run one at a time.
  struct Prepared {
    std::vector<std::uint8_t> set_key;
    std::vector<codec::CheckKey> key;  // one, once it is derived
  };
  static const codec::CheckKey& key_for(const CodedContent& content, const core::JudgeRows& action,
                                        Prepared& prepared);
  static RowVerdict judge_on_worker(const CodedContent& content, const core::JudgeRows& action,
                                    std::vector<RowRef> rows, Prepared& prepared);
  std::shared_ptr<Prepared> prepared_for(std::uint32_t generation);

  const std::shared_ptr<const CodedContent> content_;
  TaskLine& tasks_;
  Spooler& rows_;
  CodingOutcomes& outcomes_;
  std::unordered_map<std::uint32_t, std::shared_ptr<Prepared>> prepared_;
  std::deque<std::uint32_t> prepared_order_;  // of prepared_, oldest first
};

}  // namespace firn::app
