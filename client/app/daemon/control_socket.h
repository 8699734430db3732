// The Unix socket on which a daemon takes commands: lines in, an answer for each out, in order, on
// the main thread's loop.
//
// Bounds: kConnectionsMax connections; one more takes the place of the one that has been silent the
// longest and has no answers to read, or is closed if all have. Lines of kLineBytesMax: a longer
// one is answered with an error and ends its connection. A connection whose answers are not read is
// not read either, once kAnswerBytesMax of them wait.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "client/app/console/console.h"
#include "client/app/runtime/event_loop.h"
#include "proto/base/result.h"

namespace firn::app {

// Main thread.
class ControlSocket {
 public:
  static constexpr std::size_t kLineBytesMax = 64 << 10;
  static constexpr std::size_t kConnectionsMax = 64;
  static constexpr std::size_t kAnswerBytesMax = 1 << 20;

  // The answer to a line, without line ends; empty: none.
  using Answer = std::function<std::string(std::string_view line)>;

  static constexpr core::TimeUs kLookInterval = 3 * core::kSecond;

  // Listens at `path`, for this account alone. A socket there that nobody listens on any more is
  // replaced; a lock on the file `path`.lock keeps two programs from doing so at one time. `loop`
  // and `console` outlive the result. Errors: kExists (another program listens there, or it is
  // no socket), kBadInput (too long a path for a socket), others as errno says.
  static Result<std::unique_ptr<ControlSocket>> open(EventLoop& loop, Console& console,
                                                     const std::string& path, Answer answer);
  // Listens again if somebody has removed the socket, as a logout does with XDG_RUNTIME_DIR, and
  // nobody else listens there. All connections are closed then. Returns when it is to be called
  // next.
  core::TimeUs turn(core::TimeUs now);
  // Closes all connections, and removes the socket and its lock where they are its own.
  ~ControlSocket();
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

 private:
  struct Impl;
  ControlSocket(EventLoop& loop, Console& console, const std::string& path, Answer answer);
  Status listen();

  EventLoop& loop_;
  Console& console_;
  const std::string path_;
  const Answer answer_;
  std::unique_ptr<Impl> impl_;  // null: nothing listens
  core::TimeUs look_at_ = 0;
};

}  // namespace firn::app
