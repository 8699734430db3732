#include "client/app/origin/origin_health.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace firn::app {
namespace {

std::string words_of(const Error& error) {
  return error.detail.empty() ? error.operation : error.detail;
}

}  // namespace

std::string OriginHealth::failed(const TransferEnd& end, core::TimeUs began, core::TimeUs now) {
  if (rests_until_ == core::kNever) return "";
  const Error& error = end.status.error();
  const bool passing = end.fault == Fault::kPassing;
  // Within a minute a user may log in to the network, or somebody sign URLs or tokens anew.
  const bool may_change =
      end.fault == Fault::kWrongServer || (end.fault == Fault::kForbidden && has_worked_);
  if (!passing && !may_change) return leave(error);
  // Runs that were under way together fail together.
  if (began <= failed_at_) return "";
  failed_at_ = now;
  ++failures_;
  trouble_ = words_of(error);
  core::TimeUs rest = kRestMax;
  if (end.retry_after_s) {
    rest = *end.retry_after_s * core::kSecond;
  } else if (passing && failures_ < 7) {
    rest = std::min(kRestMax, kRestMin << (failures_ - 1));
  }
  rests_until_ = now + std::max(rest, kRestMin);
  if (said_ || (passing && failures_ <= kFailuresQuiet)) return "";
  said_ = true;
  return error.message() +
         fmt::format("; this origin is asked again in {} s", (rests_until_ - now) / core::kSecond);
}

// A server that refuses all files wants credentials; one that refuses a file may have its
// signatures renewed (see failed()), or hide that it has no such file.
bool OriginHealth::is_of_file(Fault fault) const {
  return fault == Fault::kGone || fault == Fault::kNoRanges || fault == Fault::kChanged ||
         fault == Fault::kEncoded || (fault == Fault::kForbidden && !has_worked_);
}

std::string OriginHealth::file_failed(const std::string& file, const Error& why, core::TimeUs began,
                                      core::TimeUs now) {
  if (files_lacking_++ == 0) lacking_ = file + ": " + words_of(why);
  if (rests_until_ == core::kNever || began <= file_failed_at_) return "";
  file_failed_at_ = now;
  ++file_failures_;
  if (file_failures_ >= kFilesMax && !has_worked_) {
    std::string said = leave(why);
    trouble_.clear();
    return said;
  }
  return file_failures_ > kFilesMax
             ? ""
             : why.message() + "; this origin is not asked for this file again";
}

std::string OriginHealth::trouble() const {
  if (!trouble_.empty() || files_lacking_ < 2) return trouble_.empty() ? lacking_ : trouble_;
  return fmt::format("{} (and {} more file{})", lacking_, files_lacking_ - 1,
                     files_lacking_ == 2 ? "" : "s");
}

std::string OriginHealth::leave(const Error& why) {
  rests_until_ = core::kNever;
  trouble_ = words_of(why);
  return why.message() + "; this origin is not asked again for this content";
}

bool OriginHealth::worked(core::TimeUs began) {
  has_worked_ = true;
  if (began <= failed_at_) return false;
  failures_ = 0;
  if (rests_until_ == core::kNever) return false;
  trouble_.clear();
  return std::exchange(said_, false);
}

}  // namespace firn::app
