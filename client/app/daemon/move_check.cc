#include "client/app/daemon/move_check.h"

#include <algorithm>
#include <filesystem>

#include "client/store/work_folder.h"

namespace firn::app {
namespace {

using store::WorkFolder;

bool is_empty_folder(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::symlink_status(path, error).type() ==
             std::filesystem::file_type::directory &&
         std::filesystem::is_empty(path, error) && !error;
}

Status check_free(const std::string& operation, const std::filesystem::path& path) {
  std::error_code error;
  const auto there = std::filesystem::symlink_status(path, error);
  if (there.type() == std::filesystem::file_type::not_found || is_empty_folder(path)) return Done{};
  if (there.type() == std::filesystem::file_type::none)
    return error_from_errno(operation, error.value());
  return taken(operation, path.string());
}

}  // namespace

Result<std::optional<Info>> info_of(const KeptContent& content) {
  if (content.manifest.empty()) return std::optional<Info>();
  auto manifest = parse_manifest(content.manifest, content.id);
  if (!manifest.ok()) return manifest.error();
  return std::optional<Info>(std::move(manifest->info));
}

Error taken(const std::string& operation, const std::string& path) {
  return {ErrorCode::kExists, operation,
          path + " is there already; move it away or choose another folder"};
}

Status check_move(const KeptContent& content, const content::ContentPlace& to) {
  const std::string operation = "move " + content.id.short_text() + " to " + to.dir;
  namespace fs = std::filesystem;
  if (!to.dir.starts_with('/'))
    return Error{ErrorCode::kBadInput, operation, "the folder must be an absolute path"};
  const auto info = info_of(content);
  if (!info.ok()) return info.error();
  std::error_code error;
  const fs::path target = fs::weakly_canonical(to.dir, error);
  if (error) return error_from_errno(operation, error.value());
  if (fs::exists(target, error) && !fs::is_directory(target, error))
    return Error{ErrorCode::kExists, operation, "it is not a folder"};
  const fs::path old = fs::weakly_canonical(content.folder, error);
  if (target == old) return Error{ErrorCode::kBadInput, operation, "it is in this folder already"};
  if (*info) {
    const fs::path itself = old / content::top_name(**info, content.as);
    if (std::mismatch(itself.begin(), itself.end(), target.begin(), target.end()).first ==
        itself.end())
      return Error{ErrorCode::kBadInput, operation, "a content cannot go into itself"};
    if (const Status named = content::check_top_name(**info, to); !named.ok()) return named;
    const fs::path there = target / content::top_name(**info, to.as);
    if (const Status free = check_free(operation, there); !free.ok()) return free;
  }
  return check_free(operation, target / WorkFolder::path_of(content.id));
}

}  // namespace firn::app
