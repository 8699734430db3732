#include "client/content/generation_loop.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "proto/base/start_thread.h"
#include "proto/base/within_memory.h"

namespace firn::content {
namespace {

class Run {
 public:
  Run(const Shape& shape, std::span<const std::uint32_t> generations, const GenerationLoop& loop,
      const GenerationStep& step)
      : shape_(shape), generations_(generations), loop_(loop), step_(step) {
    for (const std::uint32_t g : generations) total_bytes_ += shape.bytes_in_generation(g);
  }

  Status all() {
    const std::size_t helpers =
        std::min<std::size_t>(std::max(loop_.threads, 1u) - 1, generations_.size());
    std::vector<std::thread> threads;
    while (threads.size() < helpers) {
      auto helper = start_thread("reading the content", [this] { work(false); });
      if (!helper) break;  // then the others do more
      threads.push_back(*std::move(helper));
    }
    work(true);
    for (std::thread& thread : threads) thread.join();
    if (error_) return *error_;
    if (loop_.progress) loop_.progress(total_bytes_, total_bytes_);
    return Done{};
  }

 private:
  // Without memory for its buffer a thread ends the whole run: the next one would have none either.
  void work(bool caller) {
    const Status done = within_memory("read the content", [&]() -> Status {
      take_steps(caller);
      return Done{};
    });
    if (!done) fail(generations_.size(), done.error());
  }

  void take_steps(bool caller) {
    std::vector<std::uint8_t> buffer(shape_.generation_bytes());
    while (!stop_) {
      if (caller && loop_.cancelled && loop_.cancelled()) {
        fail(generations_.size(), {ErrorCode::kCancelled, "reading the content", "stopped"});
        return;
      }
      const std::size_t index = next_++;
      if (index >= generations_.size()) return;
      const std::uint32_t generation = generations_[index];
      if (Status status = step_(generation, buffer); !status) {
        fail(index, status.error());
        return;
      }
      done_bytes_ += shape_.bytes_in_generation(generation);
      if (caller && loop_.progress) loop_.progress(done_bytes_, total_bytes_);
    }
  }

  void fail(std::size_t index, const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!error_ || index < error_index_) {
      error_ = error;
      error_index_ = index;
    }
    stop_ = true;
  }

  const Shape& shape_;
  const std::span<const std::uint32_t> generations_;
  const GenerationLoop& loop_;
  const GenerationStep& step_;
  std::uint64_t total_bytes_ = 0;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<std::uint64_t> done_bytes_ = 0;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::optional<Error> error_;
  std::size_t error_index_ = 0;
};

}  // namespace

Status for_each_generation(const Shape& shape, std::span<const std::uint32_t> generations,
                           const GenerationLoop& loop, const GenerationStep& step) {
  if (generations.empty()) return Done{};
  return Run(shape, generations, loop, step).all();
}

}  // namespace firn::content
