#include "client/app/coding/epoch_maker.h"

#include <utility>

#include "client/app/coding/block_product.h"
#include "codec/check_sums.h"
#include "proto/base/stage_times.h"

namespace firn::app {

EpochMaker::EpochMaker(std::shared_ptr<const CodedContent> content, TaskLine& tasks,
                       CodingOutcomes& outcomes)
    : content_(std::move(content)),
      tasks_(tasks),
      outcomes_(outcomes),
      kept_sums_(content_, tasks) {}

void EpochMaker::make(core::MakeEpoch action) {
  const checks::SetKey key = checks::SetKey::draw();
  std::vector<std::uint32_t> generations;
  for (const proto::EpochSums& one : action.epoch.sums) generations.push_back(one.generation);
  kept_sums_.make(key, generations, action.tag_bytes,
                  [this, key, action](std::vector<std::vector<std::uint8_t>> sums) mutable {
                    action.epoch.key.assign(key.bytes().begin(), key.bytes().end());
                    for (std::size_t i = 0; i < sums.size(); ++i)
                      action.epoch.sums[i].sums = std::move(sums[i]);
                    make_others(key, std::move(action));
                  });
}

// The sums that no device made.
void EpochMaker::make_others(const checks::SetKey& key, core::MakeEpoch action) {
  std::vector<SharedBuffer> cached;
  for (const proto::EpochSums& one : action.epoch.sums)
    cached.push_back(one.sums.empty() ? content_->cached(one.generation) : nullptr);
  const std::uint32_t first = action.epoch.sums.empty() ? 0 : action.epoch.sums[0].generation;
  tasks_.submit(content_->key_of(first),
                [this, key, cached = std::move(cached), action = std::move(action),
                 content = content_]() mutable -> WorkerPool::Completion {
                  return [this, epoch = make_on_worker(*content, key, std::move(action),
                                                       std::move(cached))]() mutable {
                    outcomes_.epoch_made(std::move(epoch));
                  };
                });
}

proto::Epoch EpochMaker::make_on_worker(const CodedContent& content, const checks::SetKey& set_key,
                                        core::MakeEpoch action, std::vector<SharedBuffer> cached) {
  const StageScope stage(Stage::kProof);
  const std::size_t block_bytes = content.shape().block_bytes;
  proto::Epoch& epoch = action.epoch;
  for (std::size_t i = 0; i < epoch.sums.size(); ++i) {
    proto::EpochSums& one = epoch.sums[i];
    if (!one.sums.empty()) continue;
    const SharedBuffer data = content.load_unless(std::move(cached[i]), one.generation);
    if (!data) continue;
    const codec::CheckKey key =
        set_key.generation_key(one.generation, block_bytes, action.tag_bytes);
    const codec::CheckSums sums(key, source_blocks(data->bytes(), block_bytes));
    one.sums.assign(sums.bytes().begin(), sums.bytes().end());
  }
  std::erase_if(epoch.sums, [](const proto::EpochSums& one) { return one.sums.empty(); });
  return std::move(epoch);
}

}  // namespace firn::app
