#include "client/store/advice.h"

#include <algorithm>

#include "client/content/division.h"
#include "client/store/content_files.h"
#include "client/store/survey.h"
#include "client/store/work_folder.h"

namespace firn::store {
namespace {

constexpr std::uint32_t kGenerationsRead = 32;
constexpr std::uint32_t kFilesRead = 64;

// All regular files at the final paths, whatever their sizes.
bool place_all(Files& files, ContentFiles& content, const Info& info) {
  bool any = false;
  for (std::uint32_t file = 0; file < info.files.size(); ++file) {
    if (info.files[file].kind != FileEntry::Kind::kFile || info.files[file].bytes == 0) continue;
    const Result<FileStat> stat = files.stat(content.final_name(file));
    if (!stat || stat->kind != FileKind::kFile) continue;
    content.set_place(file, Place::kFinished);
    any = true;
  }
  return any;
}

bool a_generation_fits(const ContentFiles& content, const Info& info) {
  const std::uint32_t count = info.shape.generation_count();
  std::vector<std::uint8_t> buffer(info.shape.generation_bytes());
  const std::uint32_t step = std::max<std::uint32_t>(count / kGenerationsRead, 1);
  for (std::uint32_t g = 0; g < count; g += step) {
    const Result<bool> right = generation_is_right(content, info, g, buffer);
    if (right && *right) return true;
  }
  return false;
}

// Files smaller than a generation share it with others, which may be wrong.
bool a_file_fits(const ContentFiles& content, const Info& info) {
  std::uint32_t read = 0;
  const std::vector<bool> nothing_verified(info.shape.generation_count(), false);
  for (std::uint32_t file = 0; file < info.files.size() && read < kFilesRead; ++file) {
    if (content.place(file) != Place::kFinished) continue;
    if (info.files[file].bytes > info.shape.generation_bytes()) continue;
    ++read;
    const Result<bool> right = finished_file_is_right(content, info, file, nothing_verified, {});
    if (right && *right) return true;
  }
  return false;
}

}  // namespace

bool looks_foreign(Files& files, const Info& info, const std::string& as) {
  ContentFiles content(files, info, "", as);
  return place_all(files, content, info) && !a_generation_fits(content, info) &&
         !a_file_fits(content, info);
}

bool is_absent(Files& files, const ContentFiles& content) {
  const Result<FileStat> stat = files.stat(content.top_name());
  return stat && stat->kind == FileKind::kMissing;
}

bool is_unfinished(Files& files, const ContentId& content) {
  const Result<FileStat> stat = files.stat(WorkFolder::path_of(content) + "/journal");
  return stat && stat->kind == FileKind::kFile;
}

void mark_unfinished(Files& files, const ContentId& content, std::vector<FileMismatch>& faults) {
  if (!is_unfinished(files, content)) return;
  for (FileMismatch& fault : faults)
    if (fault.kind == FileMismatch::Kind::kMissing) fault.kind = FileMismatch::Kind::kUnfinished;
}

}  // namespace firn::store
