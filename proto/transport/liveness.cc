#include "proto/transport/liveness.h"

#include <algorithm>

#include "proto/transport/sockets.h"

namespace firn::proto::transport {
namespace {

constexpr std::uint64_t kSilenceLooks = 4;  // within the silence timeout

}  // namespace

Liveness::Liveness(const Options& options)
    : idle_ms_(static_cast<std::uint64_t>(options.idle_timeout.count())),
      silence_ms_(static_cast<std::uint64_t>(options.silence_timeout.count())) {}

std::uint64_t Liveness::next_look_ms(std::uint64_t now_ms) const {
  const std::uint64_t idle_at = idle_ms_ > 0 ? last_shown_ms_ + idle_ms_ : kNever;
  return silence_ms_ > 0 ? std::min(idle_at, now_ms + silence_ms_ / kSilenceLooks) : idle_at;
}

std::optional<std::string> Liveness::look(int fd, bool paused, std::uint64_t now_ms) {
  if (is_silent(fd, now_ms))
    return "gone without a goodbye: nothing sent was acknowledged for " +
           std::to_string(silence_ms_) + " ms";
  if (!is_idle(now_ms)) return std::nullopt;
  return (paused ? "the other side took nothing for " : "nothing received for ") +
         std::to_string(idle_ms_) + " ms";
}

// Looks a few times within the timeout: one look cannot tell for how long something has waited.
bool Liveness::is_silent(int fd, std::uint64_t now_ms) {
  if (silence_ms_ == 0) return false;
  const Acknowledgement owed = acknowledgement(fd);
  if (!owed.awaited) {
    unanswered_since_ms_ = 0;
  } else if (unanswered_since_ms_ == 0 || now_ms - unanswered_since_ms_ > owed.last_ms_ago) {
    unanswered_since_ms_ = now_ms;  // one has come since the last look
  }
  return unanswered_since_ms_ != 0 && now_ms - unanswered_since_ms_ >= silence_ms_;
}

}  // namespace firn::proto::transport
