// A pipe or TCP connection of the event loop that bytes come from and go to: what ssh_child, tunnel
// and receiving have in common.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "client/app/runtime/event_loop.h"
#include "proto/base/result.h"

struct uv_stream_s;

namespace firn::app {

// Main thread. Each callback may destroy the stream.
class ByteStream {
 public:
  enum class Kind { kPipe, kTcp };
  // Not open yet: uv_spawn, uv_accept or uv_tcp_connect opens it.
  ByteStream(EventLoop& loop, Kind kind);
  // What is not written yet is lost.
  ~ByteStream();
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  // A pipe or socket that this process was started with, as its standard input. Errors: it is
  // neither.
  static Result<std::unique_ptr<ByteStream>> of_descriptor(EventLoop& loop, int descriptor);

  uv_stream_s* uv();

  // Reads from now on. `bytes`: what has come; `end`: nothing more will, whatever the reason.
  void read(std::function<void(std::string_view)> bytes, std::function<void()> end);
  // Stops reading for a while, or goes on.
  void pause(bool paused);
  // Called after each write() that the system has taken.
  void on_written(std::function<void()> written);

  void write(std::string bytes);
  void write(std::shared_ptr<const std::string> bytes);
  // Bytes that the system has not taken yet.
  std::size_t unwritten() const;
  // The other side reads the end once all is written.
  void end_writing();

 private:
  struct Impl;
  Impl* impl_;  // freed when libuv has closed it
};

}  // namespace firn::app
