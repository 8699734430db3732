#include "client/content/find_folder.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace firn::content {
namespace {

namespace fs = std::filesystem;

bool is_of_kind(const Info& info, const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return info.single_file ? fs::is_regular_file(status) : fs::is_directory(status);
}

// A file, or a folder with the content's first file in it.
bool seems_renamed(const Info& info, const fs::path& itself) {
  if (!is_of_kind(info, itself)) return false;
  if (info.single_file) return true;
  const auto first = std::ranges::find(info.files, FileEntry::Kind::kFile, &FileEntry::kind);
  if (first == info.files.end()) return false;
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(itself / first->path, error);
  return !error && bytes == first->bytes;
}

}  // namespace

ContentPlace find_content(const Info& info, const ContentPlace& named) {
  const std::string& name = top_name(info, named.as);
  const auto holds = [&](const fs::path& folder) { return is_of_kind(info, folder / name); };
  const fs::path dir = named.dir;
  if (holds(dir)) return named;
  std::error_code error;
  fs::path itself = fs::weakly_canonical(dir, error);
  if (!itself.has_filename()) itself = itself.parent_path();  // "folder/"
  const bool known = !error && itself.has_filename();
  if (known && itself.filename() == name && holds(itself.parent_path()))
    return {itself.parent_path().string(), named.as};
  fs::path below;
  for (fs::directory_iterator entry(dir, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unreadable;
    if (!entry->is_directory(unreadable) || !holds(entry->path())) continue;
    if (!below.empty()) return named;  // more than one: not ours to choose
    below = entry->path();
  }
  if (!below.empty()) return {below.string(), named.as};
  if (known && named.as.empty() && seems_renamed(info, itself))
    return {itself.parent_path().string(), itself.filename().string()};
  return named;
}

}  // namespace firn::content
