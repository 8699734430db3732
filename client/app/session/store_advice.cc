#include "client/app/session/store_advice.h"

namespace firn::app {

std::string what_may_change(const std::string& dir, const std::string& top_name, bool repair) {
  const std::string path = dir + (dir.ends_with('/') ? "" : "/") + top_name;
  return std::string(repair ? "--repair" : "--overwrite") + ": what differs in " + path + " is " +
         (repair ? "repaired" : "replaced");
}

Error advice_when_refused(Error error) {
  if (error.code == ErrorCode::kUnsupported)
    error.detail += "; choose a folder on another file system (-o)";
  if (error.code == ErrorCode::kDiskFull)
    error.detail += "; free space there (df) or inodes (df -i), or choose another folder (-o)";
  if (error.code == ErrorCode::kReadOnly)
    error.detail += "; choose a folder that you may write to (-o)";
  return error;
}

Error advice_when_paused(const SessionPlan& plan, Error error) {
  if (!error.detail.empty()) error.detail += "; ";
  switch (error.code) {
    case ErrorCode::kDiskFull:
      error.detail += "free space for " + plan.dir;
      break;
    case ErrorCode::kReadOnly:
      error.detail += "make " + plan.dir + " writable";
      break;
    case ErrorCode::kNotFound:
      error.detail += "bring it back (if it is gone for good, stop and start again)";
      break;
    case ErrorCode::kExists:
      error.detail += "move it away";
      break;
    case ErrorCode::kBusy:
      error.detail += "raise this limit, or end what else takes of it";
      break;
    default:
      error.detail += "look after the disk of " + plan.dir;
      break;
  }
  error.detail += "; the download then goes on by itself";
  return error;
}

Error advice_when_lost(const SessionPlan& plan, Error error) {
  if (!error.detail.empty()) error.detail += "; ";
  error.detail +=
      plan.serves()
          ? "put the file back, or let firn get --repair do it, and it is served again by itself; "
            "firn share shares it as it is now"
          : "the file was complete, so it is left as it is, and served again when it is right";
  return error;
}

}  // namespace firn::app
