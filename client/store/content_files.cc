#include "client/store/content_files.h"

#include <utility>

#include "client/content/create.h"
#include "client/content/division.h"

namespace firn::store {
namespace {

// Descriptors held by one content; a process may serve several contents and many sockets within
// the usual limit of 1024.
constexpr std::size_t kOpenFilesMax = 64;

// With more files than this, one sync of the whole file system is cheaper than theirs.
constexpr std::size_t kSingleSyncsMax = 64;

}  // namespace

ContentFiles::ContentFiles(Files& files, const Info& info, std::string work)
    : files_(files),
      info_(info),
      work_(std::move(work)),
      places_(info.files.size(), Place::kAbsent) {}

std::string ContentFiles::final_name(std::uint32_t file) const {
  return content::final_path(info_, "", file);
}

std::string ContentFiles::work_name(std::uint32_t file) const {
  const std::string& path = info_.single_file ? info_.name : info_.files[file].path;
  return work_ + "/data/" + path;
}

std::string ContentFiles::current_name(std::uint32_t file) const {
  return places_[file] == Place::kFinished ? final_name(file) : work_name(file);
}

Place ContentFiles::place(std::uint32_t file) const {
  const std::lock_guard lock(mutex_);
  return places_[file];
}

void ContentFiles::set_place(std::uint32_t file, Place place) {
  const std::lock_guard lock(mutex_);
  places_[file] = place;
  forget(file);
}

void ContentFiles::forget(std::uint32_t file) const {
  const auto found = cache_.find(file);
  if (found == cache_.end()) return;
  recent_.erase(found->second.use);
  cache_.erase(found);
}

// All folders from the file's own up to the top get a new entry at worst.
void ContentFiles::note_folders(const std::string& path) const {
  for (std::string folder = parent_of(path);; folder = parent_of(folder)) {
    if (!unsynced_.folders.insert(folder).second || folder.empty()) return;
  }
}

Result<std::shared_ptr<File>> ContentFiles::make(std::uint32_t file) const {
  const std::string name = work_name(file);
  Result<std::shared_ptr<File>> made = files_.open(name, Files::Open::kCreate);
  if (!made && made.error().code == ErrorCode::kNotFound) {
    if (Status s = files_.make_folders(parent_of(name)); !s) return s.error();
    made = files_.open(name, Files::Open::kCreate);
  }
  if (!made) return made.error();
  if (Status s = (*made)->resize(info_.files[file].bytes); !s) return s.error();
  note_folders(name);
  unsynced_.files.insert(file);
  places_[file] = Place::kWork;
  return made;
}

// With mutex_ held throughout: a file cannot get its final name between look-up and opening.
Result<std::shared_ptr<File>> ContentFiles::opened(std::uint32_t file, bool for_writing) const {
  const std::lock_guard lock(mutex_);
  const auto found = cache_.find(file);
  if (found != cache_.end() && (found->second.writable || !for_writing)) {
    recent_.splice(recent_.begin(), recent_, found->second.use);
    return found->second.file;
  }
  forget(file);
  if (places_[file] == Place::kFinished && for_writing) {
    return Error{ErrorCode::kExists, "write " + files_.full_path(final_name(file)),
                 "it bears its final name and is left as it is"};
  }
  if (places_[file] == Place::kAbsent && !for_writing) {
    return Error{ErrorCode::kNotFound, "read " + files_.full_path(final_name(file)),
                 "no part of it is here"};
  }
  Result<std::shared_ptr<File>> file_opened =
      places_[file] == Place::kAbsent
          ? make(file)
          : files_.open(current_name(file), for_writing ? Files::Open::kWrite : Files::Open::kRead);
  if (!file_opened) return file_opened.error();
  if (cache_.size() >= kOpenFilesMax) forget(recent_.back());
  recent_.push_front(file);
  cache_[file] = {*file_opened, for_writing, recent_.begin()};
  return *file_opened;
}

Status ContentFiles::read(std::uint64_t offset, std::span<std::uint8_t> out) const {
  for (const content::FileSpan& span : content::spans_of(info_, offset, out.size())) {
    Result<std::shared_ptr<File>> file = opened(span.file, false);
    if (!file) return file.error();
    const auto part = out.subspan(span.content_offset - offset, span.bytes);
    Result<std::size_t> got = (*file)->read_at(span.file_offset, part);
    if (!got) return got.error();
    if (*got < part.size()) {
      return Error{ErrorCode::kCorrupt, "read " + files_.full_path(final_name(span.file)),
                   "the file was cut short"};
    }
  }
  return Done{};
}

Status ContentFiles::write(std::uint64_t offset, std::span<const std::uint8_t> data) {
  for (const content::FileSpan& span : content::spans_of(info_, offset, data.size())) {
    Result<std::shared_ptr<File>> file = opened(span.file, true);
    if (!file) return file.error();
    const auto part = data.subspan(span.content_offset - offset, span.bytes);
    if (Status s = (*file)->write_at(span.file_offset, part); !s) return s;
    note_unsynced(span.file);
  }
  return Done{};
}

Status ContentFiles::finish_file(std::uint32_t file, bool replace) {
  const FileEntry& entry = info_.files[file];
  if (entry.directory) return finish_folder(file);
  // Opened for reading where that is enough: a kill may have come after its mode was set.
  Result<std::shared_ptr<File>> handle = opened(file, place(file) == Place::kAbsent);
  if (!handle) return handle.error();
  Result<bool> kept = (*handle)->set_attributes(entry.mode, entry.modified_ns);
  if (!kept) return kept.error();
  const std::string from = work_name(file);
  const std::string to = final_name(file);

  const std::lock_guard lock(mutex_);
  if (!*kept) attributes_refused(to);
  Status renamed = files_.rename(from, to, replace);
  if (!renamed && renamed.error().code == ErrorCode::kNotFound && !parent_of(to).empty()) {
    if (Status s = files_.make_folders(parent_of(to)); !s) return s;
    renamed = files_.rename(from, to, replace);
  }
  if (!renamed) return renamed;
  places_[file] = Place::kFinished;
  forget(file);  // it was open for writing, which nobody needs any more
  note_folders(from);
  note_folders(to);
  return Done{};
}

Status ContentFiles::finish_folder(std::uint32_t file) {
  const FileEntry& entry = info_.files[file];
  const std::string name = final_name(file);
  const std::lock_guard lock(mutex_);
  if (Status s = files_.make_folders(name); !s) return s;
  Result<bool> kept = files_.set_folder_attributes(name, entry.mode, entry.modified_ns);
  if (!kept) return kept.error();
  if (!*kept) attributes_refused(name);
  places_[file] = Place::kFinished;
  note_folders(name);
  return Done{};
}

// With mutex_ held. Where one is refused, all are: said once.
void ContentFiles::attributes_refused(const std::string& name) {
  if (std::exchange(warned_, true)) return;
  warning_ = "the file system does not keep modes and times, for one those of " +
             files_.full_path(name) + "; the bytes are right";
}

std::string ContentFiles::take_warning() {
  const std::lock_guard lock(mutex_);
  return std::exchange(warning_, {});
}

Status ContentFiles::unfinish_file(std::uint32_t file) {
  const std::string to = work_name(file);
  const std::lock_guard lock(mutex_);
  if (Status s = files_.make_folders(parent_of(to)); !s) return s;
  if (Status s = files_.rename(final_name(file), to, true); !s) return s;
  places_[file] = Place::kWork;
  forget(file);
  note_folders(to);
  note_folders(final_name(file));
  return Done{};
}

void ContentFiles::note_unsynced(std::uint32_t file) {
  const std::lock_guard lock(mutex_);
  unsynced_.files.insert(file);
}

void ContentFiles::note_unsynced_name(std::uint32_t file) {
  const std::lock_guard lock(mutex_);
  unsynced_.files.insert(file);
  note_folders(current_name(file));
}

ContentFiles::Unsynced ContentFiles::take_unsynced() {
  const std::lock_guard lock(mutex_);
  return std::exchange(unsynced_, {});
}

void ContentFiles::give_back(const Unsynced& unsynced) {
  const std::lock_guard lock(mutex_);
  unsynced_.files.insert(unsynced.files.begin(), unsynced.files.end());
  unsynced_.folders.insert(unsynced.folders.begin(), unsynced.folders.end());
}

Status ContentFiles::sync(const Unsynced& unsynced) {
  if (unsynced.files.size() + unsynced.folders.size() > kSingleSyncsMax) return files_.sync_all();
  for (const std::uint32_t file : unsynced.files) {
    Result<std::shared_ptr<File>> handle = opened(file, false);
    if (!handle) return handle.error();
    if (Status s = (*handle)->sync(); !s) return s;
  }
  for (const std::string& folder : unsynced.folders) {
    Status s = files_.sync_folder(folder);
    // A folder that is gone has no entries to keep; what was in it fails where it is used.
    if (!s && s.error().code != ErrorCode::kNotFound) return s;
  }
  return Done{};
}

void ContentFiles::close_all() {
  const std::lock_guard lock(mutex_);
  cache_.clear();
  recent_.clear();
}

}  // namespace firn::store
