// Whether the other side of an open connection is still there: it has to send something (or, while
// reading is paused, take something) within the idle timeout, and its kernel has to answer within
// the silence timeout.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "proto/transport/transport.h"

namespace firn::proto::transport {

// One connection. Times are milliseconds of any one clock.
class Liveness {
 public:
  static constexpr std::uint64_t kNever = UINT64_MAX;

  explicit Liveness(const Options& options);

  // The other side has shown that it is there, or needs not show it.
  void shown(std::uint64_t now_ms) { last_shown_ms_ = now_ms; }

  // Whether it is the idle timeout that has passed: the other side may still be there.
  bool is_idle(std::uint64_t now_ms) const {
    return idle_ms_ > 0 && now_ms - last_shown_ms_ >= idle_ms_;
  }
  // When to look again; kNever: no timeout is set.
  std::uint64_t next_look_ms(std::uint64_t now_ms) const;
  // Asks the kernel too. Returns why the connection is to be given up, if it is. `paused`: nothing
  // is read from it.
  std::optional<std::string> look(int fd, bool paused, std::uint64_t now_ms);

 private:
  bool is_silent(int fd, std::uint64_t now_ms);

  const std::uint64_t idle_ms_;     // 0: no timeout
  const std::uint64_t silence_ms_;  // 0: no timeout
  std::uint64_t last_shown_ms_ = 0;
  std::uint64_t unanswered_since_ms_ = 0;  // its kernel owes an acknowledgement; 0: it does not
};

}  // namespace firn::proto::transport
