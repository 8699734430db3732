#include "client/app/coding/read_ahead.h"

#include <utility>

namespace firn::app {
namespace {

constexpr std::size_t kRoomyCache = 8;  // generations

}  // namespace

ReadAhead::ReadAhead(std::shared_ptr<const CodedContent> content, TaskLine& tasks, Arrived arrived)
    : content_(std::move(content)), tasks_(tasks), arrived_(std::move(arrived)) {}

void ReadAhead::serving(std::uint32_t generation, bool next_kept) {
  if (generation == last_) return;
  // Receivers may stand at different generations, and each block be of another than the one
  // before: with room for few, what is read ahead then only drives out what is being served.
  const bool at_front = !front_ || generation > *front_;
  if (at_front) front_ = generation;
  if (at_front || (!next_kept && content_->caches(kRoomyCache))) fetch(generation + 1);
  last_ = generation;
}

void ReadAhead::fetch(std::uint32_t generation) {
  if (!enabled_ || generation >= content_->shape().generation_count()) return;
  if (content_->cached(generation) || !fetching_.insert(generation).second) return;
  tasks_.submit(content_->key_of(generation),
                [this, generation, content = content_]() -> WorkerPool::Completion {
                  return [this, generation, loaded = content->load(generation)] {
                    fetching_.erase(generation);
                    // A failure is told when the generation is really asked for.
                    if (loaded.ok()) content_->cache(generation, *loaded);
                    arrived_(generation);
                  };
                });
}

}  // namespace firn::app
