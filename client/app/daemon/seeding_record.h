// How much a content has given to others, and for how long it has been seeded: over all of its
// sessions, so that its goals of seeding are reached once, however often the daemon is restarted.
//
// No I/O and no clock.
#pragma once

#include <cstdint>

#include "client/app/daemon/limit_values.h"
#include "client/core/base/types.h"

namespace firn::app {

class SeedingRecord {
 public:
  // What earlier runs have counted.
  SeedingRecord(std::uint64_t uploaded, std::int64_t seconds)
      : uploaded_(uploaded), seeded_us_(seconds * core::kSecond) {}

  // A session begins: its counters stand at 0.
  void session_began(core::TimeUs now);
  // How it stands now: bytes that it has sent, and whether it is complete.
  void sample(std::uint64_t session_sent, bool complete, core::TimeUs now);

  std::uint64_t uploaded() const { return uploaded_; }
  std::int64_t seconds() const { return seeded_us_ / core::kSecond; }
  // Whether one of the goals that `limits` sets is reached. `content_bytes` 0: not known.
  bool reached(const LimitValues& limits, std::uint64_t content_bytes) const;

 private:
  std::uint64_t uploaded_;
  core::TimeUs seeded_us_;
  std::uint64_t session_sent_ = 0;
  bool was_complete_ = false;
  core::TimeUs sampled_at_ = 0;
};

}  // namespace firn::app
