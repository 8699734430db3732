#include "client/store/servable.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>

#include "client/content/division.h"
#include "client/content/entries_text.h"
#include "client/content/generation_loop.h"
#include "client/content/top_name.h"
#include "client/store/advice.h"
#include "client/store/file_mismatch.h"
#include "client/store/survey.h"

namespace firn::store {
namespace {

constexpr unsigned kHashingThreads = 2;

// Some file systems keep whole seconds.
bool same_time(std::int64_t there, std::int64_t wanted) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  return there == wanted || (there % kSecond == 0 && there == wanted - wanted % kSecond);
}

Error cannot_serve(Files& files, const ContentFiles& content, const Manifest& manifest,
                   std::vector<FileMismatch> faults, const OpenOptions& options) {
  const Info& info = manifest.info;
  mark_unfinished(files, manifest.id, faults);
  using Kind = FileMismatch::Kind;
  const auto absent = [](const FileMismatch& fault) {
    return fault.kind == Kind::kMissing || fault.kind == Kind::kUnfinished ||
           fault.kind == Kind::kKind;
  };
  std::string advice = "firn get --repair brings them back, firn share shares them as they are now";
  if (std::ranges::find(faults, Kind::kUnfinished, &FileMismatch::kind) != faults.end()) {
    advice = "the download is not complete; firn get" + content::as_option(options.as) +
             " goes on with it";
  } else if (is_absent(files, content)) {
    advice =
        std::string(kAbsentAdvice) + "; firn get" + content::as_option(options.as) + " fetches it";
  } else if (looks_foreign(files, info, options.as)) {
    advice = std::string(kForeignAdvice) +
             "; firn share shares what is there, firn get --repair writes this one over it";
  }
  return {std::ranges::all_of(faults, absent) ? ErrorCode::kNotFound : ErrorCode::kCorrupt,
          "serve " + files.full_path(content.top_name()),
          content::part_of_entries(faults.size(), info.files) + " not as the manifest says: " +
              list_mismatches(content, info, faults) + "; " + advice};
}

// `doubtful`: files whose time is not the manifest's.
Status place_files(Files& files, ContentFiles& content, const Manifest& manifest,
                   const OpenOptions& options, std::vector<std::uint32_t>& doubtful) {
  const Info& info = manifest.info;
  std::vector<FileMismatch> faults;
  for (std::uint32_t file = 0; file < info.files.size(); ++file) {
    const FileEntry& entry = info.files[file];
    Result<std::optional<FileMismatch>> fault = look_at_final_path(files, content, info, file);
    if (!fault) return fault.error();
    if (*fault) faults.push_back(**fault);
    if (*fault || entry.kind != FileEntry::Kind::kFile) continue;
    content.set_place(file, Place::kFinished);
    if (entry.bytes == 0) continue;
    // Its mode may forbid reading, as a download keeps the mode that it has at its publisher.
    const Result<std::shared_ptr<File>> readable = content.open_readable(file);
    if (!readable) return readable.error();
    const Result<FileStat> stat = (*readable)->stat();
    if (!stat) return stat.error();
    if (!same_time(stat->modified_ns, entry.modified_ns)) doubtful.push_back(file);
  }
  // What has no bytes takes nothing from what can be served; it is told with the others.
  const auto matters = [&](const FileMismatch& fault) { return info.files[fault.file].bytes > 0; };
  if (std::ranges::none_of(faults, matters)) return Done{};
  return cannot_serve(files, content, manifest, faults, options);
}

// Which generations with bytes of these files are right; the others count as right.
Result<std::vector<bool>> hash_generations_of(const std::vector<std::uint32_t>& files,
                                              const ContentFiles& content, const Info& info,
                                              const OpenOptions& options) {
  std::set<std::uint32_t> generations;
  for (const std::uint32_t file : files) {
    const content::GenerationRange range = content::generations_of(info, file);
    for (std::uint32_t g = range.first; g < range.last; ++g) generations.insert(g);
  }
  std::vector<bool> right(info.shape.generation_count(), true);
  std::mutex mutex;
  const auto check = [&](std::uint32_t g, std::span<std::uint8_t> buffer) -> Status {
    Result<bool> good = generation_is_right(content, info, g, buffer);
    if (!good && good.error().code != ErrorCode::kCorrupt) return good.error();
    const std::lock_guard lock(mutex);
    right[g] = good.ok() && *good;
    return Done{};
  };
  const content::GenerationLoop loop{kHashingThreads, options.progress, options.cancelled};
  const std::vector<std::uint32_t> list(generations.begin(), generations.end());
  if (Status s = content::for_each_generation(info.shape, list, loop, check); !s) return s.error();
  return right;
}

}  // namespace

Status place_servable(Files& files, ContentFiles& content, const Manifest& manifest,
                      const OpenOptions& options) {
  const Info& info = manifest.info;
  std::vector<std::uint32_t> doubtful;
  if (Status s = place_files(files, content, manifest, options, doubtful); !s) return s;
  if (options.trust || doubtful.empty()) return Done{};
  Result<std::vector<bool>> right = hash_generations_of(doubtful, content, info, options);
  if (!right) return right.error();
  std::vector<FileMismatch> faults;
  for (std::uint32_t file = 0; file < info.files.size(); ++file) {
    if (content.place(file) != Place::kFinished) continue;
    Result<bool> good = finished_file_is_right(content, info, file, *right, options.cancelled);
    if (!good) return good.error();
    if (!*good) faults.push_back({file, FileMismatch::Kind::kChanged});
  }
  if (faults.empty()) return Done{};
  return cannot_serve(files, content, manifest, faults, options);
}

}  // namespace firn::store
