// The time between a session's goodbye and its end: the store closes, trackers are told.
#pragma once

#include "client/core/base/types.h"

namespace firn::app {

class Departure {
 public:
  // How long goodbyes to trackers and the last writes may take.
  static constexpr core::TimeUs kTimeMax = 3 * core::kSecond;

  void begin(core::TimeUs now) { due_ = now + kTimeMax; }
  void store_closed() { store_closed_ = true; }

  // Whether nothing more is waited for: all is done, or the time was over once.
  bool over(bool trackers_told, core::TimeUs now) {
    if (now >= due_) due_ = core::kNever;
    return due_ == core::kNever || (store_closed_ && trackers_told);
  }
  core::TimeUs next_wake() const { return due_; }

 private:
  bool store_closed_ = false;
  core::TimeUs due_ = core::kNever;  // before begin(), and once the time is over
};

}  // namespace firn::app
