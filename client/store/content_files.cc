#include "client/store/content_files.h"

#include <algorithm>
#include <utility>

#include "client/content/division.h"
#include "client/content/top_name.h"
#include "client/store/content_folders.h"

namespace firn::store {
namespace {

// With more files than this, one sync of the whole file system is cheaper than theirs.
constexpr std::size_t kSingleSyncsMax = 64;

// The folders that lead to a file below `top`.
Status make_parents(Files& files, const Info& info, const std::string& top, std::uint32_t file) {
  return make_content_folder(files, info, top, parent_of(info.files[file].path));
}

}  // namespace

ContentFiles::ContentFiles(Files& files, const Info& info, std::string work, std::string as)
    : files_(files),
      info_(info),
      work_(std::move(work)),
      as_(std::move(as)),
      places_(info.files.size(), Place::kAbsent),
      known_(info.files.size(), Known::kReads) {}

const std::string& ContentFiles::top_name() const {
  return content::top_name(info_, as_);
}

std::string ContentFiles::final_name(std::uint32_t file) const {
  return content::final_path(info_, as_, "", file);
}

std::string ContentFiles::work_name(std::uint32_t file) const {
  const std::string& path = info_.single_file ? info_.name : info_.files[file].path;
  return work_top_ + "/" + path;
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
  open_files_.forget(this, file);
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
    if (Status s = make_parents(files_, info_, work_top_, file); !s) return s.error();
    made = files_.open(name, Files::Open::kCreate);
  }
  if (!made) return made.error();
  if (Status s = (*made)->resize(info_.files[file].bytes); !s) return s.error();
  note_folders(name);
  unsynced_.files.insert(file);
  places_[file] = Place::kWork;
  known_[file] = Known::kHoles;
  return made;
}

// With mutex_ held throughout: a file cannot get its final name between look-up and opening.
Result<std::shared_ptr<File>> ContentFiles::opened(std::uint32_t file, bool for_writing) const {
  const std::lock_guard lock(mutex_);
  if (std::shared_ptr<File> kept = open_files_.find(this, file, for_writing)) return kept;
  if (places_[file] == Place::kFinished && for_writing) {
    return Error{ErrorCode::kExists, "write " + files_.full_path(final_name(file)),
                 "it bears its final name and is left as it is"};
  }
  if (places_[file] == Place::kAbsent && !for_writing) {
    return Error{ErrorCode::kNotFound, "read " + files_.full_path(final_name(file)),
                 "no part of it is here"};
  }
  Result<std::shared_ptr<File>> file_opened = places_[file] == Place::kAbsent ? make(file)
                                              : for_writing                   ? open_writable(file)
                                                                              : open_readable(file);
  if (file_opened) open_files_.keep(this, file, *file_opened, for_writing);
  return file_opened;
}

Status ContentFiles::read(std::uint64_t offset, std::span<std::uint8_t> out, ReadStamps* stamps,
                          Reading reading) const {
  Status whole = Done{};
  for (const content::FileSpan& span : content::spans_of(info_, offset, out.size())) {
    Result<std::shared_ptr<File>> file = opened(span.file, false);
    if (!file) return file.error();
    const auto part = out.subspan(span.content_offset - offset, span.bytes);
    const Result<FileStat> before = stamps != nullptr ? (*file)->stat() : FileStat{};
    Result<std::size_t> got = reading == Reading::kOnce
                                  ? (*file)->read_once_at(span.file_offset, part)
                                  : (*file)->read_at(span.file_offset, part);
    if (!got) return got.error();
    const Result<FileStat> after = stamps != nullptr ? (*file)->stat() : FileStat{};
    if (!before) return before.error();
    if (!after) return after.error();
    if (stamps != nullptr) stamps->add(*before, *after);
    if (*got < part.size() && whole.ok()) {
      whole = Error{ErrorCode::kCorrupt, "read " + files_.full_path(final_name(span.file)),
                    "the file was cut short"};
    }
  }
  return whole;
}

