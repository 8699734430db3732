#include "client/app/backends/batch_coder.h"

#include <utility>

#include "codec/encode.h"
#include "proto/base/stage_times.h"
#include "proto/base/start_thread.h"
#include "proto/base/thread_times.h"

namespace firn::app {
namespace {

std::size_t bytes_of(const DecodeOrder& order) {
  return order.generation_size * order.block_bytes;
}

}  // namespace

BatchCoder::BatchCoder(const Options& options, BufferPool& buffers, const MakeBackend& make_backend,
                       codec::SharedBackend::Dropped on_dropped,
                       std::function<void()> on_completion)
    : options_(options),
      stock_room_(options.stock_bytes),
      buffers_(buffers),
      on_completion_(std::move(on_completion)),
      backend_(make_backend([this, on_dropped](const std::string& device, const std::string& why) {
        complete({[on_dropped, device, why] { on_dropped(device, why); }}, 0);
      })),
      random_(options.seed, 0) {
  has_devices_ = backend_->has_devices();
  kept_bytes_max_ = backend_->kept_bytes_max();
  name_ = backend_->name();
  auto thread = start_thread("coding on GPUs", [this] { work(); });
  if (thread) {
    thread_ = *std::move(thread);
  } else {
    has_devices_ = false;
    on_dropped(name_, thread.error().message());
  }
}

BatchCoder::~BatchCoder() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (options_.on_end) options_.on_end(*backend_);
}

void BatchCoder::prepare(std::size_t generation_size, std::size_t block_bytes) {
  {
    const std::lock_guard lock(mutex_);
    to_prepare_.emplace_back(generation_size, block_bytes);
  }
  changed_.notify_one();
}

void BatchCoder::decode(DecodeOrder order) {
  ++task_count_;
  {
    const std::lock_guard lock(mutex_);
    waiting_bytes_ += bytes_of(order);
    decodes_.push_back({std::move(order), Clock::now()});
  }
  changed_.notify_one();
}

void BatchCoder::encode(EncodeOrder order) {
  ++task_count_;
  kept_.use(order.generation_key, order.generation_size * order.block_bytes, kept_bytes_max_);
  {
    const std::lock_guard lock(mutex_);
    encodes_.push_back(std::move(order));
  }
  changed_.notify_one();
}

void BatchCoder::make_sums(SumsOrder order) {
  ++task_count_;
  {
    const std::lock_guard lock(mutex_);
    sums_.push_back(std::move(order));
  }
  changed_.notify_one();
}

void BatchCoder::forget(std::uint64_t generation_key) {
  kept_.forget(generation_key);
  const std::lock_guard lock(mutex_);
  forgotten_.push_back(generation_key);
}

std::size_t BatchCoder::run_completions() {
  std::vector<Completion> done;
  {
    const std::lock_guard lock(mutex_);
    done.swap(completions_);
    task_count_ -= std::exchange(completed_orders_, 0);
  }
  for (Completion& completion : done) completion();
  return done.size();
}

