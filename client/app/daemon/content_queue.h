// Which of the daemon's contents may be active, and which wait for a place: at most so many
// downloads and so many seeds. The order is that of priority, then position. A download that has
// stood still while others waited has yielded: it comes after all that have yielded less often,
// whatever its priority, until it moves again.
//
// No I/O and no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "client/core/base/types.h"

namespace firn::app {

// 0: no bound.
struct QueueLimits {
  std::size_t downloads = 0;
  std::size_t seeds = 0;
};

struct QueueEntry {
  bool wants = false;  // to be active: it is not paused, finished or failed
  bool seeds = false;
  std::int64_t priority = 0;
  std::int64_t position = 0;
  unsigned yields = 0;

  bool operator==(const QueueEntry&) const = default;
};

struct QueuePlace {
  bool runs = false;
  std::size_t waits_as = 0;  // 1: the next of its kind; 0: it does not wait
  bool others_wait = false;  // of its kind
};

// "high", "normal" or "low".
const char* priority_name(std::int64_t priority);
// nullopt: it is none of them.
std::optional<std::int64_t> priority_of(std::string_view name);

// The place of each, in the order of `entries`.
std::vector<QueuePlace> places_of(const std::vector<QueueEntry>& entries,
                                  const QueueLimits& limits);

// Whether a download that has a place makes use of it.
class QueueProgress {
 public:
  void session_began(core::TimeUs now);
  // How it stands now; `works`: it does something that shows in no rank, such as reading its files.
  // After `patience` without progress it yields, if others wait.
  void sample(std::uint64_t rank, bool works, bool others_wait, core::TimeUs patience,
              core::TimeUs now);
  // It is to be taken for one that moves.
  void forgive() { yields_ = 0; }
  unsigned yields() const { return yields_; }

 private:
  std::uint64_t rank_ = 0;
  core::TimeUs moved_at_ = 0;
  unsigned yields_ = 0;
};

}  // namespace firn::app