Status ContentFiles::find_again(std::uint64_t offset, std::uint64_t bytes,
                                ReadStamps& stamps) const {
  for (const content::FileSpan& span : content::spans_of(info_, offset, bytes)) {
    const std::lock_guard lock(mutex_);
    const std::string name = current_name(span.file);
    const Result<FileStat> there = files_.stat(name);
    if (!there) return there.error();
    if (there->kind == FileKind::kMissing)
      return Error{ErrorCode::kNotFound, "examine " + files_.full_path(name), "it is not there"};
    stamps.add(*there, *there);
    open_files_.forget(this, span.file);
  }
  return Done{};
}

Status ContentFiles::write(std::uint64_t offset, std::span<const std::uint8_t> data) {
  for (const content::FileSpan& span : content::spans_of(info_, offset, data.size())) {
    if (place(span.file) == Place::kFinished) continue;
    const auto part = data.subspan(span.content_offset - offset, span.bytes);
    Result<std::shared_ptr<File>> file = opened(span.file, true);
    if (!file) return file.error();
    for (const ByteRun& run : runs_to_write(span.file, **file, span.file_offset, part)) {
      Status s =
          (*file)->write_at(span.file_offset + run.begin, part.subspan(run.begin, run.bytes));
      if (!s) return s;
    }
    note_unsynced(span.file);
  }
  return Done{};
}

std::vector<ByteRun> ContentFiles::runs_to_write(std::uint32_t file, const File& there,
                                                 std::uint64_t offset,
                                                 std::span<const std::uint8_t> data) const {
  Known known;
  {
    const std::lock_guard lock(mutex_);
    known = known_[file];
  }
  const std::vector<ByteRun> all{{0, data.size()}};
  if (known == Known::kNothing) return all;
  if (known == Known::kHoles) return runs_beside_zeros(offset, data);
  std::vector<std::uint8_t> now(data.size());
  const Result<std::size_t> got = there.read_at(offset, now);
  // What cannot be read is written: that may be what mends it.
  return got.ok() && *got == data.size() ? differing_runs(now, data) : all;
}

void ContentFiles::doubt(std::uint32_t file) {
  const std::lock_guard lock(mutex_);
  if (known_[file] == Known::kHoles) known_[file] = Known::kReads;
}

std::vector<std::uint32_t> ContentFiles::take_deleted() {
  constexpr std::size_t kLooksMax = 256;
  const std::lock_guard lock(mutex_);
  std::vector<std::uint32_t> deleted;
  const Result<FileStat> folder = files_.stat(work_top_);
  if (!folder || folder->kind != FileKind::kFolder) return deleted;
  const auto count = static_cast<std::uint32_t>(places_.size());
  std::size_t looks = 0;
  for (std::uint32_t passed = 0; passed < count && looks < kLooksMax; ++passed) {
    const std::uint32_t file = look_at_ = (look_at_ + 1) % count;
    if (places_[file] != Place::kWork) continue;
    ++looks;
    const Result<FileStat> stat = files_.stat(work_name(file));
    if (stat && stat->kind == FileKind::kMissing) deleted.push_back(file);
  }
  for (const std::uint32_t file : deleted) {
    places_[file] = Place::kAbsent;
    unsynced_.files.erase(file);
    open_files_.forget(this, file);
    if (warning_.empty())
      warning_ = files_.full_path(work_name(file)) +
                 " was deleted while it was on its way; what it held is fetched again";
  }
  return deleted;
}

Status ContentFiles::finish_file(std::uint32_t file, bool replace) {
  const FileEntry& entry = info_.files[file];
  if (entry.kind == FileEntry::Kind::kFolder) return finish_folder(file);
  if (entry.kind == FileEntry::Kind::kLink) return finish_link(file, replace);
  // Opened for reading where that is enough: a kill may have come after its mode was set.
  Result<std::shared_ptr<File>> handle = opened(file, place(file) == Place::kAbsent);
  if (!handle) return handle.error();
  const std::string to = final_name(file);
  if (Status s = kept(to, (*handle)->set_attributes(entry.mode, entry.modified_ns)); !s) return s;
  const Status named = take_final_name(file, work_name(file), replace);
  if (named || named.error().code != ErrorCode::kUnsupported) return named;
  return finish_on_other_disk(file, **handle, replace);
}

