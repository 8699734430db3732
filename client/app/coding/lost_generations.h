// Verified generations that turn out to be changed, or that cannot be read any more.
//
// What was changed stays so. What could not be read (a file moved away, a network share that is
// gone) is not served meanwhile, and tried again at growing intervals.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "client/app/coding/coded_content.h"
#include "client/app/coding/coding_outcomes.h"
#include "client/app/coding/durability.h"
#include "client/app/coding/stock.h"
#include "client/app/coding/task_line.h"
#include "client/app/coding/turn_clock.h"

namespace firn::app {

// Owner thread.
class LostGenerations {
 public:
  static constexpr core::TimeUs kProbeIntervalMin = 2 * core::kSecond;

  LostGenerations(std::shared_ptr<const CodedContent> content, TaskLine& tasks,
                  const TurnClock& clock, Stock& stock, Durability& durability,
                  CodingOutcomes& outcomes);

  // The store decides what may be done about it; then generation_lost tells, and `then` is called.
  void lose(std::uint32_t generation, const Error& error, std::function<void()> then);

  void wake();
  core::TimeUs next_wake() const { return probe_at_; }

 private:
  void lost(std::uint32_t generation, const Error& error, bool fetch_again);
  void probe();
  void probed(const std::vector<std::uint32_t>& left, const std::vector<std::uint32_t>& regained);

  const std::shared_ptr<const CodedContent> content_;
  TaskLine& tasks_;
  const TurnClock& clock_;
  Stock& stock_;
  Durability& durability_;
  CodingOutcomes& outcomes_;
  std::vector<std::uint32_t> unreadable_;  // lost, but perhaps not for ever
  bool probing_ = false;
  core::TimeUs probe_wait_ = kProbeIntervalMin;
  core::TimeUs probe_at_ = core::kNever;
};

}  // namespace firn::app
