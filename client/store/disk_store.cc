#include "client/store/disk_store.h"

#include <algorithm>

#include "client/content/division.h"
#include "client/content/top_name.h"
#include "client/store/download_opening.h"
#include "client/store/free_room.h"
#include "client/store/kept_choice.h"
#include "client/store/names.h"
#include "client/store/posix_files.h"
#include "client/store/servable.h"
#include "client/store/work_mark.h"

namespace firn::store {
namespace {

// The paths of these files, or of the first few.
std::string names_of(const std::set<std::uint32_t>& wanted, const Files& files,
                     const ContentFiles& content) {
  constexpr std::size_t kNamesMax = 4;
  std::string text;
  std::size_t named = 0;
  for (const std::uint32_t file : wanted) {
    if (named++ == kNamesMax) return text + ", ...";
    text += (text.empty() ? "" : ", ") + files.full_path(content.final_name(file));
  }
  return text;
}

}  // namespace

DiskStore::DiskStore(std::unique_ptr<Files> files, const Manifest& manifest,
                     const OpenOptions& options)
    : files_(std::move(files)),
      manifest_(manifest),
      info_(manifest_.info),
      work_(*files_, manifest_),
      content_(*files_, info_, work_.path(), options.as),
      ledger_(info_, content_),
      clock_(options.clock),
      hash_memory_(info_.shape.generation_count(), options.hashed_since_ns, clock_()),
      fingerprints_(info_.shape, options.fingerprinting),
      read_before_(info_.shape.generation_count(), false) {}

Result<std::unique_ptr<DiskStore>> DiskStore::open_complete(std::unique_ptr<Files> files,
                                                            const Manifest& manifest,
                                                            const OpenOptions& options) {
  std::unique_ptr<DiskStore> store(new DiskStore(std::move(files), manifest, options));
  store->phase_ = Phase::kServing;
  store->ledger_.serve(std::vector<bool>(manifest.info.shape.generation_count(), true));
  Status servable = place_servable(*store->files_, store->content_, manifest, options);
  if (!servable) return servable.error();
  return store;
}

Result<std::unique_ptr<DiskStore>> DiskStore::open_download(std::unique_ptr<Files> files,
                                                            const Manifest& manifest,
                                                            const OpenOptions& options,
                                                            Resumed& resumed) {
  std::unique_ptr<DiskStore> store(new DiskStore(std::move(files), manifest, options));
  resumed = {};
  DownloadOpening opening(*store->files_, store->manifest_, store->content_, store->work_, options);
  Result<DownloadOpening::Opened> opened = opening.open();
  if (!opened) return opened.error();
  resumed.verified = opened->verified;
  resumed.rows = std::move(opened->rows);
  store->overwrite_ = options.overwrite;
  store->replaceable_ = std::move(opened->replaceable);
  if (opened->complete) {
    store->phase_ = Phase::kServing;
    store->ledger_.serve(std::move(opened->verified));
  } else {
    resumed.mark = store->work_.mark();
    store->ledger_.download(std::move(opened->verified), store->work_.journal(), options.chosen);
  }
  return store;
}

Error DiskStore::not_downloading(const char* what) const {
  return {ErrorCode::kInternal, std::string(what) + " in " + files_->full_path(content_.top_name()),
          "this content is not being downloaded"};
}

bool DiskStore::verify_generation(std::uint32_t generation,
                                  std::span<const std::uint8_t> data) const {
  FIRN_CHECK(generation < info_.shape.generation_count());
  FIRN_CHECK(data.size() == info_.shape.padded_bytes(generation));
  // Before the digest: bytes that change in memory after it must not pass for those verified.
  const Fingerprints::Fingerprint fingerprint = fingerprints_.of(data);
  if (!digest_is_right(info_, generation, data)) return false;
  fingerprints_.keep(generation, fingerprint);
  return true;
}

Status DiskStore::write_generation(std::uint32_t generation, std::span<const std::uint8_t> data) {
  FIRN_CHECK(generation < info_.shape.generation_count());
  FIRN_CHECK(data.size() == info_.shape.padded_bytes(generation));
  // What has come twice may come after the end.
  if (phase_ == Phase::kFinished && ledger_.readable(generation)) return Done{};
  if (phase_ != Phase::kDownloading) return not_downloading("write a generation");
  if (ledger_.left(generation)) {
    return Error{ErrorCode::kExists, "write generation " + std::to_string(generation),
                 "a file of it bears its final name and is left as it is"};
  }
  const auto write = [&] { return write_and_note(generation, data); };
  Status written = with_room(write);
  if (!written && written.error().code == ErrorCode::kDiskFull) {
    // Its own rows have done their work, and take as much room as it needs. A kill in between has
    // them fetched again.
    if (work_.spool().drop(generation)) written = write();
  }
  if (written || written.error().code != ErrorCode::kNotFound) return written;
  {
    const std::lock_guard sync_lock(sync_mutex_);
    lose_deleted();  // a file of it, perhaps
  }
  return write_and_note(generation, data);
}

// Rows of a verified generation take room until its data is durable. Where the disk is full it is
// made so before its time.
Status DiskStore::with_room(const std::function<Status()>& write) {
  Status written = write();
  if (written || written.error().code != ErrorCode::kDiskFull || !ledger_.keeps_rows())
    return written;
  if (!sync()) return written;
  return write();
}

Status DiskStore::write_and_note(std::uint32_t generation, std::span<const std::uint8_t> data) {
  const std::shared_lock lock(deleted_mutex_);
  const std::uint64_t offset = generation * info_.shape.generation_bytes();
  const std::uint64_t bytes = info_.shape.bytes_in_generation(generation);
  if (Status s = content_.write(offset, data.first(bytes)); !s) return s;
  return ledger_.written(generation);
}

void DiskStore::lose_deleted() {
  const std::lock_guard lock(deleted_mutex_);
  for (const std::uint32_t file : content_.take_deleted()) lose_file(file);
}

void DiskStore::lose_file(std::uint32_t file) {
  const content::GenerationRange range = content::generations_of(info_, file);
  for (std::uint32_t g = range.first; g < range.last; ++g) {
    if (ledger_.readable(g)) lose_in_work(g);
  }
}

void DiskStore::lose_in_work(std::uint32_t generation) {
  if (!ledger_.lose(generation)) return;
  const std::lock_guard lock(found_mutex_);
  found_.push_back(generation);
}

Status DiskStore::read_generation(std::uint32_t generation, std::span<std::uint8_t> out) const {
  FIRN_CHECK(generation < info_.shape.generation_count());
  FIRN_CHECK(out.size() == info_.shape.padded_bytes(generation));
  return read_checked(generation, out, next_reading(generation));
}

Status DiskStore::read_checked(std::uint32_t generation, std::span<std::uint8_t> out,
                               ContentFiles::Reading reading) const {
  const std::string operation = "read generation " + std::to_string(generation);
  if (!ledger_.readable(generation)) {
    return Error{ErrorCode::kNotFound, operation, "it is not complete yet"};
  }
  const Moment now = clock_();
  ReadStamps stamps;
  Status read = read_padded(content_, info_, generation, out, &stamps, reading);
  // Files on their way change with every generation that is written.
  const bool still = phase_ == Phase::kServing;
  if (read && still && hash_memory_.knows(generation, stamps, now)) return Done{};
  // Bytes that were verified before are compared with those; others have their digest made.
  if (read && !fingerprints_.match(generation, out) && !verify_generation(generation, out))
    read = changed_on_disk(generation, operation);
  if (read && still) hash_memory_.hashed(generation, stamps, now);
  if (!read && read.error().code == ErrorCode::kCorrupt)
    hash_memory_.found_false(generation, stamps, now);
  return read;
}

// What has left the memory is read for each neighbour that comes later. One alone needs it once.
// Where generations are read again there are several, and the page cache serves them better.
ContentFiles::Reading DiskStore::next_reading(std::uint32_t generation) const {
  constexpr std::uint64_t kFewAgain = 16;  // one reading in so many
  const std::lock_guard lock(reads_mutex_);
  const bool again = read_before_[generation];
  read_before_[generation] = true;
  ++reads_;
  reads_again_ += again;
  const bool several = again || reads_again_ * kFewAgain > reads_;
  return several ? ContentFiles::Reading::kUsual : ContentFiles::Reading::kOnce;
}

Error DiskStore::changed_on_disk(std::uint32_t generation, const std::string& operation) const {
  std::set<std::uint32_t> files;
  for (const content::FileSpan& span : content::spans_of(info_, generation))
    files.insert(span.file);
  return Error{ErrorCode::kCorrupt, operation + " from " + names_of(files, *files_, content_),
               "the bytes on disk were changed and are not those of the manifest"};
}

bool DiskStore::lose_generation(std::uint32_t generation) {
  FIRN_CHECK(generation < info_.shape.generation_count());
  const std::lock_guard sync_lock(sync_mutex_);  // no file gets its name meanwhile
  const std::lock_guard lock(deleted_mutex_);
  // What the user does with files that are not chosen any more concerns no download.
  std::vector<std::uint32_t> forgone;
  bool beside_finished = false;
  for (const content::FileSpan& span : content::spans_of(info_, generation)) {
    if (content_.place(span.file) != Place::kFinished) continue;
    if (ledger_.chosen(span.file)) {
      beside_finished = true;
      continue;
    }
    content_.set_place(span.file, Place::kAbsent);
    forgone.push_back(span.file);
  }
  const bool fetch_again = ledger_.lose(generation);
  if (fetch_again && beside_finished) beside_finished_.insert(generation);
  for (const std::uint32_t file : forgone) lose_file(file);
  return fetch_again;
}

bool DiskStore::may_be_right_again(std::uint32_t generation) const {
  ReadStamps stamps;
  const Status there = content_.find_again(generation * info_.shape.generation_bytes(),
                                           info_.shape.bytes_in_generation(generation), stamps);
  return there.ok() && !hash_memory_.knows_false(generation, stamps, clock_());
}

void DiskStore::regain_generation(std::uint32_t generation) {
  const std::lock_guard sync_lock(sync_mutex_);
  ledger_.regain(generation);
}

std::vector<std::uint32_t> DiskStore::take_lost() {
  const std::lock_guard lock(found_mutex_);  // not behind a sync or finish
  return std::exchange(found_, {});
}

Status DiskStore::write_row(const SpooledRow& row, std::span<const std::uint8_t> payload) {
  if (phase_ != Phase::kDownloading) return not_downloading("spool a block");
  return with_room([&] { return work_.spool().write(row, payload); });
}

Result<bool> DiskStore::set_proven(std::uint32_t generation, std::uint32_t slot, bool proven) {
  if (phase_ != Phase::kDownloading) return not_downloading("mark a spooled block");
  return work_.spool().set_proven(generation, slot, proven);
}

Status DiskStore::read_row(std::uint32_t generation, std::uint32_t slot,
                           std::span<std::uint8_t> payload_out) const {
  if (phase_ != Phase::kDownloading) return not_downloading("read a spooled block");
  return work_.spool().read(generation, slot, payload_out);
}

Status DiskStore::drop_rows(std::uint32_t generation) {
  if (phase_ != Phase::kDownloading || ledger_.keep_rows(generation)) return Done{};
  return work_.spool().drop(generation);
}

Status DiskStore::sync() {
  const std::lock_guard sync_lock(sync_mutex_);
  // Not before: while we waited, finish() may have removed the work folder.
  return phase_ == Phase::kDownloading ? sync_now() : Done{};
}

Status DiskStore::sync_now() {
  if (Status s = work_.journal().check_present(); !s) return s;
  lose_deleted();
  if (Status s = ledger_.journal_losses(); !s) return s;
  if (Status s = write_again(); !s) return s;

  const GenerationLedger::Covered covered = ledger_.begin_sync();
  if (Status s = sync_data(covered); !s) {
    ledger_.give_back(covered.files);
    return s;
  }
  Status named = name_files(covered.files);
  Status freed = free_dropped();
  return named ? freed : named;
}

// After a failed sync the kernel may have dropped what it could not write, and call it clean: the
// generations in doubt are read back (and checked) and written once more: through the page cache,
// which may hold their only right copy. One that reads back wrong is lost: what was written is gone
// from memory too.
Status DiskStore::write_again() {
  if (!data_in_doubt_) return Done{};
  std::vector<std::uint8_t> buffer(info_.shape.generation_bytes());
  for (const std::uint32_t generation : ledger_.unmarked()) {
    const auto whole = std::span(buffer).first(info_.shape.padded_bytes(generation));
    if (Status s = read_checked(generation, whole, ContentFiles::Reading::kUsual); !s) {
      if (s.error().code != ErrorCode::kCorrupt) return s;
      lose_in_work(generation);
      continue;
    }
    const std::uint64_t bytes = info_.shape.bytes_in_generation(generation);
    const auto data = std::span<const std::uint8_t>(buffer).first(bytes);
    if (Status s = content_.write(generation * info_.shape.generation_bytes(), data); !s) return s;
  }
  data_in_doubt_ = false;
  return Done{};
}

// Data first, then the mark that speaks of it.
Status DiskStore::sync_data(const GenerationLedger::Covered& covered) {
  const ContentFiles::Unsynced unsynced = content_.take_unsynced();
  if (Status s = content_.sync(unsynced); !s) {
    content_.give_back(unsynced);
    data_in_doubt_ = true;
    return s;
  }
  if (Status s = work_.spool().sync(); !s) return s;
  return ledger_.mark(covered);
}

// A file whose final path is taken holds up no other; it is tried again with the next sync.
Status DiskStore::name_files(const std::vector<std::uint32_t>& files) {
  Status result = Done{};
  std::vector<std::uint32_t> left;
  for (const std::uint32_t file : files) {
    const bool go_on = result.ok() || result.error().code == ErrorCode::kExists;
    Status named = go_on ? content_.finish_file(file, may_replace(file)) : result;
    if (named) continue;
    left.push_back(file);
    if (go_on) result = std::move(named);
  }
  ledger_.give_back(left);
  return result;
}

Status DiskStore::free_dropped() {
  const std::vector<std::uint32_t> ready = ledger_.take_droppable();
  for (std::size_t i = 0; i < ready.size(); ++i) {
    if (Status s = work_.spool().drop(ready[i]); !s) {
      ledger_.give_back_droppable(std::span(ready).subspan(i));
      return s;
    }
  }
  return Done{};
}

Status DiskStore::choose(std::vector<bool> chosen) {
  const std::lock_guard sync_lock(sync_mutex_);
  if (phase_ != Phase::kDownloading) return Done{};
  const std::vector<bool> wanted = content::wanted_generations(info_, chosen);
  if (Status s = work_.check_file_size(wanted); !s) return s;
  const std::vector<bool> known = ledger_.choice();
  if (Status s = make_names(*files_, info_, work_.path() + "/data", chosen, {}, &known); !s) {
    if (s.error().code != ErrorCode::kExists) return s;
    return Error{ErrorCode::kUnsupported, s.error().operation, s.error().detail};  // for good
  }
  if (Status s = keep_choice(*files_, work_.path(), chosen); !s) return s;
  if (auto lacking = lacking_room(*files_, info_, content_, chosen, false))
    content_.warn(room_warning(*std::move(lacking)));
  ledger_.choose(std::move(chosen));
  return Done{};
}

Result<bool> DiskStore::finish() {
  const std::lock_guard sync_lock(sync_mutex_);
  if (phase_ == Phase::kDownloading) {
    if (!ledger_.everything_wanted_verified()) return false;
    if (Status s = sync_now(); !s) return s.error();
    reread_beside_finished();
    if (!ledger_.everything_wanted_verified()) return false;
    reread_left();
    if (Status s = finish_names(); !s) return s.error();
    if (!ledger_.wanted_left().empty()) return left_error();
    moved_to_ = files_->moved_to();
    if (!ledger_.all_chosen()) return true;
    ledger_.finish();
    phase_ = Phase::kFinished;
  }
  if (phase_ == Phase::kFinished) {
    if (Status s = work_.remove(); !s) return s.error();
    phase_ = Phase::kServing;
  }
  return true;
}

// Nobody knew which file of them was changed. If it was the finished one, what was fetched again
// did not mend it.
void DiskStore::reread_beside_finished() {
  std::vector<std::uint8_t> buffer(info_.shape.generation_bytes());
  std::erase_if(beside_finished_, [&](std::uint32_t generation) {
    if (!ledger_.readable(generation)) return false;
    const Result<bool> right = generation_is_right(content_, info_, generation, buffer);
    if (!right.ok() || !*right) lose_in_work(generation);
    return true;
  });
}

// An edit may have been undone, or a file moved back.
void DiskStore::reread_left() {
  std::vector<std::uint8_t> buffer(info_.shape.generation_bytes());
  for (const std::uint32_t generation : ledger_.wanted_left()) {
    Result<bool> right = generation_is_right(content_, info_, generation, buffer);
    if (right.ok() && *right) ledger_.regain(generation);
  }
}

Status DiskStore::finish_names() {
  for (std::uint32_t file = 0; file < info_.files.size(); ++file) {
    if (content_.place(file) == Place::kFinished || !ledger_.to_be_named(file)) continue;
    if (Status s = content_.finish_file(file, may_replace(file)); !s) return s;
  }
  if (Status s = content_.finish_folders(); !s) return s;
  const ContentFiles::Unsynced unsynced = content_.take_unsynced();
  Status synced = content_.sync(unsynced);
  if (!synced) content_.give_back(unsynced);
  return synced;
}

Error DiskStore::left_error() const {
  std::set<std::uint32_t> changed, unfinished;
  for (const std::uint32_t generation : ledger_.wanted_left()) {
    for (const content::FileSpan& span : content::spans_of(info_, generation)) {
      (content_.place(span.file) == Place::kFinished ? changed : unfinished).insert(span.file);
    }
  }
  std::string detail = "changed or moved away after it was complete, and left as it is: " +
                       names_of(changed, *files_, content_);
  if (!unfinished.empty()) {
    detail += "; not finished, as they share bytes: " + names_of(unfinished, *files_, content_);
  }
  detail +=
      ". The rest is complete. To get these too, move what stands there away, or use --overwrite, "
      "and run the same command";
  return {ErrorCode::kCorrupt, "finish " + files_->full_path(content_.top_name()), detail};
}

// --- the public doors ---

Result<std::unique_ptr<ContentStore>> ContentStore::open_download(const Manifest& manifest,
                                                                  const std::string& dir,
                                                                  const OpenOptions& options,
                                                                  Resumed& resumed) {
  if (Status s = content::check_top_name(manifest.info, {dir, options.as}); !s) return s.error();
  if (!options.mark.empty()) {
    const Result<bool> there = download_is_there(
        dir, manifest.id, content::top_name(manifest.info, options.as), options.mark);
    if (!there) return there.error();
    if (!*there)
      return Error{ErrorCode::kNotFound, "download to " + dir, "what it has had is not there"};
  }
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