// The content's folder, or one in it, is a mount point.
Status ContentFiles::finish_on_other_disk(std::uint32_t file, const File& from, bool replace) {
  const FileEntry& entry = info_.files[file];
  const Result<FileStat> there = files_.stat(final_name(file));
  if (!there) return there.error();
  if (!replace && there->kind != FileKind::kMissing)
    return Error{ErrorCode::kExists, "rename to " + files_.full_path(final_name(file)),
                 "something else stands there"};
  if (Status s = files_.remove(copy_name(file)); !s) return s;  // of an earlier run
  auto copy = copy_file(files_, from, entry.bytes, copy_name(file));
  if (!copy) return copy.error();
  const std::string to = final_name(file);
  if (Status s = kept(to, (*copy)->set_attributes(entry.mode, entry.modified_ns)); !s) return s;
  if (Status s = take_final_name(file, copy_name(file), replace); !s) return s;
  // All that lead to the name, as some may be new.
  Unsynced folders;
  for (std::string folder = parent_of(to);; folder = parent_of(folder)) {
    folders.folders.insert(folder);
    if (folder.empty()) break;
  }
  // If this fails the file on its way takes room until the work folder is removed.
  if (sync_files(folders)) (void)files_.remove(work_name(file)).ok();
  return Done{};
}

// Beside the final name, until all of a copy is there. No other file has it, as it holds the
// content's id.
std::string ContentFiles::copy_name(std::uint32_t file) const {
  const std::string folder = parent_of(final_name(file));
  return (folder.empty() ? "" : folder + "/") + ".firn-" + work_.substr(work_.rfind('/') + 1);
}

// `from` becomes the file. No reader looks it up between its renaming and the note of that.
Status ContentFiles::take_final_name(std::uint32_t file, const std::string& from, bool replace) {
  const std::string to = final_name(file);
  const std::lock_guard lock(mutex_);
  Status renamed = files_.rename(from, to, replace);
  if (!renamed && renamed.error().code == ErrorCode::kNotFound && !parent_of(to).empty()) {
    if (Status s = make_parents(files_, info_, top_name(), file); !s) return s;
    renamed = files_.rename(from, to, replace);
  }
  if (!renamed) return renamed;
  note_folders(from);
  note_folders(to);
  places_[file] = Place::kFinished;
  open_files_.forget(this, file);  // it was open for writing, which is not needed any more
  return Done{};
}

Status ContentFiles::finish_link(std::uint32_t file, bool replace) {
  if (Status s = make_parents(files_, info_, work_top_, file); !s) return s;
  const auto finish_from = [&](const std::string& name) -> Status {
    if (Status s = files_.remove(name); !s) return s;  // of an earlier run
    if (Status s = files_.make_link(name, info_.files[file].target); !s) return s;
    return take_final_name(file, name, replace);
  };
  const Status named = finish_from(work_name(file));
  if (named || named.error().code != ErrorCode::kUnsupported) return named;
  if (Status s = files_.remove(work_name(file)); !s) return s;
  return finish_from(copy_name(file));
}

Status ContentFiles::finish_folder(std::uint32_t file) {
  const FileEntry& entry = info_.files[file];
  const std::string name = final_name(file);
  if (Status s = make_parents(files_, info_, top_name(), file); !s) return s;
  if (auto made = files_.make_folder(name, folder_mode(entry)); !made) return made.error();
  if (Status s = kept(name, files_.set_folder_time(name, entry.modified_ns)); !s) return s;
  const std::lock_guard lock(mutex_);
  places_[file] = Place::kFinished;
  note_folders(name);
  return Done{};
}

Status ContentFiles::finish_folders() {
  if (info_.single_file) return Done{};
  if (info_.files.empty()) {
    if (Status s = make_content_folder(files_, info_, top_name(), ""); !s) return s;
    const std::lock_guard lock(mutex_);
    note_folders(top_name());
  }
  return kept(top_name(), set_folder_times(files_, info_, top_name()));
}

// Where the file system refuses one, it refuses all: said once.
Status ContentFiles::kept(const std::string& name, const Result<bool>& attributes) {
  if (!attributes) return attributes.error();
  const std::lock_guard lock(mutex_);
  if (*attributes || std::exchange(warned_, true)) return Done{};
  warning_ = "the file system does not keep modes and times, for one those of " +
             files_.full_path(name) + "; the bytes are right";
  return Done{};
}

