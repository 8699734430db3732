#include <algorithm>
#include <mutex>
#include <numeric>

#include "client/content/create.h"
#include "client/content/division.h"
#include "client/content/generation_loop.h"
#include "client/store/content_files.h"
#include "client/store/content_store.h"
#include "client/store/posix_files.h"
#include "client/store/survey.h"

namespace firn::store {
namespace {

constexpr unsigned kHashingThreads = 2;

// Places what can be hashed; the others are bad from the start.
std::vector<bool> find_bad_files(Files& files, ContentFiles& content, const Info& info) {
  std::vector<bool> bad(info.files.size(), false);
  for (std::uint32_t file = 0; file < info.files.size(); ++file) {
    const FileEntry& entry = info.files[file];
    const Result<FileStat> stat = files.stat(content.final_name(file));
    const FileKind wanted = entry.directory ? FileKind::kFolder : FileKind::kFile;
    bad[file] = !stat || stat->kind != wanted || (!entry.directory && stat->bytes != entry.bytes);
    if (!bad[file]) content.set_place(file, Place::kFinished);
  }
  return bad;
}

}  // namespace

Result<VerifyReport> verify_content(const Manifest& manifest, const std::string& dir,
                                    const OpenOptions& options) {
  const Info& info = manifest.info;
  Result<std::unique_ptr<Files>> files = open_posix_files(dir, false);
  if (!files) return files.error();
  ContentFiles content(**files, info, ".firn/" + manifest.id.text());
  std::vector<bool> bad = find_bad_files(**files, content, info);

  VerifyReport report;
  report.good.assign(info.shape.generation_count(), false);
  std::vector<std::uint32_t> generations(info.shape.generation_count());
  std::iota(generations.begin(), generations.end(), 0u);
  std::mutex mutex;
  const auto check = [&](std::uint32_t generation, std::span<std::uint8_t> buffer) -> Status {
    const auto spans = content::spans_of(info, generation * info.shape.generation_bytes(),
                                         info.shape.bytes_in_generation(generation));
    // Where a file is known to be missing, the others that share the generation are not blamed.
    const auto absent = [&](const content::FileSpan& span) {
      return content.place(span.file) == Place::kAbsent;
    };
    if (std::any_of(spans.begin(), spans.end(), absent)) return Done{};
    Result<bool> right = generation_is_right(content, info, generation, buffer);
    if (!right && right.error().code != ErrorCode::kCorrupt) return right.error();
    const std::lock_guard lock(mutex);
    if (right && *right) {
      report.good[generation] = true;
    } else {
      for (const content::FileSpan& span : spans) bad[span.file] = true;
    }
    return Done{};
  };
  const content::GenerationLoop loop{kHashingThreads, options.progress, options.cancelled};
  if (Status s = content::for_each_generation(info.shape, generations, loop, check); !s) {
    return s.error();
  }
  for (std::uint32_t file = 0; file < info.files.size(); ++file) {
    if (bad[file]) report.bad_files.push_back(content::final_path(info, dir, file));
  }
  if (info.files.empty()) {  // the folder is all there is
    const Result<FileStat> stat = (*files)->stat(info.name);
    if (!stat || stat->kind != FileKind::kFolder)
      report.bad_files.push_back((*files)->full_path(info.name));
  }
  return report;
}

}  // namespace firn::store
