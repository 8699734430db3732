#include "client/app/coding/coded_content.h"

#include <algorithm>

#include "proto/base/stage_times.h"
#include "proto/base/within_memory.h"

namespace firn::app {

CodedContent::CodedContent(const CodingResources& lent, std::uint32_t number,
                           std::shared_ptr<store::ContentStore> store)
    : lent_(lent), number_(number), store_(std::move(store)) {}

// --- any thread ---

std::shared_ptr<Buffer> CodedContent::take_buffer(std::uint32_t generation) const {
  return lent_.buffers.take(shape().padded_bytes(generation));
}

Result<SharedBuffer> CodedContent::load(std::uint32_t generation) const {
  const StageScope stage(Stage::kDiskRead);
  counts_->read(generation);
  const auto read = [&]() -> Result<SharedBuffer> {
    const auto data = take_buffer(generation);
    const Status status = store_->read_generation(generation, data->bytes());
    if (!status.ok()) return status.error();
    return SharedBuffer(data);
  };
  return within_memory("read generation " + std::to_string(generation), read);
}

SharedBuffer CodedContent::load_unless(SharedBuffer cached, std::uint32_t generation) const {
  if (cached) return cached;
  auto loaded = load(generation);
  return loaded.ok() ? *std::move(loaded) : nullptr;
}

bool CodedContent::read_back(std::uint32_t generation, RowRef& row) const {
  if (row.payload) return true;
  const StageScope stage(Stage::kDiskRead);
  proto::Payload payload = proto::Payload::allocate(shape().block_bytes);
  if (!store_->read_row(generation, row.slot, payload.writable()).ok()) return false;
  row.payload = std::move(payload);
  return true;
}

bool CodedContent::read_back(std::uint32_t generation, std::span<RowRef> rows) const {
  return std::all_of(rows.begin(), rows.end(),
                     [&](RowRef& row) { return read_back(generation, row); });
}

// --- owner thread ---

WorkerPool::Key CodedContent::key_of(std::uint32_t generation) const {
  return (std::uint64_t{number_} + 1) << 32 | generation;
}

SharedBuffer CodedContent::cached(std::uint32_t generation) const {
  return lent_.cache.find(number_, generation);
}

void CodedContent::cache(std::uint32_t generation, SharedBuffer data) const {
  lent_.cache.insert(number_, generation, std::move(data));
}

void CodedContent::uncache(std::uint32_t generation) const {
  lent_.cache.erase(number_, generation);
}

bool CodedContent::caches(std::size_t generation_count) const {
  return lent_.cache.bytes_max() >= generation_count * shape().generation_bytes();
}

}  // namespace firn::app
