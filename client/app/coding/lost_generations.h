// Verified generations whose files turn out to be changed, cut, missing or unreadable.
//
// They are not served. Those in files that are the user's are looked at again every 2 s to 60 s,
// and served again when they are right. Looking in vain takes 1 % of a
// thread's time, more only where one look takes longer than 0.6 s.
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
#include "client/core/rows/generation_set.h"

namespace firn::app {

// A failure to read that says nothing about the generation and may soon be over: a disk that
// stalls, no descriptors or memory left.
inline bool may_pass(const Error& error) {
  return error.code == ErrorCode::kIo || error.code == ErrorCode::kBusy;
}

// Owner thread.
class LostGenerations {
 public:
  static constexpr core::TimeUs kLookInterval = 2 * core::kSecond;
  static constexpr core::TimeUs kLookIntervalMax = 60 * core::kSecond;

  LostGenerations(std::shared_ptr<const CodedContent> content, TaskLine& tasks,
                  const TurnClock& clock, Stock& stock, Durability& durability,
                  CodingOutcomes& outcomes);

  // The store decides what may be done about it; then generation_lost tells, and `then` is called.
  void lose(std::uint32_t generation, const Error& error, std::function<void()> then);

  void wake();
  core::TimeUs next_wake() const { return look_at_; }

 private:
  // What a task has found, which looked at some of those that are lost.
  struct Look {
    std::vector<std::uint32_t> regained;
    std::uint32_t next = 0;  // where the next one begins
    core::TimeUs took = 0;
  };

  static Look look_again(const CodedContent& content, const core::GenerationSet& lost,
                         std::uint32_t from);
  void lost(std::uint32_t generation, const Error& error, bool fetch_again);
  void looked(const Look& look);

  const std::shared_ptr<const CodedContent> content_;
  TaskLine& tasks_;
  const TurnClock& clock_;
  Stock& stock_;
  Durability& durability_;
  CodingOutcomes& outcomes_;
  core::GenerationSet lost_;  // and left alone
  std::uint32_t next_ = 0;    // of them, to be looked at
  bool looking_ = false;
  core::TimeUs look_at_ = core::kNever;
};

}  // namespace firn::app
