#include "client/app/runtime/buffer_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "proto/base/sanitized.h"
#include "proto/base/stage_times.h"

namespace firn::app {
namespace {

std::size_t mapped_bytes(std::size_t bytes) {
  return (std::max<std::size_t>(bytes, 1) + Buffer::kAlignment - 1) / Buffer::kAlignment *
         Buffer::kAlignment;
}

// From the kernel, and back to it at once. In a heap pieces of this size lie between small ones,
// and glibc rarely finds room for an aligned one there: it took several times what was in use, and
// mimalloc 3 more (docs/lab/094).
std::uint8_t* allocate(std::size_t bytes) {
  void* const memory = kSanitized ? std::aligned_alloc(Buffer::kAlignment, bytes)
                                  : ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == nullptr || memory == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::uint8_t*>(memory);
}

void release(std::uint8_t* data, std::size_t bytes) {
  if (kSanitized) return std::free(data);
  // Where the process has all mappings that the kernel allows, the addresses stay; the pages go.
  if (::munmap(data, bytes) != 0) ::madvise(data, bytes, MADV_DONTNEED);
}

}  // namespace

Buffer::Buffer(std::size_t bytes)
    : size_(bytes), data_(allocate(mapped_bytes(bytes)), Free{mapped_bytes(bytes)}) {}

void Buffer::Free::operator()(std::uint8_t* data) const {
  release(data, bytes);
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
