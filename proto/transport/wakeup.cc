#include "proto/transport/wakeup.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "proto/base/stage_times.h"

namespace firn::proto::transport {

bool Wakeup::start(uv_loop_t* loop, std::function<void()> woken) {
  woken_ = std::move(woken);
  event_ = Socket(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!event_) return false;
  poll_ = make_uv_handle<uv_poll_t>(
      this, [&](uv_poll_t* handle) { return uv_poll_init(loop, handle, event_.fd()); });
  return poll_ != nullptr &&
         uv_poll_start(poll_.get(), UV_READABLE, [](uv_poll_t* handle, int, int) {
           if (handle->data != nullptr) static_cast<Wakeup*>(handle->data)->on_readable();
         }) == 0;
}

void Wakeup::signal() {
  if (signalled_.exchange(true)) return;
  const StageScope stage(Stage::kWakeUps);
  const std::uint64_t one = 1;
  // It fails only with 2^64 - 2 signals unread.
  FIRN_CHECK(::write(event_.fd(), &one, sizeof one) == sizeof one);
}

// Emptied before the note is taken back: a signal in between finds the note, and needs no write, as
// `woken_` comes after it. The other way round its write could be read away here and the note stay.
void Wakeup::on_readable() {
  std::uint64_t count = 0;
  (void)!::read(event_.fd(), &count, sizeof count);
  signalled_.exchange(false);
  woken_();
}

}  // namespace firn::proto::transport
