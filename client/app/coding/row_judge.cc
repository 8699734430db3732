#include "client/app/coding/row_judge.h"

#include <algorithm>
#include <utility>

#include "client/checks/set_key.h"
#include "codec/check_sums.h"
#include "codec/kernels.h"
#include "proto/base/limits.h"
#include "proto/base/stage_times.h"

namespace firn::app {
namespace {

// Bytes of keys that are kept.
constexpr std::size_t kKeptBytes = 1 << 20;
// The loop's budget counts multiply-adds: eight take as long as hashing a byte, at 35 GB/s with
// AVX-512 or 5 GB/s with AVX2 (docs/lab/038). Without such kernels hashing is far slower.
constexpr std::uint64_t kMultiplyAddsPerByte = 8;

bool hashes_fast() {
  return &codec::check_kernels() != &codec::check_kernels(*codec::find_kernels("scalar"));
}

// An eighth of a block, half as much again as kept, and a table.
std::size_t key_bytes(std::size_t block_bytes) {
  return 3 * codec::CheckKey::material_bytes(block_bytes, codec::CheckKey::kTagBytes) / 2;
}

}  // namespace

RowJudge::RowJudge(std::shared_ptr<const CodedContent> content, TaskLine& tasks,
                   const TurnClock& clock, Spooler& rows, CodingOutcomes& outcomes)
    : content_(std::move(content)),
      tasks_(tasks),
      clock_(clock),
      rows_(rows),
      outcomes_(outcomes) {}

void RowJudge::judge(core::JudgeRows action) {
  const std::uint32_t generation = action.generation;
  std::vector<RowRef> rows = rows_.find(generation, action.slots);
  const std::shared_ptr<Prepared> prepared = prepared_for(generation);
  if (at_once(*prepared, action, rows)) {
    const RowVerdict verdict = judge_rows(*content_, action, std::move(rows), *prepared);
    return outcomes_.rows_judged(generation, verdict);
  }
  ++prepared->tasks;
  tasks_.submit(content_->key_of(generation),
                [this, rows = std::move(rows), action = std::move(action), content = content_,
                 prepared]() mutable -> WorkerPool::Completion {
                  const std::uint32_t judged = action.generation;
                  RowVerdict verdict = judge_rows(*content, action, std::move(rows), *prepared);
                  return [this, judged, prepared, verdict = std::move(verdict)] {
                    --prepared->tasks;
                    outcomes_.rows_judged(judged, verdict);
                  };
                });
}

// A row costs its own bytes, and those of the sums that are combined for it.
bool RowJudge::at_once(const Prepared& prepared, const core::JudgeRows& action,
                       const std::vector<RowRef>& rows) const {
  const bool at_hand = std::ranges::all_of(rows, [](const RowRef& row) { return !!row.payload; });
  if (prepared.tasks > 0 || !at_hand || !hashes_fast()) return false;
  const std::size_t block_bytes = content_->shape().block_bytes;
  const std::uint64_t bytes = rows.size() * (block_bytes + action.sums.size()) +
                              (prepared.key.empty() ? key_bytes(block_bytes) : 0);
  return content_->loop_budget().take(kMultiplyAddsPerByte * bytes, clock_.now());
}

// Tasks under way hold theirs.
void RowJudge::forget(std::uint32_t generation) {
  if (prepared_.erase(generation) > 0) std::erase(prepared_order_, generation);
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
  const bool same = !prepared.key.empty() && std::ranges::equal(prepared.set_key, action.key) &&
                    prepared.key.front().tag_bytes() == tag_bytes;
  if (!same) {
    const checks::SetKey set_key{std::span(action.key).first<limits::kCheckKeyBytes>()};
    prepared.key.clear();
    prepared.key.push_back(
        set_key.generation_key(action.generation, content.shape().block_bytes, tag_bytes));
    prepared.set_key.assign(action.key.begin(), action.key.end());
  }
  return prepared.key.front();
}

RowVerdict RowJudge::judge_rows(const CodedContent& content, const core::JudgeRows& action,
                                std::vector<RowRef> rows, Prepared& prepared) {
  const StageScope stage(Stage::kProof);
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
