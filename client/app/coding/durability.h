// When what one content has written becomes durable: a sync some time after the first write, the
// finish of a complete content, and the end of the data plane.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "client/app/coding/coded_content.h"
#include "client/app/coding/coding_outcomes.h"
#include "client/app/coding/disk_queue.h"
#include "client/app/coding/turn_clock.h"

namespace firn::app {

// Owner thread.
class Durability {
 public:
  static constexpr core::TimeUs kSyncInterval = 5 * core::kSecond;

  Durability(std::shared_ptr<const CodedContent> content, DiskQueue& disk, const TurnClock& clock,
             CodingOutcomes& outcomes);

  // Something was written that a sync makes durable.
  void note_write();
  // The content is complete: its files get their final names, as soon as nothing is lost.
  void finish();
  // Calls `done` when all that was submitted to the disk queue is durable, or when the disk takes
  // nothing. Nothing is submitted afterwards.
  void close(std::function<void()> done);
  // The disk queue may be at rest.
  void check_closed();

  void wake();
  core::TimeUs next_wake() const { return sync_at_; }

 private:
  void sync();
  void finished(const Result<bool>& result, std::uint64_t writes);
  void tell_news();

  const std::shared_ptr<const CodedContent> content_;
  DiskQueue& disk_;
  const TurnClock& clock_;
  CodingOutcomes& outcomes_;
  std::uint64_t writes_ = 0, writes_synced_ = 0;
  core::TimeUs sync_at_ = core::kNever;
  bool finishing_ = false;     // finish() is with the pool, or parked
  bool finish_again_ = false;  // and was asked for once more
  std::function<void()> closed_;
};

}  // namespace firn::app
