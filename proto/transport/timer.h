// A libuv timer that calls one function.
#pragma once

#include <uv.h>

#include <cstdint>
#include <functional>
#include <utility>

#include "proto/base/stage_times.h"
#include "proto/transport/uv_handle.h"

namespace firn::proto::transport {

// Lives on its loop's thread.
class Timer {
 public:
  Timer(uv_loop_t* loop, std::function<void()> due) : due_(std::move(due)) {
    // Initialising a timer cannot fail.
    handle_ = make_uv_handle<uv_timer_t>(
        this, [loop](uv_timer_t* handle) { return uv_timer_init(loop, handle); });
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // Goes off once, `delay_ms` from now, and not at what was asked for before.
  void start(std::uint64_t delay_ms) {
    uv_timer_start(
        handle_.get(),
        [](uv_timer_t* handle) {
          const StageScope stage(Stage::kTimers);
          if (handle->data != nullptr) static_cast<Timer*>(handle->data)->due_();
        },
        delay_ms, 0);
  }
  void stop() { uv_timer_stop(handle_.get()); }
  // For good: nothing may be asked of it afterwards.
  void close() { handle_.reset(); }

 private:
  std::function<void()> due_;
  UvHandle<uv_timer_t> handle_;
};

}  // namespace firn::proto::transport
