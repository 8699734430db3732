#include "client/app/origin/origin_health.h"

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
  return error.message() + "; this origin is asked again after a while";
}

std::string OriginHealth::sent_others(const std::string& files, std::uint64_t from) {
  if (rests_until_ == core::kNever) return "";
  return leave({ErrorCode::kCorrupt, "fetch " + files,
                "the bytes from " + std::to_string(from) +
                    " on differ from the content; put the right files on that server"});
}

std::string OriginHealth::leave(const Error& why) {
  rests_until_ = core::kNever;
  trouble_ = words_of(why);
  return why.message() + "; this origin is not asked again for this content";
}

bool OriginHealth::worked(core::TimeUs began) {
  if (began <= failed_at_) return false;
  has_worked_ = true;
  failures_ = 0;
  if (rests_until_ == core::kNever) return false;
  trouble_.clear();
  return std::exchange(said_, false);
}

}  // namespace firn::app
