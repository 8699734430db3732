// Whether one origin can be asked for a content now. After a fault that may pass (refused, timed
// out, busy) the origin rests, longer each time, up to a minute; at once a minute if another server
// seems to answer, as behind a network's login page. If a file there is missing or another one, the
// origin is not asked for that file again. If it has given nothing right yet and several files in a
// row fail, or the request itself is not allowed, it is not asked again for this content.
#pragma once

#include <cstdint>
#include <string>

#include "client/app/origin/transfer_request.h"
#include "client/core/base/types.h"

namespace firn::app {

class OriginHealth {
 public:
  static constexpr core::TimeUs kRestMin = core::kSecond;
  static constexpr core::TimeUs kRestMax = 60 * core::kSecond;
  static constexpr std::uint32_t kFailuresQuiet = 2;  // in a row that people need not know of
  // Files that fail before anything was right: it is the wrong server. No more are said one by one.
  static constexpr std::uint32_t kFilesMax = 4;

  bool well(core::TimeUs now) const { return now >= rests_until_; }
  // When it can be asked (again): kNever: not for this content.
  core::TimeUs rests_until() const { return rests_until_; }
  // Why it was not well the last time, else which files it does not have, for people; empty: all is
  // well.
  std::string trouble() const;

  // A transfer of a run that began at `began` has ended with a fault, not kCancelled. The warning
  // that people are to see; empty: none.
  std::string failed(const TransferEnd& end, core::TimeUs began, core::TimeUs now);
  // Whether the fault is the file's that was asked for: then file_failed() is to be called.
  bool is_of_file(Fault fault) const;
  // It does not have the right bytes of `file` (for people), for the first time. As failed().
  std::string file_failed(const std::string& file, const Error& why, core::TimeUs began,
                          core::TimeUs now);
  // A generation of such a run was right. True: people are to know that it works again.
  bool worked(core::TimeUs began);

 private:
  std::string leave(const Error& why);

  core::TimeUs rests_until_ = 0;
  core::TimeUs failed_at_ = -1;  // the last failure that counted
  std::uint32_t failures_ = 0;   // in a row
  std::string trouble_;
  core::TimeUs file_failed_at_ = -1;
  std::uint32_t files_lacking_ = 0;
  std::uint32_t file_failures_ = 0;  // of runs, one after the other
  std::string lacking_;              // the first file, and why
  bool has_worked_ = false;
  bool said_ = false;  // that it does not work
};

}  // namespace firn::app
