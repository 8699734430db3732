#include <algorithm>
#include <mutex>
#include <optional>

#include "client/content/division.h"
#include "client/content/generation_loop.h"
#include "client/content/top_name.h"
#include "client/store/advice.h"
#include "client/store/content_files.h"
#include "client/store/content_store.h"
#include "client/store/file_mismatch.h"
#include "client/store/kept_choice.h"
#include "client/store/posix_files.h"
#include "client/store/survey.h"
#include "client/store/work_folder.h"

namespace firn::store {
namespace {

constexpr unsigned kHashingThreads = 2;

bool is_on_its_way(Files& files, const ContentFiles& content, const Info& info,
                   std::uint32_t file) {
  const Result<FileStat> stat = files.stat(content.work_name(file));
  return stat && stat->kind == FileKind::kFile && stat->bytes > 0 &&
         stat->bytes == info.files[file].bytes;
}

// Places what can be hashed, at its final path, or in the work folder if it is not chosen. Says
// what is wrong with other files that are chosen.
Result<std::vector<FileMismatch>> place_files(Files& files, ContentFiles& content, const Info& info,
                                              const std::vector<bool>& chosen) {
  std::vector<FileMismatch> faults;
  for (std::uint32_t file = 0; file < info.files.size(); ++file) {
    const bool is_chosen = content::is_chosen(chosen, file);
    if (!is_chosen && is_on_its_way(files, content, info, file)) {
      content.set_place(file, Place::kWork);
      continue;
    }
    Result<std::optional<FileMismatch>> fault = look_at_final_path(files, content, info, file);
    if (!fault) return fault.error();
    if (!*fault) content.set_place(file, Place::kFinished);
    if (*fault && is_chosen) faults.push_back(**fault);
  }
  return faults;
}

// Which of these generations are right. One with a file that cannot be hashed is not.
Result<std::vector<bool>> hash_generations(const std::vector<std::uint32_t>& generations,
                                           const ContentFiles& content, const Info& info,
                                           const OpenOptions& options) {
  std::vector<bool> good(info.shape.generation_count(), false);
  std::mutex mutex;
  const auto check = [&](std::uint32_t generation, std::span<std::uint8_t> buffer) -> Status {
    const auto spans = content::spans_of(info, generation);
    const auto absent = [&](const content::FileSpan& span) {
      return content.place(span.file) == Place::kAbsent;
    };
    if (std::any_of(spans.begin(), spans.end(), absent)) return Done{};
    Result<bool> right = generation_is_right(content, info, generation, buffer);
    if (!right && right.error().code != ErrorCode::kCorrupt) return right.error();
    const std::lock_guard lock(mutex);
    good[generation] = right.ok() && *right;
    return Done{};
  };
  const content::GenerationLoop loop{kHashingThreads, options.progress, options.cancelled};
  if (Status s = content::for_each_generation(info.shape, generations, loop, check); !s)
    return s.error();
  return good;
}

}  // namespace

Result<VerifyReport> verify_content(const Manifest& manifest, const std::string& dir,
                                    const OpenOptions& options) {
  const Info& info = manifest.info;
  Result<std::unique_ptr<Files>> files = open_posix_files(dir, false);
  if (!files) return files.error();
  ContentFiles content(**files, info, WorkFolder::path_of(manifest.id), options.as);
  VerifyReport report;
  if (Result<std::vector<bool>> kept = kept_choice(**files, manifest); kept) {
    report.chosen = *std::move(kept);
  } else if (kept.error().code == ErrorCode::kCorrupt) {
    report.warning = kept.error().message();
  } else {
    return kept.error();
  }
  Result<std::vector<FileMismatch>> faults = place_files(**files, content, info, report.chosen);
  if (!faults) return faults.error();
  const std::vector<bool> wanted = content::wanted_generations(info, report.chosen);
  Result<std::vector<bool>> good = hash_generations(indices_of(wanted), content, info, options);
  if (!good) return good.error();
  for (std::uint32_t file = 0; file < info.files.size(); ++file) {
    const bool chosen = content::is_chosen(report.chosen, file);
    if (!chosen || content.place(file) != Place::kFinished) continue;
    Result<bool> right = finished_file_is_right(content, info, file, *good, options.cancelled);
    if (!right) return right.error();
    if (!*right) faults->push_back({file, FileMismatch::Kind::kChanged});
  }
  std::ranges::sort(*faults, {}, &FileMismatch::file);

  report.good = *std::move(good);
  mark_unfinished(**files, manifest.id, *faults);
  report.bad_count = faults->size();
  report.unfinished = faults->empty() ? report.good != wanted
                                      : std::ranges::find(*faults, FileMismatch::Kind::kUnfinished,
                                                          &FileMismatch::kind) != faults->end();
  report.foreign =
      !faults->empty() && !report.unfinished && looks_foreign(**files, info, options.as);
  report.absent = !report.unfinished && is_absent(**files, content);
  std::string parent;
  for (const FileMismatch& fault : *faults) {
    if (!fault.parent.empty() && fault.parent == parent) continue;
    parent = fault.parent;
    if (!parent.empty()) {
      report.bad_files.push_back({(*files)->full_path(parent), mismatch_name(fault.kind)});
      continue;
    }
    report.bad_files.push_back({content::final_path(info, options.as, dir, fault.file),
                                mismatch_name(fault.kind), fault.bytes_there,
                                info.files[fault.file].bytes});
  }
  if (info.files.empty()) {  // the folder is all there is
    const Result<FileStat> stat = (*files)->stat(content.top_name());
    if (!stat || stat->kind == FileKind::kMissing) {
      report.bad_files.push_back({(*files)->full_path(content.top_name()), "missing"});
    } else if (stat->kind != FileKind::kFolder) {
      report.bad_files.push_back({(*files)->full_path(content.top_name()), "in the way"});
    }
  }
  return report;
}

}  // namespace firn::store
