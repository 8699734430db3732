#include "client/app/coding/check_maker.h"

#include <utility>

#include "client/app/coding/block_product.h"
#include "codec/check_sums.h"
#include "proto/base/limits.h"
#include "proto/base/stage_times.h"

namespace firn::app {

CheckMaker::CheckMaker(std::shared_ptr<const CodedContent> content, TaskLine& tasks,
                       CodingOutcomes& outcomes)
    : content_(std::move(content)),
      tasks_(tasks),
      outcomes_(outcomes),
      kept_sums_(content_, tasks) {}

void CheckMaker::make(const core::MakeCheck& action) {
  const checks::SetKey key =
      action.key.empty() ? checks::SetKey::draw()
                         : checks::SetKey(std::span(action.key).first<limits::kCheckKeyBytes>());
  kept_sums_.make(key, action.generation, action.tag_bytes,
                  [this, key, peer = action.peer, g = action.generation,
                   tag_bytes = action.tag_bytes](std::vector<std::uint8_t> sums) {
                    if (sums.empty()) return make_by_worker(key, peer, g, tag_bytes);
                    outcomes_.check_made(peer, reply_of(key, g, std::move(sums)));
                  });
}

void CheckMaker::make_by_worker(const checks::SetKey& key, core::PeerKey peer,
                                std::uint32_t generation, std::uint32_t tag_bytes) {
  tasks_.submit(content_->key_of(generation),
                [this, key, peer, generation, tag_bytes, data = content_->cached(generation),
                 content = content_]() mutable -> WorkerPool::Completion {
                  data = content->load_unless(std::move(data), generation);
                  proto::CheckReply reply = reply_of(key, generation, {});
                  if (data) {
                    const StageScope stage(Stage::kProof);
                    const std::size_t block_bytes = content->shape().block_bytes;
                    const codec::CheckSums sums(
                        key.generation_key(generation, block_bytes, tag_bytes),
                        source_blocks(data->bytes(), block_bytes));
                    reply = reply_of(key, generation, {sums.bytes().begin(), sums.bytes().end()});
                  }
                  return [this, peer, reply = std::move(reply)]() mutable {
                    outcomes_.check_made(peer, std::move(reply));
                  };
                });
}

proto::CheckReply CheckMaker::reply_of(const checks::SetKey& key, std::uint32_t generation,
                                       std::vector<std::uint8_t> sums) {
  return {generation, {key.bytes().begin(), key.bytes().end()}, std::move(sums)};
}

}  // namespace firn::app