std::string ContentFiles::take_warning() {
  const std::lock_guard lock(mutex_);
  return std::exchange(warning_, {});
}

void ContentFiles::warn(const std::string& text) {
  const std::lock_guard lock(mutex_);
  warning_ += (warning_.empty() ? "" : "; ") + text;
}

Result<bool> ContentFiles::unfinish_file(std::uint32_t file) {
  const FileEntry& entry = info_.files[file];
  const std::string from = final_name(file), to = work_name(file);
  const std::lock_guard lock(mutex_);
  if (Status s = make_parents(files_, info_, work_top_, file); !s) return s.error();
  Result<std::shared_ptr<File>> there = files_.open(from, Files::Open::kRead);
  if (!there) return there.error();
  Result<FileStat> stat = (*there)->stat();
  if (!stat) return stat.error();
  bool copied = stat->links > 1;
  if (!copied) {
    // Its final mode may forbid writing; better found out before it leaves its place.
    if (Result<bool> set = (*there)->set_attributes(0600, entry.modified_ns); !set)
      return set.error();
    if (Result<std::shared_ptr<File>> writable = files_.open(from, Files::Open::kWrite); !writable)
      return writable.error();
    // All that may be there is the empty file that keeps its name (names.h).
    Status renamed = files_.rename(from, to, true);
    copied = !renamed && renamed.error().code == ErrorCode::kUnsupported;
    if (!renamed && !copied) return renamed.error();
  }
  if (copied) {
    // Under another name until all of it is on the disk: the journal may call bytes durable that a
    // file on its way has, and is believed where that file has its size.
    const std::string copy = work_ + "/copy";
    auto made = copy_file(files_, **there, entry.bytes, copy);
    if (!made) return made.error();
    if (Status s = files_.rename(copy, to, true); !s) return s.error();
  }
  places_[file] = Place::kWork;
  known_[file] = Known::kReads;
  open_files_.forget(this, file);
  note_folders(to);
  note_folders(from);
  return copied;
}

Result<std::shared_ptr<File>> ContentFiles::open_writable(std::uint32_t file) const {
  const std::string name = work_name(file);
  Result<std::shared_ptr<File>> opened = files_.open(name, Files::Open::kWrite);
  if (opened || opened.error().code != ErrorCode::kReadOnly) return opened;
  Result<std::shared_ptr<File>> readable = files_.open(name, Files::Open::kRead);
  if (!readable) return opened;
  (void)(*readable)->set_attributes(0600, info_.files[file].modified_ns).ok();
  return files_.open(name, Files::Open::kWrite);
}

// What is on its way is not read ahead (direct_access.h), so it is opened as for writing.
Result<std::shared_ptr<File>> ContentFiles::open_readable(std::uint32_t file) const {
  if (places_[file] == Place::kWork) {
    Result<std::shared_ptr<File>> writable = files_.open(work_name(file), Files::Open::kWrite);
    if (writable) return writable;
  }
  Result<std::shared_ptr<File>> readable = files_.open(current_name(file), Files::Open::kRead);
  if (readable || readable.error().code != ErrorCode::kReadOnly) return readable;
  Error error = readable.error();
  error.detail += "; chmod u+r lets its owner read it";
  return error;
}

void ContentFiles::note_unsynced(std::uint32_t file) {
  const std::lock_guard lock(mutex_);
  unsynced_.files.insert(file);
}

void ContentFiles::note_unsynced_name(std::uint32_t file) {
  const std::lock_guard lock(mutex_);
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
  const Status synced = sync_files(unsynced);
  const std::lock_guard lock(mutex_);
  for (const std::uint32_t file : unsynced.files) {
    if (!synced.ok()) {
      known_[file] = Known::kNothing;
    } else if (known_[file] == Known::kNothing) {
      known_[file] = Known::kReads;
    }
  }
  return synced;
}

Status ContentFiles::sync_files(const Unsynced& unsynced) {
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

}  // namespace firn::store
