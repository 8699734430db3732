#include "client/store/survey.h"

#include <algorithm>
#include <mutex>
#include <optional>

#include "client/content/division.h"
#include "client/content/generation_loop.h"
#include "proto/base/digest.h"

namespace firn::store {
namespace {

constexpr unsigned kHashingThreads = 2;

class Surveyor {
 public:
  Surveyor(Files& files, ContentFiles& content, const Info& info, const OpenOptions& options)
      : files_(files),
        content_(content),
        info_(info),
        options_(options),
        resized_(info.files.size(), false) {
    survey_.verified.resize(info.shape.generation_count(), false);
  }

  Status place_files() {
    if (Status s = find_folder(); !s) return s;
    for (std::uint32_t file = 0; file < info_.files.size(); ++file) {
      if (Status s = place(file); !s) return s;
    }
    return Done{};
  }

  Status check_generations(const JournalContents& journal, bool doubt_finished) {
    const std::vector<std::uint32_t> suspects = trust(journal, doubt_finished);
    std::mutex mutex;
    std::vector<std::uint32_t> good;
    const auto check = [&](std::uint32_t generation, std::span<std::uint8_t> buffer) -> Status {
      Result<bool> right = generation_is_right(content_, info_, generation, buffer);
      if (!right) return right.error();
      const std::lock_guard lock(mutex);
      if (*right) good.push_back(generation);
      return Done{};
    };
    const content::GenerationLoop loop{kHashingThreads, options_.progress, options_.cancelled};
    if (Status s = content::for_each_generation(info_.shape, suspects, loop, check); !s) return s;
    std::sort(good.begin(), good.end());
    for (const std::uint32_t generation : good) survey_.verified[generation] = true;
    survey_.rehashed = std::move(good);
    return Done{};
  }

  Result<Survey> conclude() {
    survey_.complete = !folder_missing_;
    for (std::uint32_t file = 0; file < info_.files.size(); ++file) {
      if (content_.place(file) != Place::kFinished) {
        survey_.complete = false;
        continue;
      }
      Result<bool> right =
          finished_file_is_right(content_, info_, file, survey_.verified, options_.cancelled);
      if (!right) return right.error();
      if (*right) continue;
      if (chosen(file)) {
        survey_.in_the_way.push_back({file, FileMismatch::Kind::kChanged});
      } else {
        pass_over(file);
      }
    }
    const auto verified = std::count(survey_.verified.begin(), survey_.verified.end(), true);
    if (!survey_.in_the_way.empty() || static_cast<std::size_t>(verified) < survey_.verified.size())
      survey_.complete = false;
    return std::move(survey_);
  }

 private:
  bool chosen(std::uint32_t file) const { return content::is_chosen(options_.chosen, file); }

  // A file that is not chosen and not right: none of its bytes count.
  void pass_over(std::uint32_t file) {
    content_.set_place(file, Place::kAbsent);
    survey_.complete = false;
    const content::GenerationRange range = content::generations_of(info_, file);
    std::fill(survey_.verified.begin() + range.first, survey_.verified.begin() + range.last, false);
    std::erase_if(survey_.rehashed, [&](std::uint32_t g) { return !survey_.verified[g]; });
  }

  // A folder without anything in it has no file that could tell whether it stands.
  Status find_folder() {
    if (!info_.files.empty()) return Done{};
    Result<FileStat> stat = files_.stat(content_.top_name());
    if (!stat) return stat.error();
    folder_missing_ = stat->kind == FileKind::kMissing;
    if (folder_missing_ || stat->kind == FileKind::kFolder) return Done{};
    return Error{ErrorCode::kExists, "download to " + files_.full_path(content_.top_name()),
                 "something else stands there; move it away or choose another folder"};
  }

  Status place(std::uint32_t file) {
    const FileEntry& entry = info_.files[file];
    content_.set_place(file, Place::kAbsent);
    if (entry.kind == FileEntry::Kind::kFile) {
      if (Status s = place_unfinished(file); !s) return s;
    }
    Result<std::optional<FileMismatch>> fault = look_at_final_path(files_, content_, info_, file);
    if (!fault) return fault.error();
    const bool begun = content_.place(file) == Place::kWork;
    if (!*fault && !begun) {
      content_.set_place(file, Place::kFinished);
    } else if (!*fault) {
      return place_one_of_two(file);
    } else if ((*fault)->kind != FileMismatch::Kind::kMissing && chosen(file)) {
      survey_.in_the_way.push_back(**fault);
    }
    return Done{};
  }

  // There is a file on its way, and one at its final path. A kill may have come while it got its
  // final name: between linking and unlinking (Files::rename), which finishing it does again, or
  // after a copy on another disk got the name, which counts then. In a repair the one on its way is
  // the copy.
  Status place_one_of_two(std::uint32_t file) {
    const std::string work_name = content_.work_name(file), final_name = content_.final_name(file);
    const Result<FileStat> work = files_.stat(work_name);
    if (!work) return work.error();
    const Result<FileStat> there = files_.stat(final_name);
    if (!there) return there.error();
    if (work->links > 1 && there->links > 1 && work->inode == there->inode) return Done{};
    const bool replaces = (options_.repair || options_.overwrite) && chosen(file);
    const Result<bool> same = replaces ? false : same_bytes(files_, work_name, final_name);
    if (!same) return same.error();
    if (*same) {
      content_.set_place(file, Place::kFinished);
      return Done{};
    }
    if (chosen(file)) survey_.in_the_way.push_back({file, FileMismatch::Kind::kChanged});
    return Done{};
  }

