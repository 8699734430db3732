#include "client/app/coding/row_judge.h"

#include <utility>

#include "client/checks/set_key.h"
#include "codec/check_sums.h"
#include "proto/base/limits.h"
#include "proto/base/stage_times.h"

namespace firn::app {

RowJudge::RowJudge(std::shared_ptr<const CodedContent> content, TaskLine& tasks, Spooler& rows,
                   CodingOutcomes& outcomes)
    : content_(std::move(content)), tasks_(tasks), rows_(rows), outcomes_(outcomes) {}

void RowJudge::judge(core::JudgeRows action) {
  const std::uint32_t generation = action.generation;
  tasks_.submit(content_->key_of(generation),
                [this, rows = rows_.find(generation, action.slots), action = std::move(action),
                 content = content_]() mutable -> WorkerPool::Completion {
                  const std::uint32_t judged = action.generation;
                  RowVerdict verdict = judge_on_worker(*content, action, std::move(rows));
                  return [this, judged, verdict = std::move(verdict)] {
                    outcomes_.rows_judged(judged, verdict);
                  };
                });
}

RowVerdict RowJudge::judge_on_worker(const CodedContent& content, const core::JudgeRows& action,
                                     std::vector<RowRef> rows) {
  const StageScope stage(Stage::kHash);
  const std::size_t tag_bytes = action.sums.size() / content.shape().blocks_in(action.generation);
  FIRN_CHECK(action.key.size() == limits::kCheckKeyBytes);
  const checks::SetKey set_key{std::span(action.key).first<limits::kCheckKeyBytes>()};
  const codec::CheckKey key =
      set_key.generation_key(action.generation, content.shape().block_bytes, tag_bytes);
  const codec::CheckSums sums(tag_bytes, action.sums);
  RowVerdict verdict;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!content.read_back(action.generation, rows[i])) return {};
    const bool right = codec::accepts(key, sums, *action.vectors[i], rows[i].payload.bytes());
    (right ? verdict.right : verdict.wrong).push_back(rows[i].slot);
    rows[i].payload = {};
  }
  verdict.readable = true;
  return verdict;
}

}  // namespace firn::app
