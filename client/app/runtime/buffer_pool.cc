#include "client/app/runtime/buffer_pool.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "proto/base/stage_times.h"

namespace firn::app {

Buffer::Buffer(std::size_t bytes) : size_(bytes) {
  const std::size_t rounded =
      (std::max<std::size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  data_.reset(static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, rounded)));
  if (!data_) throw std::bad_alloc();
}

void Buffer::Free::operator()(std::uint8_t* data) const {
  std::free(data);
}

BufferPool::BufferPool(std::size_t idle_bytes_max) : shelf_(std::make_shared<Shelf>()) {
  shelf_->idle_bytes_max = idle_bytes_max;
}

std::shared_ptr<Buffer> BufferPool::take(std::size_t bytes) {
  const StageScope stage(Stage::kMemory);
  std::unique_ptr<Buffer> buffer;
  {
    std::lock_guard lock(shelf_->mutex);
    auto& idle = shelf_->idle;
    // From the end: what was used last is still warm in the caches.
    for (std::size_t i = idle.size(); i-- > 0 && !buffer;) {
      if (idle[i]->bytes().size() != bytes) continue;
      buffer = std::move(idle[i]);
      idle.erase(idle.begin() + static_cast<std::ptrdiff_t>(i));
      shelf_->idle_bytes -= bytes;
    }
  }
  if (!buffer) buffer = std::make_unique<Buffer>(bytes);
  return {buffer.release(), [shelf = shelf_](Buffer* used) {
            const StageScope giving_back(Stage::kMemory);
            std::unique_ptr<Buffer> owned(used);
            const std::size_t size = owned->bytes().size();
            std::lock_guard lock(shelf->mutex);
            if (shelf->idle_bytes + size > shelf->idle_bytes_max) return;
            shelf->idle_bytes += size;
            shelf->idle.push_back(std::move(owned));
          }};
}

}  // namespace firn::app