codec::SharedBackend::Counts BatchCoder::counts() {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::string BatchCoder::name() {
  const std::lock_guard lock(mutex_);
  return name_;
}

// --- the coder's thread ---

void BatchCoder::work() {
  const StageClock::Attach counted(options_.stages, Stage::kWorkerTurns);
  name_this_thread("firn-coder");
  std::unique_lock lock(mutex_);
  for (;;) {
    while (!stopping_ && to_prepare_.empty() && sums_.empty() && encodes_.empty() &&
           !batch_is_ready(Clock::now())) {
      const StageScope stage(Stage::kWaits);
      if (decodes_.empty()) {
        changed_.wait(lock);
      } else {
        changed_.wait_until(lock, decodes_.front().since + kGatherTime);
      }
    }
    if (stopping_) return;
    std::vector<EncodeOrder> encode;
    std::vector<DecodeOrder> decode;
    std::deque<SumsOrder> sums = std::exchange(sums_, {});
    if (!encodes_.empty()) {
      encode.push_back(std::move(encodes_.front()));
      encodes_.pop_front();
    } else if (batch_is_ready(Clock::now())) {
      decode = take_batch();
    }
    const auto forgotten = std::exchange(forgotten_, {});
    const auto to_prepare = std::exchange(to_prepare_, {});
    lock.unlock();
    for (const auto& [n, k] : to_prepare) backend_->prepare(n, k);
    for (const std::uint64_t key : forgotten) backend_->forget(key);
    for (SumsOrder& order : sums) run_sums(order);
    if (!encode.empty()) run_encode(encode.front());
    if (!decode.empty()) run_decode(decode);
    lock.lock();
  }
}

bool BatchCoder::batch_is_ready(Clock::time_point now) const {
  return !decodes_.empty() &&
         (waiting_bytes_ >= options_.batch_bytes || now >= decodes_.front().since + kGatherTime);
}

// The first that wait and have the same shape, as many as a batch takes.
std::vector<DecodeOrder> BatchCoder::take_batch() {
  std::vector<DecodeOrder> batch;
  std::size_t bytes = 0;
  while (!decodes_.empty()) {
    const DecodeOrder& next = decodes_.front().order;
    if (!batch.empty() &&
        (next.generation_size != batch[0].generation_size ||
         next.block_bytes != batch[0].block_bytes || bytes + bytes_of(next) > options_.batch_bytes))
      break;
    bytes += bytes_of(next);
    batch.push_back(std::move(decodes_.front().order));
    decodes_.pop_front();
  }
  waiting_bytes_ -= bytes;
  return batch;
}

void BatchCoder::run_decode(std::vector<DecodeOrder>& batch) {
  const StageScope stage(Stage::kDecode);
  struct Rows {
    std::vector<const std::uint8_t*> vectors, payloads;
    std::shared_ptr<Buffer> out;
  };
  std::vector<Rows> rows(batch.size());
  std::vector<codec::GenerationWork> work;
  for (std::size_t g = 0; g < batch.size(); ++g) {
    for (const core::Vector& vector : batch[g].vectors) rows[g].vectors.push_back(vector->data());
    for (const proto::Payload& payload : batch[g].payloads)
      rows[g].payloads.push_back(payload.bytes().data());
    rows[g].out = buffers_.take(bytes_of(batch[g]));
    work.push_back({batch[g].generation_size, batch[g].block_bytes, rows[g].vectors,
                    rows[g].payloads, rows[g].out->bytes()});
  }
  (void)backend_->decode(work);  // what a device cannot do, the CPU has done
  note_state();
  std::vector<Completion> completions;
  for (std::size_t g = 0; g < batch.size(); ++g) {
    completions.push_back([done = std::move(batch[g].done),
                           out = work[g].decoded ? std::move(rows[g].out) : nullptr]() mutable {
      done(std::move(out));
    });
  }
  batch.clear();
  const std::size_t orders = completions.size();
  complete(std::move(completions), orders);
}

void BatchCoder::run_encode(EncodeOrder& order) {
  const StageScope stage(Stage::kEncode);
  const std::size_t n = order.generation_size, k = order.block_bytes;
  std::vector<CodedPayload> blocks(order.rows);
  std::vector<std::uint8_t> vectors;
  std::vector<std::uint8_t*> out;
  for (CodedPayload& block : blocks) {
    block.vector = codec::random_vector(n, random_);
    vectors.insert(vectors.end(), block.vector.begin(), block.vector.end());
    block.payload = proto::Payload::allocate(k);
    out.push_back(block.payload.writable().data());
  }
  const std::span<const std::uint8_t> source =
      order.source ? order.source->bytes() : std::span<const std::uint8_t>();
  const auto status = backend_->encode({order.generation_key, n, k, source, vectors, out});
  if (!status.ok()) blocks.clear();
  note_state();
  order.source.reset();
  complete({[this, key = order.generation_key, done = std::move(order.done),
             blocks = std::move(blocks)]() mutable {
             if (blocks.empty()) kept_.forget(key);  // if it was kept at all, it is not any more
             done(std::move(blocks));
           }},
           1);
}

void BatchCoder::run_sums(SumsOrder& order) {
  const StageScope stage(Stage::kHash);
  std::vector<codec::SumsWork> works;
  for (SumsOrder::Generation& one : order.generations) {
    one.sums.resize(order.generation_size * order.tag_bytes);
    works.push_back({one.key, order.generation_size, order.block_bytes, order.tag_bytes,
                     one.material, one.sums});
  }
  (void)backend_->make_sums(works);  // what is not made there, the caller makes
  for (std::size_t i = 0; i < works.size(); ++i) {
    if (!works[i].made) order.generations[i].sums.clear();
  }
  note_state();
  complete({[done = std::move(order.done), generations = std::move(order.generations)]() mutable {
             done(std::move(generations));
           }},
           1);
}

void BatchCoder::note_state() {
  has_devices_ = backend_->has_devices();
  kept_bytes_max_ = backend_->kept_bytes_max();
  const std::lock_guard lock(mutex_);
  counts_ = backend_->counts();
  name_ = backend_->name();
}

void BatchCoder::complete(std::vector<Completion> completions, std::size_t orders) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = completions_.empty();
    for (Completion& completion : completions) completions_.push_back(std::move(completion));
    completed_orders_ += orders;
  }
  if (first) on_completion_();
}

}  // namespace firn::app
