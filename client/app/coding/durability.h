// When what one content has written becomes durable: a sync some time after the first write, the
// finish of a complete content, and the end of the data plane. Also when another choice of files
// holds, as each finish is of one choice.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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
  // What is chosen is complete: its files get their final names, as soon as nothing is lost.
  void finish();
  // As ContentStore::choose(). A finish that was asked for before is not answered: it was of
  // another choice.
  void choose(std::vector<bool> chosen);
  // Calls `done` when all that was submitted to the disk queue is durable, or when the disk takes
  // nothing. Nothing is submitted afterwards.
  void close(std::function<void()> done);
  // The disk queue may be at rest.
  void check_closed();

  void wake();
  core::TimeUs next_wake() const { return sync_at_; }

 private:
  // What the store found damaged in the work folder, and what else it has to say. Taken by workers:
  // it may have to wait for the disk.
  struct News {
    std::string warning;
    std::vector<std::uint32_t> lost;
  };

  void begin_choosing();
  void go_on();
  void sync();
  void synced(std::uint64_t writes, const News& news);
  void finished(const Result<bool>& result, std::uint64_t writes, const News& news);
  static void take_news(store::ContentStore& store, News& news);
  void tell(const News& news);

  const std::shared_ptr<const CodedContent> content_;
  DiskQueue& disk_;
  const TurnClock& clock_;
  CodingOutcomes& outcomes_;
  std::uint64_t writes_ = 0, writes_synced_ = 0;
  core::TimeUs sync_at_ = core::kNever;
  // With the pool, or parked. One at a time, as the store has them wait for each other: on workers.
  bool syncing_ = false;
  bool finishing_ = false;
  bool choosing_ = false;
  std::optional<std::vector<bool>> choice_;  // waits for them
  bool finish_again_ = false;                // was asked for meanwhile
  std::function<void()> closed_;
};

}  // namespace firn::app
