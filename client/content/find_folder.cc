#include "client/content/find_folder.h"

#include <filesystem>
#include <system_error>

namespace firn::content {
namespace {

namespace fs = std::filesystem;

// Something of the content's name and kind stands in `folder`.
bool holds(const Info& info, const fs::path& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder / info.name, error);
  return info.single_file ? fs::is_regular_file(status) : fs::is_directory(status);
}

}  // namespace

std::string find_content_folder(const Info& info, const std::string& dir) {
  if (holds(info, dir)) return dir;
  std::error_code error;
  fs::path itself = fs::weakly_canonical(dir, error);
  if (!itself.has_filename()) itself = itself.parent_path();  // "folder/"
  if (!error && itself.filename() == info.name && holds(info, itself.parent_path()))
    return itself.parent_path().string();
  fs::path below;
  for (fs::directory_iterator entry(dir, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unreadable;
    if (!entry->is_directory(unreadable) || !holds(info, entry->path())) continue;
    if (!below.empty()) return dir;  // more than one: not ours to choose
    below = entry->path();
  }
  return below.empty() ? dir : below.string();
}

}  // namespace firn::content
