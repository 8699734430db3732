#include <algorithm>

#include "client/content/division.h"
#include "client/store/disk_store.h"
#include "client/store/posix_files.h"
#include "proto/limits.h"

namespace firn::store {
namespace {

constexpr char kFirnFolder[] = ".firn";

std::vector<std::uint32_t> indices_of(const std::vector<bool>& flags) {
  std::vector<std::uint32_t> indices;
  for (std::uint32_t i = 0; i < flags.size(); ++i) {
    if (flags[i]) indices.push_back(i);
  }
  return indices;
}

}  // namespace

DiskStore::DiskStore(std::unique_ptr<Files> files, const Manifest& manifest)
    : files_(std::move(files)),
      manifest_(manifest),
      info_(manifest_.info),
      work_(std::string(kFirnFolder) + "/" + manifest.id.text()),
      content_(*files_, info_, work_) {}

Result<std::unique_ptr<DiskStore>> DiskStore::open_complete(std::unique_ptr<Files> files,
                                                            const Manifest& manifest) {
  std::unique_ptr<DiskStore> store(new DiskStore(std::move(files), manifest));
  store->phase_ = Phase::kServing;
  store->verified_.assign(manifest.info.shape.generation_count(), true);
  for (std::uint32_t file = 0; file < manifest.info.files.size(); ++file) {
    const FileEntry& entry = manifest.info.files[file];
    const std::string name = store->content_.final_name(file);
    const std::string operation = "serve " + store->files_->full_path(name);
    Result<FileStat> stat = store->files_->stat(name);
    if (!stat) return stat.error();
    if (stat->kind == FileKind::kMissing) {
      // An empty folder or file that was tidied away takes nothing from what can be served.
      if (entry.bytes == 0) continue;
      return Error{ErrorCode::kNotFound, operation, "the file is missing"};
    }
    if (entry.directory) continue;
    if (stat->kind != FileKind::kFile) {
      return Error{ErrorCode::kCorrupt, operation, "is not a regular file"};
    }
    if (stat->bytes != entry.bytes) {
      return Error{ErrorCode::kCorrupt, operation,
                   "has " + std::to_string(stat->bytes) + " bytes instead of " +
                       std::to_string(entry.bytes)};
    }
    store->content_.set_place(file, Place::kFinished);
  }
  return store;
}

Result<std::unique_ptr<DiskStore>> DiskStore::open_download(std::unique_ptr<Files> files,
                                                            const Manifest& manifest,
                                                            const OpenOptions& options,
                                                            Resumed& resumed) {
  std::unique_ptr<DiskStore> store(new DiskStore(std::move(files), manifest));
  store->overwrite_ = options.overwrite;
  resumed = {};
  Result<FileStat> work = store->files_->stat(store->work_);
  if (!work) return work.error();
  JournalContents known;
  known.readable = true;
  if (work->kind == FileKind::kMissing) {
    // Nothing is written before it is clear that something has to be.
    Result<Survey> found =
        survey(*store->files_, store->content_, store->manifest_, known, options);
    if (!found) return found.error();
    if (found->complete) {
      // A kill at the very end of an earlier run may have left it; it harms nobody if it stays.
      (void)store->files_->remove_folder(kFirnFolder).ok();
      store->phase_ = Phase::kServing;
      store->verified_ = resumed.verified = found->verified;
      return store;
    }
    if (Status s = store->check_in_the_way(*found, options.overwrite); !s) return s.error();
    known.durable = indices_of(found->verified);
  }
  if (Status s = store->open_work(options, known, resumed); !s) return s.error();
  return store;
}

Status DiskStore::open_work(const OpenOptions& options, const JournalContents& known,
                            Resumed& resumed) {
  if (Status s = files_->make_folders(work_); !s) return s;
  if (Status s = take_lock(); !s) return s;
  if (Status s = keep_manifest(); !s) return s;
  const std::string journal_path = work_ + "/journal";
  Result<JournalContents> journal = read_journal(*files_, journal_path, manifest_);
  if (!journal) return journal.error();
  journal->durable.insert(journal->durable.end(), known.durable.begin(), known.durable.end());

  Result<Survey> found = survey(*files_, content_, manifest_, *journal, options);
  if (!found) return found.error();
  if (Status s = clear_the_way(*found, options); !s) return s;
  verified_ = found->verified;
  durable_ = verified_;

  // What was hashed is right, but perhaps only in memory: made durable, then vouched for.
  for (const std::uint32_t generation : found->rehashed) {
    const auto spans = content::spans_of(info_, generation * info_.shape.generation_bytes(),
                                         info_.shape.bytes_in_generation(generation));
    for (const content::FileSpan& span : spans) content_.note_unsynced_name(span.file);
  }
  const ContentFiles::Unsynced unsynced = content_.take_unsynced();
  if (Status s = content_.sync(unsynced); !s) return s;
  Result<std::unique_ptr<Journal>> fresh =
      Journal::create(*files_, journal_path, manifest_, indices_of(verified_));
  if (!fresh) return fresh.error();
  journal_ = *std::move(fresh);
  Result<std::unique_ptr<Spool>> spool =
      Spool::open(*files_, work_ + "/spool", manifest_, verified_, resumed.rows);
  if (!spool) return spool.error();
  spool_ = *std::move(spool);
  if (Status s = sync_work_folders(); !s) return s;
  count_files();
  resumed.verified = verified_;
  return Done{};
}

Status DiskStore::take_lock() {
  Result<std::unique_ptr<Lock>> lock = files_->lock(work_ + "/lock");
  if (!lock) return lock.error();
  if (*lock == nullptr) {
    return Error{ErrorCode::kExists, "lock " + files_->full_path(work_),
                 "another firn is downloading this content into " + files_->full_path("")};
  }
  lock_ = *std::move(lock);
  return Done{};
}

Status DiskStore::keep_manifest() {
  const std::string path = work_ + "/manifest.firn";
  Result<std::vector<std::uint8_t>> kept =
      read_whole_file(*files_, path, limits::kManifestBytesMax);
  const std::string& wanted = manifest_.file_bytes;
  const auto same = [](std::uint8_t a, char b) { return a == static_cast<std::uint8_t>(b); };
  if (kept && std::equal(kept->begin(), kept->end(), wanted.begin(), wanted.end(), same)) {
    return Done{};
  }
  return write_whole_file(*files_, path,
                          {reinterpret_cast<const std::uint8_t*>(wanted.data()), wanted.size()});
}

Status DiskStore::check_in_the_way(const Survey& survey, bool overwrite) const {
  for (const std::uint32_t file : survey.in_the_way) {
    const std::string name = content_.final_name(file);
    Result<FileStat> stat = files_->stat(name);
    if (!stat) return stat.error();
    const bool folder = stat->kind == FileKind::kFolder;
    if (overwrite && !folder && !info_.files[file].directory) continue;
    return Error{ErrorCode::kExists, "download to " + files_->full_path(name),
                 folder ? "a folder stands there; move it away"
                        : "something else stands there; move it away, choose another folder or "
                          "ask to overwrite it (--overwrite)"};
  }
  return Done{};
}

// What may be overwritten stays until the new file takes its name, unless parts of it are right:
// then it becomes the file on its way.
Status DiskStore::clear_the_way(const Survey& survey, const OpenOptions& options) {
  if (Status s = check_in_the_way(survey, options.overwrite); !s) return s;
  for (const std::uint32_t file : survey.in_the_way) {
    if (content_.place(file) != Place::kFinished) continue;
    const content::GenerationRange range = content::generations_of(info_, file);
    const bool useful =
        std::any_of(survey.verified.begin() + range.first, survey.verified.begin() + range.last,
                    [](bool good) { return good; });
    if (!useful) {
      content_.set_place(file, Place::kAbsent);
    } else if (Status s = content_.unfinish_file(file); !s) {
      return s;
    }
  }
  return Done{};
}

Status DiskStore::sync_work_folders() {
  for (const std::string& folder : {std::string(), std::string(kFirnFolder), work_}) {
    if (Status s = files_->sync_folder(folder); !s) return s;
  }
  return Done{};
}

void DiskStore::count_files() {
  missing_.assign(info_.files.size(), 0);
  for (std::uint32_t file = 0; file < info_.files.size(); ++file) {
    const content::GenerationRange range = content::generations_of(info_, file);
    missing_[file] = static_cast<std::uint32_t>(
        std::count(verified_.begin() + range.first, verified_.begin() + range.last, false));
    const bool on_its_way = info_.files[file].bytes > 0 && content_.place(file) == Place::kWork;
    if (on_its_way && missing_[file] == 0) unnamed_.push_back(file);
  }
}

// --- the public doors ---

Result<std::unique_ptr<ContentStore>> ContentStore::open_download(const Manifest& manifest,
                                                                  const std::string& dir,
                                                                  const OpenOptions& options,
                                                                  Resumed& resumed) {
  Result<std::unique_ptr<Files>> files = open_posix_files(dir, true);
  if (!files) return files.error();
  Result<std::unique_ptr<DiskStore>> store =
      DiskStore::open_download(*std::move(files), manifest, options, resumed);
  if (!store) return store.error();
  return std::unique_ptr<ContentStore>(*std::move(store));
}

Result<std::unique_ptr<ContentStore>> ContentStore::open_complete(const Manifest& manifest,
                                                                  const std::string& dir) {
  Result<std::unique_ptr<Files>> files = open_posix_files(dir, false);
  if (!files) return files.error();
  Result<std::unique_ptr<DiskStore>> store = DiskStore::open_complete(*std::move(files), manifest);
  if (!store) return store.error();
  return std::unique_ptr<ContentStore>(*std::move(store));
}

}  // namespace firn::store
