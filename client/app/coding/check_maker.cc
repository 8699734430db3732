#include "client/app/coding/check_maker.h"

#include <utility>

#include "client/app/coding/block_product.h"
#include "client/checks/set_key.h"
#include "codec/check_sums.h"
#include "proto/base/limits.h"
#include "proto/base/stage_times.h"

namespace firn::app {

CheckMaker::CheckMaker(std::shared_ptr<const CodedContent> content, TaskLine& tasks,
                       CodingOutcomes& outcomes)
    : content_(std::move(content)), tasks_(tasks), outcomes_(outcomes) {}

void CheckMaker::make(core::MakeCheck action) {
  tasks_.submit(content_->key_of(action.generation),
                [this, data = content_->cached(action.generation), action = std::move(action),
                 content = content_]() mutable -> WorkerPool::Completion {
                  data = content->load_unless(std::move(data), action.generation);
                  return [this, peer = action.peer,
                          reply = make_on_worker(*content, action, data)]() mutable {
                    outcomes_.check_made(peer, std::move(reply));
                  };
                });
}

proto::CheckReply CheckMaker::make_on_worker(const CodedContent& content,
                                             const core::MakeCheck& action,
                                             const SharedBuffer& generation) {
  proto::CheckReply reply{action.generation, {}, {}};
  if (!generation) return reply;
  const StageScope stage(Stage::kHash);
  const std::size_t block_bytes = content.shape().block_bytes;
  const checks::SetKey set_key =
      action.key.empty() ? checks::SetKey::draw()
                         : checks::SetKey(std::span(action.key).first<limits::kCheckKeyBytes>());
  const codec::CheckKey key =
      set_key.generation_key(action.generation, block_bytes, action.tag_bytes);
  const codec::CheckSums sums(key, source_blocks(generation->bytes(), block_bytes));
  reply.key.assign(set_key.bytes().begin(), set_key.bytes().end());
  reply.sums.assign(sums.bytes().begin(), sums.bytes().end());
  return reply;
}

}  // namespace firn::app
