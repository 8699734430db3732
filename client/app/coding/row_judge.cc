#include "client/app/coding/row_judge.h"

#include <utility>

#include "client/checks/set_key.h"
#include "codec/check_sums.h"
#include "proto/base/limits.h"
#include "proto/base/stage_times.h"

namespace firn::app {
namespace {

// Bytes of keys that are kept, and of one: an eighth of its block and a table.
constexpr std::size_t kKeptBytes = 1 << 20;
std::size_t key_bytes(std::size_t block_bytes) {
  return codec::CheckKey::material_bytes(block_bytes, codec::CheckKey::kTagBytes);
}

}  // namespace

RowJudge::RowJudge(std::shared_ptr<const CodedContent> content, TaskLine& tasks, Spooler& rows,
                   CodingOutcomes& outcomes)
    : content_(std::move(content)), tasks_(tasks), rows_(rows), outcomes_(outcomes) {}

void RowJudge::judge(core::JudgeRows action) {
  const std::uint32_t generation = action.generation;
  tasks_.submit(content_->key_of(generation),
                [this, rows = rows_.find(generation, action.slots), action = std::move(action),
                 content = content_,
                 prepared = prepared_for(generation)]() mutable -> WorkerPool::Completion {
                  const std::uint32_t judged = action.generation;
                  RowVerdict verdict =
                      judge_on_worker(*content, action, std::move(rows), *prepared);
                  return [this, judged, verdict = std::move(verdict)] {
                    outcomes_.rows_judged(judged, verdict);
                  };
                });
}

std::shared_ptr<RowJudge::Prepared> RowJudge::prepared_for(std::uint32_t generation) {
  const auto [entry, fresh] = prepared_.try_emplace(generation);
  if (!fresh) return entry->second;
  entry->second = std::make_shared<Prepared>();
  std::shared_ptr<Prepared> prepared = entry->second;
  prepared_order_.push_back(generation);
  if (prepared_order_.size() * key_bytes(content_->shape().block_bytes) > kKeptBytes) {
    prepared_.erase(prepared_order_.front());
    prepared_order_.pop_front();
  }
  return prepared;
}

const codec::CheckKey& RowJudge::key_for(const CodedContent& content, const core::JudgeRows& action,
                                         Prepared& prepared) {
  const std::size_t tag_bytes = action.sums.size() / content.shape().blocks_in(action.generation);
  FIRN_CHECK(action.key.size() == limits::kCheckKeyBytes);
  const bool same = !prepared.key.empty() && prepared.set_key == action.key &&
                    prepared.key.front().tag_bytes() == tag_bytes;
  if (!same) {
    const checks::SetKey set_key{std::span(action.key).first<limits::kCheckKeyBytes>()};
    prepared.key.clear();
    prepared.key.push_back(
        set_key.generation_key(action.generation, content.shape().block_bytes, tag_bytes));
    prepared.set_key = action.key;
  }
  return prepared.key.front();
}

RowVerdict RowJudge::judge_on_worker(const CodedContent& content, const core::JudgeRows& action,
                                     std::vector<RowRef> rows, Prepared& prepared) {
  const StageScope stage(Stage::kHash);
  const codec::CheckKey& key = key_for(content, action, prepared);
  const std::size_t tag_bytes = key.tag_bytes();
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
