// Whether one origin can be asked for a content now. After a fault that may pass (refused, timed
// out, busy) the origin rests, longer each time, up to a minute; at once a minute if another server
// seems to answer, as behind a network's login page. After a fault that does not pass by itself
// (other bytes, no ranges, no such file) the origin is not asked again for this content.
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

  bool well(core::TimeUs now) const { return now >= rests_until_; }
  // When it can be asked (again): kNever: not for this content.
  core::TimeUs rests_until() const { return rests_until_; }
  // Why it was not well the last time, for people; empty: it has worked since.
  const std::string& trouble() const { return trouble_; }

  // A transfer of a run that began at `began` has ended with a fault, not kCancelled. The warning
  // that people are to see; empty: none.
  std::string failed(const TransferEnd& end, core::TimeUs began, core::TimeUs now);
  // Bytes that it sent have another digest than the content: in `files` (for people), of the first
  // of them from this byte on.
  std::string sent_others(const std::string& files, std::uint64_t from);
  // A generation of such a run was right. True: people are to know that it works again.
  bool worked(core::TimeUs began);

 private:
  std::string leave(const Error& why);

  core::TimeUs rests_until_ = 0;
  core::TimeUs failed_at_ = -1;  // the last failure that counted
  std::uint32_t failures_ = 0;   // in a row
  std::string trouble_;
  bool has_worked_ = false;
  bool said_ = false;  // that it does not work
};

}  // namespace firn::app
