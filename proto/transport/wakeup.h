// Wakes a libuv loop from other threads, as uv_async_t does, at less cost.
//
// libuv's own (1.44) first writes to the loop and then notes that it has; a loop that is woken in
// between, which is every time where there is another core, spins and yields until the note is
// there. In a race of slow links that was 6 % of a peer's CPU time (docs/lab/008). Here the
// note comes first.
#pragma once

#include <uv.h>

#include <atomic>
#include <functional>

#include "proto/transport/sockets.h"
#include "proto/transport/uv_handle.h"

namespace firn::proto::transport {

class Wakeup {
 public:
  // `woken` is called on the loop's thread after signal(); several signals may end in one call, and
  // what was done before a signal is seen by the call. False: no descriptors left, or libuv
  // refuses.
  bool start(uv_loop_t* loop, std::function<void()> woken);
  // The loop's thread, also from within `woken`: no calls any more. Signals are then ignored.
  void stop() { poll_.reset(); }
  bool started() const { return poll_ != nullptr; }

  // The loop's thread, while it waits for something else: signals between hold() and release() do
  // not wake it, and cost next to nothing. After release() it must look at what they are sent for,
  // as `woken` may not be called for them.
  void hold() { signalled_.exchange(true); }
  void release() { signalled_.exchange(false); }

  // Any thread, from start() until this object is destroyed.
  void signal();

 private:
  void on_readable();

  Socket event_;  // an eventfd; destroyed after poll_
  UvHandle<uv_poll_t> poll_;
  std::function<void()> woken_;
  std::atomic<bool> signalled_ = false;
};

}  // namespace firn::proto::transport
