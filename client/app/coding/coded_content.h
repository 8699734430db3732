// One content as the parts of its data plane see it: its number, its store, and what the process
// lends them.
//
// Parts and their tasks share it. A task may outlive the data plane, but never the process's
// resources: the worker pool ends before they do.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "client/app/backends/batch_coder.h"
#include "client/app/coding/row_ref.h"
#include "client/app/coding/serving_counts.h"
#include "client/app/runtime/buffer_pool.h"
#include "client/app/runtime/generation_cache.h"
#include "client/app/runtime/loop_budget.h"
#include "client/app/runtime/worker_pool.h"
#include "client/store/content_store.h"
#include "codec/kernels.h"
#include "proto/content/shape.h"

namespace firn::app {

// What all contents of a process share.
struct CodingResources {
  WorkerPool& pool;
  BufferPool& buffers;
  GenerationCache& cache;
  const codec::Kernels& kernels;
  LoopBudget& loop_budget;
  BatchCoder* coder = nullptr;  // null: the workers do all coding
  std::uint64_t seed = 0;       // of coding vectors that are drawn here
  // Of blocks that workers make ahead, of a content. Enough for the 64 generations that a source
  // serves at a time, with blocks of 16 KiB.
  std::size_t stock_bytes = std::size_t{16} << 20;
};

class CodedContent {
 public:
  // `number`: of this content within the process.
  CodedContent(const CodingResources& lent, std::uint32_t number,
               std::shared_ptr<store::ContentStore> store);

  // --- any thread ---

  store::ContentStore& store() const { return *store_; }
  const Shape& shape() const { return store_->manifest().info.shape; }
  ServingCounts& counts() const { return *counts_; }
  const codec::Kernels& kernels() const { return lent_.kernels; }
  // A buffer for a generation's n * k bytes.
  std::shared_ptr<Buffer> take_buffer(std::uint32_t generation) const;
  // The bytes of a verified generation, read and compared with its digest.
  Result<SharedBuffer> load(std::uint32_t generation) const;
  // What was cached, else what can be read; null if neither.
  SharedBuffer load_unless(SharedBuffer cached, std::uint32_t generation) const;
  // Fetches the row's payload from the spool if it is not in memory; false if it cannot be read.
  bool read_back(std::uint32_t generation, RowRef& row) const;
  // The same for each row, until one cannot be read.
  bool read_back(std::uint32_t generation, std::span<RowRef> rows) const;

  // --- owner thread ---

  // Orders the tasks that concern one generation; also the generation's name at the batch coder.
  WorkerPool::Key key_of(std::uint32_t generation) const;
  WorkerPool& pool() const { return lent_.pool; }
  LoopBudget& loop_budget() const { return lent_.loop_budget; }
  BatchCoder* coder() const { return lent_.coder; }
  // Of this content's own random choices.
  std::uint64_t seed() const { return lent_.seed + number_; }
  std::size_t stock_bytes() const { return lent_.stock_bytes; }

  // The process's cache, as far as it holds generations of this content.
  SharedBuffer cached(std::uint32_t generation) const;
  void cache(std::uint32_t generation, SharedBuffer data) const;
  void uncache(std::uint32_t generation) const;
  // Whether the cache has room for as many full generations.
  bool caches(std::size_t generation_count) const;

 private:
  const CodingResources lent_;
  const std::uint32_t number_;
  const std::shared_ptr<store::ContentStore> store_;
  const std::unique_ptr<ServingCounts> counts_ = std::make_unique<ServingCounts>();
};

}  // namespace firn::app
