#include "client/app/coding/evidence.h"

#include <algorithm>
#include <utility>

#include "client/app/coding/block_product.h"

namespace firn::app {

Evidence::Evidence(std::shared_ptr<const CodedContent> content, TaskLine& tasks, Spooler& rows,
                   CodingOutcomes& outcomes)
    : content_(std::move(content)), tasks_(tasks), rows_(rows), outcomes_(outcomes) {}

void Evidence::keep(core::KeepEvidence action) {
  const std::uint32_t generation = action.generation;
  auto kept = std::make_shared<Rows>();
  kept_[generation] = kept;
  tasks_.submit(content_->key_of(generation),
                [kept, rows = rows_.find(generation, action.slots), action,
                 content = content_]() -> WorkerPool::Completion {
                  *kept = gather(*content, action, rows);
                  return {};
                });
}

void Evidence::check(std::uint32_t generation) {
  const auto found = kept_.find(generation);
  if (found == kept_.end()) return outcomes_.evidence_checked(generation, {});
  auto kept = found->second;
  kept_.erase(found);
  tasks_.submit(content_->key_of(generation),
                [this, kept, generation, data = content_->cached(generation),
                 content = content_]() mutable -> WorkerPool::Completion {
                  data = content->load_unless(std::move(data), generation);
                  std::vector<PeerId> guilty;
                  if (data) guilty = find_guilty(*content, data->bytes(), *kept);
                  return [this, generation, guilty] {
                    outcomes_.evidence_checked(generation, guilty);
                  };
                });
}

// --- on a worker ---

Evidence::Rows Evidence::gather(const CodedContent& content, const core::KeepEvidence& kept,
                                std::vector<RowRef> rows) {
  Rows gathered;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!content.read_back(kept.generation, rows[i])) continue;
    gathered.push_back({kept.vectors[i], kept.senders[i], sha256(rows[i].payload.bytes())});
    rows[i].payload = {};
  }
  return gathered;
}

// A row is false if it is not the combination of source blocks that its vector promises.
std::vector<PeerId> Evidence::find_guilty(const CodedContent& content,
                                          std::span<const std::uint8_t> generation,
                                          const Rows& rows) {
  constexpr std::size_t kRowsAtOnce = 16;
  const std::size_t block_bytes = content.shape().block_bytes;
  const auto source = source_blocks(generation, block_bytes);
  std::vector<PeerId> guilty;
  for (std::size_t first = 0; first < rows.size(); first += kRowsAtOnce) {
    const std::size_t count = std::min(kRowsAtOnce, rows.size() - first);
    std::vector<std::uint8_t> matrix;
    for (std::size_t r = 0; r < count; ++r) {
      const auto& vector = *rows[first + r].vector;
      matrix.insert(matrix.end(), vector.begin(), vector.end());
    }
    const auto truth = combine_blocks(content.kernels(), source, matrix, block_bytes);
    for (std::size_t r = 0; r < count; ++r) {
      const Row& row = rows[first + r];
      if (sha256(truth[r].bytes()) == row.payload_digest) continue;
      if (std::find(guilty.begin(), guilty.end(), row.sender) == guilty.end())
        guilty.push_back(row.sender);
    }
  }
  return guilty;
}

}  // namespace firn::app
