// Calls that another thread has made on the main thread, which has better things to do: they take a
// tenth of its time at most.
#pragma once

#include <uv.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>

#include "client/app/runtime/event_loop.h"
#include "proto/transport/uv_handle.h"
#include "proto/transport/wakeup.h"

namespace firn::app {

class MainCalls {
 public:
  static constexpr std::size_t kWaitingMax = 256;
  static constexpr int kRestFactor = 9;  // of the time that calls took, before the next ones

  // `loop` outlives this object, which belongs to its thread.
  explicit MainCalls(EventLoop& loop);
  // False: no descriptor was left for it, and no call is ever made.
  bool works() const { return wakeup_.started() && timer_ != nullptr; }

  // Any thread, until this object is destroyed. False: too many wait, and this one is not made.
  bool call(std::function<void()> what);

 private:
  void run();
  void rest(core::TimeUs duration);

  EventLoop& loop_;
  std::mutex mutex_;
  std::deque<std::function<void()>> waiting_;  // under mutex_
  proto::transport::Wakeup wakeup_;
  proto::transport::UvHandle<uv_timer_t> timer_;
  bool resting_ = false;
};

}  // namespace firn::app
