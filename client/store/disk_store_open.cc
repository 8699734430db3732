#include <algorithm>
#include <set>

#include "client/content/division.h"
#include "client/content/entries_text.h"
#include "client/store/advice.h"
#include "client/store/disk_store.h"
#include "client/store/posix_files.h"
#include "client/store/servable.h"
#include "proto/limits.h"

namespace firn::store {
namespace {

constexpr char kFirnFolder[] = ".firn";
constexpr std::uint64_t kKnownVectorBytes = 64
                                            << 20;  // of the vectors of blocks known at the start
constexpr std::uint64_t kKnownPayloadBytes = 256 << 20;  // and of their payloads, in the spool

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
                                                            const Manifest& manifest,
                                                            const OpenOptions& options) {
  std::unique_ptr<DiskStore> store(new DiskStore(std::move(files), manifest));
  store->phase_ = Phase::kServing;
  store->verified_.assign(manifest.info.shape.generation_count(), true);
  Status servable = place_servable(*store->files_, store->content_, manifest, options);
  if (!servable) return servable.error();
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
    if (Status s = store->check_in_the_way(*found, options); !s) return s.error();
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
  Result<JournalContents> journal = read_journal(*files_, work_ + "/journal", manifest_);
  if (!journal) return journal.error();
  journal->durable.insert(journal->durable.end(), known.durable.begin(), known.durable.end());

  Result<Survey> found = survey(*files_, content_, manifest_, *journal, options);
  if (!found) return found.error();
  if (Status s = check_in_the_way(*found, options); !s) return s;
  // What was hashed is right, but perhaps only in memory: made durable, then vouched for.
  note_unsynced(known.durable);
  note_unsynced(found->rehashed);
  if (!found->in_the_way.empty()) {
    // Before a file is taken back the journal says no more than what is known of it now: a kill
    // from here on leaves a file in the work folder of which nothing else is believed.
    if (Status s = vouch_for(found->verified); !s) return s;
    if (Status s = clear_the_way(*found, options); !s) return s;
    JournalContents right;
    right.readable = true;
    right.durable = indices_of(found->verified);
    OpenOptions again = options;
    again.repair = false;  // the finished files have been hashed
    found = survey(*files_, content_, manifest_, right, again);
    if (!found) return found.error();
    note_unsynced(found->rehashed);
    // Left in place to be replaced, and no part of the download.
    for (const FileFault& fault : found->in_the_way) {
      if (content_.place(fault.file) == Place::kFinished)
        content_.set_place(fault.file, Place::kAbsent);
    }
  }
  verified_ = found->verified;
  durable_ = verified_;
  if (Status s = vouch_for(verified_); !s) return s;
  Result<std::unique_ptr<Spool>> spool =
      Spool::open(*files_, work_ + "/spool", manifest_, verified_, resumed.rows);
  if (!spool) return spool.error();
  spool_ = *std::move(spool);
  if (Status s = spool_known_blocks(options, resumed.rows); !s) return s;
  if (Status s = sync_work_folders(); !s) return s;
  count_files();
  resumed.verified = verified_;
  return Done{};
}

void DiskStore::note_unsynced(const std::vector<std::uint32_t>& generations) {
  for (const std::uint32_t generation : generations) {
    for (const content::FileSpan& span : spans_of(generation))
      content_.note_unsynced_name(span.file);
  }
}

// Makes durable what was noted, then begins the journal anew with these generations.
Status DiskStore::vouch_for(const std::vector<bool>& verified) {
  const ContentFiles::Unsynced unsynced = content_.take_unsynced();
  if (Status s = content_.sync(unsynced); !s) return s;
  journal_.reset();
  Result<std::unique_ptr<Journal>> fresh =
      Journal::create(*files_, work_ + "/journal", manifest_, indices_of(verified));
  if (!fresh) return fresh.error();
  journal_ = *std::move(fresh);
  return files_->sync_folder(work_);
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

Status DiskStore::check_in_the_way(const Survey& survey, const OpenOptions& options) const {
  std::vector<FileFault> faults;
  bool repairable = true, replaceable = true;
  for (const FileFault& fault : survey.in_the_way) {
    const bool plain = info_.files[fault.file].kind == FileEntry::Kind::kFile;
    Result<FileStat> stat = files_->stat(content_.final_name(fault.file));
    const bool folder = !stat || stat->kind == FileKind::kFolder;  // or below something else
    const bool can_repair = plain && fault.kind != FileFault::Kind::kKind;
    const bool can_replace = !folder && info_.files[fault.file].kind != FileEntry::Kind::kFolder;
    if ((options.repair && can_repair) || (options.overwrite && can_replace)) continue;
    repairable &= can_repair;
    replaceable &= can_replace;
    faults.push_back(fault);
  }
  if (faults.empty()) return Done{};
  std::string detail = content::part_of_entries(faults.size(), info_.files) +
                       " there not as the manifest says: " + list_faults(info_, faults) + "; ";
  if (repairable && looks_foreign(*files_, info_)) {
    detail += std::string(kForeignAdvice) + ": choose another folder (-o), or move it away";
    if (replaceable) detail += ", or replace it (--overwrite)";
    return Error{ErrorCode::kExists, "download to " + files_->full_path(info_.name), detail};
  }
  if (repairable) detail += "--repair fetches what is wrong in them and keeps the rest, ";
  if (replaceable) detail += "--overwrite replaces them, ";
  detail += "or move them away or choose another folder (-o)";
  return Error{ErrorCode::kExists, "download to " + files_->full_path(info_.name), detail};
}

// What may be replaced stays until the new file takes its name, unless parts of it are right, or it
// is to be repaired: then it becomes the file on its way.
Status DiskStore::clear_the_way(const Survey& survey, const OpenOptions& options) {
  for (const FileFault& fault : survey.in_the_way) {
    const std::uint32_t file = fault.file;
    replaceable_.insert(file);
    if (content_.place(file) == Place::kWork) continue;  // that one goes on
    const bool plain = info_.files[file].kind == FileEntry::Kind::kFile;
    const bool repair = options.repair && plain && fault.kind != FileFault::Kind::kKind;
    const content::GenerationRange range = content::generations_of(info_, file);
    const bool useful =
        content_.place(file) == Place::kFinished && plain &&
        std::any_of(survey.verified.begin() + range.first, survey.verified.begin() + range.last,
                    [](bool good) { return good; });
    if (!useful && !repair) {
      content_.set_place(file, Place::kAbsent);
      continue;
    }
    const Result<bool> copied = content_.unfinish_file(file);
    if (!copied) return copied.error();
    if (!*copied) replaceable_.erase(file);  // its final path is free now
  }
  return Done{};
}

// Blocks whose bytes all lie in files that are right, of generations that others leave unverified,
// are as good as received: nobody need send them.
// They are copied, and their vectors are held in memory: so of a bounded number of generations, the
// others are fetched in whole.
Status DiskStore::spool_known_blocks(const OpenOptions& options, std::vector<SpooledRow>& rows) {
  std::set<std::uint32_t> partly_known;
  for (std::uint32_t file = 0; file < info_.files.size(); ++file) {
    if (content_.place(file) != Place::kFinished) continue;
    const content::GenerationRange range = content::generations_of(info_, file);
    for (std::uint32_t g = range.first; g < range.last; ++g) {
      if (!verified_[g]) partly_known.insert(g);
    }
  }
  for (const SpooledRow& row : rows) partly_known.erase(row.generation);  // known to that run too
  const std::uint64_t n = info_.shape.generation_size;
  std::uint64_t room = std::min(kKnownVectorBytes / (3 * n * n),
                                kKnownPayloadBytes / info_.shape.generation_bytes());
  for (const std::uint32_t g : partly_known) {
    if (room-- == 0) break;
    if (options.cancelled && options.cancelled())
      return Error{ErrorCode::kCancelled, "open " + files_->full_path(info_.name), "stopped"};
    Status spooled = spool_known_blocks_of(g, rows);
    if (!spooled && spooled.error().code == ErrorCode::kDiskFull) break;  // it is only a help
    if (!spooled) return spooled;
  }
  return Done{};
}

Status DiskStore::spool_known_blocks_of(std::uint32_t generation, std::vector<SpooledRow>& rows) {
  const Shape& shape = info_.shape;
  const std::uint64_t begin = generation * shape.generation_bytes();
  const std::uint64_t end = begin + shape.bytes_in_generation(generation);
  std::vector<std::uint8_t> payload(shape.block_bytes);
  std::vector<SpooledRow> spooled;
  std::uint32_t known = 0;
  for (std::uint32_t block = 0; block < shape.blocks_in(generation); ++block) {
    const std::uint64_t from = begin + std::uint64_t{block} * shape.block_bytes;
    const std::uint64_t bytes = std::min<std::uint64_t>(shape.block_bytes, end - from);
    const auto spans = content::spans_of(info_, from, bytes);
    const auto right = [this](const content::FileSpan& span) {
      return content_.place(span.file) == Place::kFinished;
    };
    if (!std::all_of(spans.begin(), spans.end(), right)) continue;
    // All of them: then its digest is not that of its files, and they are no help.
    if (++known == shape.blocks_in(generation)) return spool_->drop(generation);
    std::ranges::fill(payload, std::uint8_t{0});
    if (Status s = content_.read(from, std::span(payload).first(bytes)); !s) return s;
    SpooledRow row{generation, block, std::vector<std::uint8_t>(shape.blocks_in(generation)), {}};
    row.vector[block] = 1;
    if (Status s = spool_->write(row, payload); !s) return s;
    spooled.push_back(std::move(row));
  }
  std::ranges::move(spooled, std::back_inserter(rows));
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
                                                                  const std::string& dir,
                                                                  const OpenOptions& options) {
  Result<std::unique_ptr<Files>> files = open_posix_files(dir, false);
  if (!files) return files.error();
  Result<std::unique_ptr<DiskStore>> store =
      DiskStore::open_complete(*std::move(files), manifest, options);
  if (!store) return store.error();
  return std::unique_ptr<ContentStore>(*std::move(store));
}

}  // namespace firn::store