  Status place_unfinished(std::uint32_t file) {
    const std::string name = content_.work_name(file);
    Result<FileStat> stat = files_.stat(name);
    if (!stat) return stat.error();
    if (stat->kind == FileKind::kMissing) return Done{};
    if (stat->kind == FileKind::kFile && stat->bytes == 0)
      return Done{};  // it keeps a name (names.h)
    if (stat->bytes != info_.files[file].bytes || stat->kind != FileKind::kFile) {
      Result<std::shared_ptr<File>> opened = content_.open_writable(file);
      if (!opened) return opened.error();
      if (Status s = (*opened)->resize(info_.files[file].bytes); !s) return s;
      resized_[file] = true;
    }
    content_.set_place(file, Place::kWork);
    return Done{};
  }

  // Takes the journal's word where it holds; returns the generations to hash.
  // `doubt_finished`: files under their final names are hashed, whatever it says of them.
  std::vector<std::uint32_t> trust(const JournalContents& journal, bool doubt_finished) {
    const std::uint32_t count = info_.shape.generation_count();
    std::vector<bool> doubtful(count, !journal.readable);
    std::vector<bool> impossible(count, false);  // a file is not there
    std::vector<bool> uncertain(count, false);   // the files are not what the journal saw
    for (std::uint32_t file = 0; file < info_.files.size(); ++file) {
      const content::GenerationRange range = content::generations_of(info_, file);
      const Place place = content_.place(file);
      for (std::uint32_t g = range.first; g < range.last; ++g) {
        if (place == Place::kAbsent) impossible[g] = true;
        if (place == Place::kFinished) doubtful[g] = true;
        if (place == Place::kFinished && doubt_finished) uncertain[g] = true;
        if (resized_[file]) uncertain[g] = doubtful[g] = true;
      }
    }
    for (const std::uint32_t lost : journal.lost) {
      for (const std::uint32_t g : changed_with(lost)) uncertain[g] = doubtful[g] = true;
    }
    for (const std::uint32_t g : journal.durable) {
      if (!impossible[g] && !uncertain[g]) survey_.verified[g] = true;
      doubtful[g] = true;
    }
    for (const std::uint32_t g : journal.recent) doubtful[g] = true;
    std::vector<std::uint32_t> suspects;
    for (std::uint32_t g = 0; g < count; ++g) {
      if (doubtful[g] && !impossible[g] && !survey_.verified[g]) suspects.push_back(g);
    }
    return suspects;
  }

  // All generations of the finished files that a lost one lies in.
  std::vector<std::uint32_t> changed_with(std::uint32_t lost) const {
    std::vector<std::uint32_t> generations;
    const auto spans = content::spans_of(info_, lost);
    for (const content::FileSpan& span : spans) {
      if (content_.place(span.file) != Place::kFinished) continue;
      const content::GenerationRange range = content::generations_of(info_, span.file);
      for (std::uint32_t g = range.first; g < range.last; ++g) generations.push_back(g);
    }
    return generations;
  }

  Files& files_;
  ContentFiles& content_;
  const Info& info_;
  const OpenOptions& options_;
  std::vector<bool> resized_;  // files in the work folder that had a wrong size
  bool folder_missing_ = false;
  Survey survey_;
};

}  // namespace

Result<Survey> survey(Files& files, ContentFiles& content, const Manifest& manifest,
                      const JournalContents& journal, const OpenOptions& options,
                      bool doubt_finished) {
  Surveyor surveyor(files, content, manifest.info, options);
  if (Status s = surveyor.place_files(); !s) return s.error();
  if (Status s = surveyor.check_generations(journal, doubt_finished); !s) return s.error();
  return surveyor.conclude();
}

Status read_padded(const ContentFiles& content, const Info& info, std::uint32_t generation,
                   std::span<std::uint8_t> out, ReadStamps* stamps, ContentFiles::Reading reading) {
  const std::uint64_t bytes = info.shape.bytes_in_generation(generation);
  const std::uint64_t offset = generation * info.shape.generation_bytes();
  if (Status s = content.read(offset, out.first(bytes), stamps, reading); !s) return s;
  std::ranges::fill(out.subspan(bytes), std::uint8_t{0});
  return Done{};
}

bool digest_is_right(const Info& info, std::uint32_t generation,
                     std::span<const std::uint8_t> data) {
  return generation_digest(data, info.shape.block_bytes) == info.generation_digests[generation];
}

Result<bool> generation_is_right(const ContentFiles& content, const Info& info,
                                 std::uint32_t generation, std::span<std::uint8_t> buffer) {
  const auto whole = buffer.first(info.shape.padded_bytes(generation));
  if (Status s = read_padded(content, info, generation, whole); !s) return s.error();
  return digest_is_right(info, generation, whole);
}

}  // namespace firn::store
