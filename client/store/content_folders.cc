#include "client/store/content_folders.h"

#include <algorithm>

namespace firn::store {
namespace {

std::uint32_t received_mode(std::uint32_t mode) {
  return allowed_mode(mode) | 0700;
}

std::string below(const std::string& top, const std::string& path) {
  return path.empty() ? top : top + "/" + path;
}

}  // namespace

std::uint32_t folder_mode(const Info& info, std::string_view path) {
  const auto found = std::ranges::lower_bound(info.folders, path, {}, &FolderEntry::path);
  const bool listed = found != info.folders.end() && found->path == path;
  return received_mode(listed ? found->mode : kFolderMode);
}

std::uint32_t folder_mode(const FileEntry& folder) {
  return received_mode(folder.mode);
}

Status make_content_folder(Files& files, const Info& info, const std::string& top,
                           const std::string& path) {
  const std::string name = below(top, path);
  Result<bool> made = files.make_folder(name, folder_mode(info, path));
  if (!made && made.error().code == ErrorCode::kNotFound && !parent_of(name).empty()) {
    const Status above = path.empty() ? make_folders(files, parent_of(top))
                                      : make_content_folder(files, info, top, parent_of(path));
    if (!above) return above;
    made = files.make_folder(name, folder_mode(info, path));
  }
  return made ? Status(Done{}) : made.error();
}

bool set_folder_times(Files& files, const Info& info, const std::string& top) {
  bool kept = true;
  for (auto folder = info.folders.rbegin(); folder != info.folders.rend(); ++folder) {
    const auto set = files.set_folder_time(below(top, folder->path), folder->modified_ns);
    kept = kept && (set ? *set : set.error().code == ErrorCode::kNotFound);
  }
  return kept;
}

}  // namespace firn::store
