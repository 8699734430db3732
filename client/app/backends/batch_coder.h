// A thread that gives batches to the codec's backends (codec/shared_backend.h): full-rank
// generations to decode, gathered while the batch before them is being worked on, coded blocks to
// make ahead of demand, and check sums of what devices keep.
//
// Flow: the owner thread asks decode(), encode() or make_sums(); the batch is made; what was asked
// is answered by the order's `done`, which the owner thread runs in run_completions().
//
// Waiting: a generation waits for company for kGatherTime at most. Sums and blocks go before
// generations: a receiver waits for each of them. Bound: orders are as many as the callers have
// under way; a batch takes at most `batch_bytes` of generations, one at least.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "client/app/backends/kept_sources.h"
#include "client/app/backends/stock_room.h"
#include "client/app/runtime/buffer_pool.h"
#include "client/core/base/actions.h"
#include "codec/random.h"
#include "codec/secret_memory.h"
#include "codec/shared_backend.h"
#include "proto/base/stage_times.h"
#include "proto/messages.h"

namespace firn::app {

// Row r of a full-rank generation: vectors[r], payloads[r], in any order.
struct DecodeOrder {
  std::size_t generation_size = 0, block_bytes = 0;
  std::vector<core::Vector> vectors;
  std::vector<proto::Payload> payloads;
  // The n * k decoded bytes, not yet compared with any digest; null if the vectors lack rank.
  std::function<void(std::shared_ptr<Buffer> decoded)> done;
};

struct CodedPayload {
  std::vector<std::uint8_t> vector;
  proto::Payload payload;
};

// `rows` coded blocks, with vectors that the coder draws.
struct EncodeOrder {
  std::uint64_t generation_key = 0;  // codec::EncodeWork
  std::size_t generation_size = 0, block_bytes = 0;
  SharedBuffer source;  // n * k bytes; null: only if a device keeps them
  std::size_t rows = 0;
  // `blocks` is empty if there was no source and no device keeps it (any more).
  std::function<void(std::vector<CodedPayload> blocks)> done;
};

// Check sums of generations that devices are likely to keep.
struct SumsOrder {
  struct Generation {
    std::uint64_t key = 0;                        // codec::SumsWork
    codec::SecretVector<std::uint8_t> material;   // of its check key
    codec::SecretVector<std::uint8_t> sums = {};  // answered: n * t bytes, or none if not kept
  };
  std::size_t generation_size = 0, block_bytes = 0, tag_bytes = 0;
  std::vector<Generation> generations;
  std::function<void(std::vector<Generation> generations)> done;
};

class BatchCoder {
 public:
  static constexpr std::chrono::milliseconds kGatherTime{2};

  struct Options {
    std::size_t batch_bytes = std::size_t{64} << 20;
    std::size_t stock_bytes = std::size_t{8} << 20;  // of all blocks kept ahead of demand
    std::uint64_t seed = 0;                          // of coding vectors
    StageClock* stages = nullptr;                    // where its time is counted; outlives it
    // Called by the destructor when the last batch is done: what the backend learnt may be kept.
    std::function<void(const codec::SharedBackend&)> on_end = nullptr;
  };
  using MakeBackend =
      std::function<std::unique_ptr<codec::SharedBackend>(codec::SharedBackend::Dropped)>;

  // `on_dropped`: a device failed and the CPU goes on in its place; owner thread. `on_completion`:
  // called by the coder's thread, without locks, when completions wait where none did.
  BatchCoder(const Options& options, BufferPool& buffers, const MakeBackend& make_backend,
             codec::SharedBackend::Dropped on_dropped, std::function<void()> on_completion);
  // Waits for the batch under way; what waits, and all completions, are thrown away.
  ~BatchCoder();
  BatchCoder(const BatchCoder&) = delete;
  BatchCoder& operator=(const BatchCoder&) = delete;

  // --- owner thread ---
  // Generations of this shape will come: devices are made ready for them meanwhile.
  void prepare(std::size_t generation_size, std::size_t block_bytes);
  void decode(DecodeOrder order);
  void encode(EncodeOrder order);
  void make_sums(SumsOrder order);
  void forget(std::uint64_t generation_key);
  // An order of this generation is likely to need no source blocks.
  bool keeps(std::uint64_t generation_key) const {
    return !distrusted_ && kept_.contains(generation_key);
  }
  // Whether work should come here at all: a device is left. Which of it the CPU does then is the
  // backend's choice, by what it measured; it, too, makes many blocks at once faster than one.
  bool useful() const { return has_devices_ && !distrusted_; }
  // A device gave false bytes, and it is not known which one.
  void distrust() { distrusted_ = true; }
  std::size_t run_completions();
  // Orders that have not been answered.
  std::size_t task_count() const { return task_count_; }
  codec::SharedBackend::Counts counts();
  std::string name();  // of the backends at work
  const Options& options() const { return options_; }
  // For what callers keep ahead of demand.
  StockRoom& stock_room() { return stock_room_; }

 private:
  using Completion = std::function<void()>;
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    DecodeOrder order;
    Clock::time_point since;
  };
  void work();
  bool batch_is_ready(Clock::time_point now) const;
  std::vector<DecodeOrder> take_batch();
  void run_decode(std::vector<DecodeOrder>& batch);
  void run_encode(EncodeOrder& order);
  void run_sums(SumsOrder& order);
  void complete(std::vector<Completion> completions, std::size_t orders);
  void note_state();

  const Options options_;
  StockRoom stock_room_;  // owner thread's
  KeptSources kept_;      // likewise
  BufferPool& buffers_;
  const std::function<void()> on_completion_;
  std::size_t task_count_ = 0;                     // owner thread's
  bool distrusted_ = false;                        // owner thread's
  std::atomic<bool> has_devices_ = false;          // false for good once it is
  std::atomic<std::size_t> kept_bytes_max_ = 0;    // by the devices that are left
  std::unique_ptr<codec::SharedBackend> backend_;  // the coder's thread's
  codec::CoefficientStream random_;                // likewise

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::deque<EncodeOrder> encodes_;
  std::deque<SumsOrder> sums_;
  std::deque<Waiting> decodes_;
  std::size_t waiting_bytes_ = 0;  // of decodes_
  std::vector<std::uint64_t> forgotten_;
  std::vector<std::pair<std::size_t, std::size_t>> to_prepare_;  // n, k
  codec::SharedBackend::Counts counts_;
  std::string name_;
  std::vector<Completion> completions_;
  std::size_t completed_orders_ = 0;
  std::thread thread_;
};

}  // namespace firn::app
