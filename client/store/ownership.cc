#include "client/store/ownership.h"

#include <sys/stat.h>
#include <unistd.h>

namespace firn::store {

Status check_ownership(Files& files, const std::string& folder) {
  const Result<FileStat> above = files.stat(parent_of(folder));
  if (!above) return above.error();
  const Result<FileStat> there = files.stat(folder);
  if (!there) return there.error();
  const std::string operation = "use " + files.full_path(folder);
  const bool sticky = (above->mode & S_ISVTX) != 0;
  if (sticky && there->owner != ::geteuid() && there->owner != above->owner) {
    return Error{ErrorCode::kExists, operation,
                 "it belongs to another user (uid " + std::to_string(there->owner) +
                     "), who could change the downloaded files; choose another folder (-o)"};
  }
  const auto anybody_exchanges = [](const FileStat& stat) {
    return (stat.mode & S_IWOTH) != 0 && (stat.mode & S_ISVTX) == 0;
  };
  if (anybody_exchanges(*there) && !anybody_exchanges(*above)) {
    return Error{
        ErrorCode::kExists, operation,
        "every user may write to it, and could change the downloaded files; take that right "
        "away (chmod o-w), or choose another folder (-o)"};
  }
  return Done{};
}

Status take_own_folder(Files& files, const std::string& folder) {
  const Result<bool> made = files.make_folder(folder, 0777);
  if (!made) return made.error();
  if (*made) return Done{};
  return check_ownership(files, folder);
}

}  // namespace firn::store
