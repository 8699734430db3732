#include "client/app/coding/leaf_maker.h"

#include <utility>

#include "client/app/coding/block_product.h"
#include "proto/base/digest.h"
#include "proto/base/stage_times.h"

namespace firn::app {

LeafMaker::LeafMaker(std::shared_ptr<const CodedContent> content, TaskLine& tasks,
                     CodingOutcomes& outcomes)
    : content_(std::move(content)), tasks_(tasks), outcomes_(outcomes) {}

void LeafMaker::make(const core::MakeLeaves& action) {
  tasks_.submit(content_->key_of(action.generation),
                [this, data = content_->cached(action.generation), action,
                 content = content_]() mutable -> WorkerPool::Completion {
                  data = content->load_unless(std::move(data), action.generation);
                  return [this, peer = action.peer,
                          reply = make_on_worker(*content, action.generation, data)]() mutable {
                    outcomes_.leaves_made(peer, std::move(reply));
                  };
                });
}

proto::LeafReply LeafMaker::make_on_worker(const CodedContent& content, std::uint32_t generation,
                                           const SharedBuffer& data) {
  proto::LeafReply reply{generation, {}};
  if (!data) return reply;
  const std::size_t block_bytes = content.shape().block_bytes;
  reply.leaves = merkle_leaves(data->bytes(), block_bytes);
  const Digest& digest = content.store().manifest().info.generation_digests[generation];
  if (merkle_root(reply.leaves) != digest) reply.leaves.clear();
  return reply;
}

}  // namespace firn::app
