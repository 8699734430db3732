#include "client/app/coding/background_check.h"

#include <chrono>
#include <utility>

#include "client/app/coding/lost_generations.h"

namespace firn::app {
namespace {

// Where the pool is full, or the generation is being sent.
constexpr core::TimeUs kTryAgain = core::kSecond;
constexpr core::TimeUs kUnreadable = 30 * core::kSecond;

}  // namespace

BackgroundCheck::BackgroundCheck(std::shared_ptr<const CodedContent> content,
                                 std::vector<bool> held, Found found)
    : content_(std::move(content)), found_(std::move(found)), held_(std::move(held)) {
  skip_absent();
  if (done()) due_ = core::kNever;
}

BackgroundCheck::~BackgroundCheck() {
  *alive_ = false;
}

void BackgroundCheck::wake(core::TimeUs now) {
  now_ = now;
  if (under_way_ || done() || due_ > now) return;
  auto task = [this, alive = alive_, g = next_, content = content_]() -> WorkerPool::Completion {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    const auto loaded = content->load(g);
    const auto took =
        std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin).count();
    const Status status = loaded.ok() ? Status(Done{}) : Status(loaded.error());
    return [this, alive, status, took] {
      if (*alive) checked(status, took);
    };
  };
  // Not by way of the content's line: nothing waits for this, and it must not wait before others.
  under_way_ = content_->pool().submit(WorkerPool::kUnordered, std::move(task));
  if (!under_way_) due_ = now + kTryAgain;
}

void BackgroundCheck::skip_absent() {
  while (!done() && !held_[next_]) ++next_;
}

void BackgroundCheck::checked(const Status& status, core::TimeUs took) {
  under_way_ = false;
  // What passes is waited for; sending finds it out for itself meanwhile.
  const bool lost = !status.ok() && !may_pass(status.error());
  const bool again = !status.ok() && !(lost && found_(next_, status.error()));
  if (!again) {
    ++next_;
    skip_absent();
  }
  if (lost && !again) found_lost_ = true;
  due_ = done() ? core::kNever : now_ + (!again ? 2 * took : lost ? kTryAgain : kUnreadable);
}

}  // namespace firn::app
