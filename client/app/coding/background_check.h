// Reads what a peer serves once from beginning to end, while it serves: files that changed on the
// disk are told before a peer asks for what was in them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "client/app/coding/coded_content.h"
#include "client/core/base/types.h"

namespace firn::app {

// One generation at a time, and then a rest that is as long as its reading took: it never takes
// more than half of the disk's time or of a thread. Owner thread.
class BackgroundCheck {
 public:
  // `found`: this generation is not right, or may not be read; false: it is in use, and is looked
  // at again. Called from the pool's completions.
  using Found = std::function<bool(std::uint32_t generation, const Error& error)>;
  // `held`: per generation, whether it is served. Tasks under way may outlive this object.
  BackgroundCheck(std::shared_ptr<const CodedContent> content, std::vector<bool> held, Found found);
  ~BackgroundCheck();
  BackgroundCheck(const BackgroundCheck&) = delete;
  BackgroundCheck& operator=(const BackgroundCheck&) = delete;

  void wake(core::TimeUs now);
  // When wake() has something to do; kNever: not before a task ends, or no more at all.
  core::TimeUs next_wake() const { return under_way_ ? core::kNever : due_; }
  bool done() const { return next_ == held_.size(); }
  // All was read, and is right.
  bool all_right() const { return done() && !found_lost_; }

 private:
  void checked(const Status& status, core::TimeUs took);
  void skip_absent();

  const std::shared_ptr<const CodedContent> content_;
  const Found found_;
  const std::vector<bool> held_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::uint32_t next_ = 0;
  bool under_way_ = false;
  bool found_lost_ = false;
  core::TimeUs now_ = 0;
  core::TimeUs due_ = 0;
};

}  // namespace firn::app
