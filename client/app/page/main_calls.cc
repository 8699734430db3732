#include "client/app/page/main_calls.h"

#include <utility>

namespace firn::app {
namespace {

// A turn's share: a call that takes longer is the last one before a rest.
constexpr core::TimeUs kTurn = core::kMillisecond;

}  // namespace

MainCalls::MainCalls(EventLoop& loop) : loop_(loop) {
  if (!wakeup_.start(loop.uv(), [this] { run(); })) return;
  timer_ = proto::transport::make_uv_handle<uv_timer_t>(
      this, [&loop](uv_timer_t* timer) { return uv_timer_init(loop.uv(), timer); });
}

bool MainCalls::call(std::function<void()> what) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kWaitingMax) return false;
    waiting_.push_back(std::move(what));
  }
  wakeup_.signal();
  return true;
}

void MainCalls::run() {
  if (resting_) return;
  const core::TimeUs began = loop_.now();
  core::TimeUs took = 0;
  while (took < kTurn) {
    std::function<void()> next;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty()) break;
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    next();
    took = loop_.now() - began;
  }
  // The loop is woken once for calls that have been made; those that are left wait for this.
  if (took > 0) rest(took * kRestFactor);
}

void MainCalls::rest(core::TimeUs duration) {
  resting_ = true;
  const auto over = [](uv_timer_t* timer) {
    auto* const self = static_cast<MainCalls*>(timer->data);
    if (self == nullptr) return;
    self->resting_ = false;
    self->run();
  };
  uv_update_time(loop_.uv());
  uv_timer_start(timer_.get(), over, static_cast<std::uint64_t>((duration + 999) / 1000), 0);
}

}  // namespace firn::app
