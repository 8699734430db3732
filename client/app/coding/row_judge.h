// Judges rows of unfinished generations by check sums (codec/check_sums.h): which of them are the
// combinations of source blocks that their vectors promise. Few rows that are at hand are judged at
// once, within the loop's budget: a trip to a worker and back costs many times as much.
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
#include "client/app/coding/turn_clock.h"
#include "client/core/base/actions.h"
#include "codec/check_key.h"

namespace firn::app {

// Owner thread.
class RowJudge {
 public:
  RowJudge(std::shared_ptr<const CodedContent> content, TaskLine& tasks, const TurnClock& clock,
           Spooler& rows, CodingOutcomes& outcomes);

  // Answered by rows_judged, perhaps before it returns. The rows are those that stand in the slots
  // now.
  void judge(core::JudgeRows action);
  // The generation's rows have been dropped: so is its key.
  void forget(std::uint32_t generation);

 private:
  // A generation's key, kept for the rows that come next: to derive it costs as much as to judge
  // several rows. Filled by its tasks, which run one at a time, or, while there are none, here.
  struct Prepared {
    std::size_t tasks = 0;  // under way; the owner thread's
    codec::SecretVector<std::uint8_t> set_key;
    std::vector<codec::CheckKey> key;  // one, once it is derived
  };
  static const codec::CheckKey& key_for(const CodedContent& content, const core::JudgeRows& action,
                                        Prepared& prepared);
  static RowVerdict judge_rows(const CodedContent& content, const core::JudgeRows& action,
                               std::vector<RowRef> rows, Prepared& prepared);
  std::shared_ptr<Prepared> prepared_for(std::uint32_t generation);
  bool at_once(const Prepared& prepared, const core::JudgeRows& action,
               const std::vector<RowRef>& rows) const;

  const std::shared_ptr<const CodedContent> content_;
  TaskLine& tasks_;
  const TurnClock& clock_;
  Spooler& rows_;
  CodingOutcomes& outcomes_;
  std::unordered_map<std::uint32_t, std::shared_ptr<Prepared>> prepared_;
  std::deque<std::uint32_t> prepared_order_;  // of prepared_, oldest first
};

}  // namespace firn::app
