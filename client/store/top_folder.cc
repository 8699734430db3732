#include "client/store/top_folder.h"

#include "client/store/content_folders.h"
#include "client/store/ownership.h"

namespace firn::store {

Result<TopFolder> take_top_folder(Files& files, const Info& info, const std::string& name) {
  const Result<bool> made = files.make_folder(name, folder_mode(info, ""));
  if (!made && made.error().code == ErrorCode::kExists) return TopFolder::kTaken;
  if (!made) return made.error();
  if (*made) return TopFolder::kMade;
  const Result<std::vector<std::string>> names = files.list(name);
  if (!names) return names.error();
  if (!names->empty()) return TopFolder::kTaken;
  if (Status s = check_ownership(files, name); !s) return s.error();
  return TopFolder::kEmpty;
}

}  // namespace firn::store
