#include "client/store/disk_store.h"

#include <algorithm>

#include "client/content/division.h"

namespace firn::store {

Error DiskStore::not_downloading(const char* what) const {
  return {ErrorCode::kInternal, std::string(what) + " in " + files_->full_path(info_.name),
          "this content is not being downloaded"};
}

Status DiskStore::write_generation(std::uint32_t generation, std::span<const std::uint8_t> data) {
  FIRN_CHECK(generation < info_.shape.generation_count());
  FIRN_CHECK(data.size() == info_.shape.padded_bytes(generation));
  if (phase_ != Phase::kDownloading) return not_downloading("write a generation");
  {
    const std::lock_guard lock(state_mutex_);
    if (left_.contains(generation)) {
      return Error{ErrorCode::kExists, "write generation " + std::to_string(generation),
                   "a file of it bears its final name and is left as it is"};
    }
  }
  const std::uint64_t offset = generation * info_.shape.generation_bytes();
  const std::uint64_t bytes = info_.shape.bytes_in_generation(generation);
  if (Status s = content_.write(offset, data.first(bytes)); !s) return s;
  return record(generation);
}

// The data is in its files and noted as unsynced: the order that sync relies on.
Status DiskStore::record(std::uint32_t generation) {
  const std::lock_guard lock(state_mutex_);
  if (verified_[generation]) return Done{};
  if (Status s = journal_->append_verified(generation); !s) return s;
  std::erase(unjournalled_, generation);
  verified_[generation] = true;
  unmarked_.push_back(generation);
  for (const content::FileSpan& span : spans_of(generation)) {
    if (--missing_[span.file] == 0 && content_.place(span.file) == Place::kWork)
      unnamed_.push_back(span.file);
  }
  return Done{};
}

Status DiskStore::read_generation(std::uint32_t generation, std::span<std::uint8_t> out) const {
  FIRN_CHECK(generation < info_.shape.generation_count());
  FIRN_CHECK(out.size() == info_.shape.padded_bytes(generation));
  const std::string operation = "read generation " + std::to_string(generation);
  {
    const std::lock_guard lock(state_mutex_);
    if (!verified_[generation] && !left_.contains(generation)) {
      return Error{ErrorCode::kNotFound, operation, "it is not complete yet"};
    }
  }
  Result<bool> right = generation_is_right(content_, info_, generation, out);
  if (!right) return right.error();
  if (*right) return Done{};
  std::string names;
  const auto spans = spans_of(generation);
  constexpr std::size_t kNamesMax = 4;
  for (std::size_t i = 0; i < std::min(spans.size(), kNamesMax); ++i) {
    if (i > 0) names += ", ";
    names += files_->full_path(content_.final_name(spans[i].file));
  }
  if (spans.size() > kNamesMax) names += ", ...";
  return Error{ErrorCode::kCorrupt, operation + " from " + names,
               "the bytes on disk were changed and are not those of the manifest"};
}

Status DiskStore::write_row(const SpooledRow& row, std::span<const std::uint8_t> payload) {
  if (phase_ != Phase::kDownloading) return not_downloading("spool a block");
  return spool_->write(row, payload);
}

Status DiskStore::read_row(std::uint32_t generation, std::uint32_t slot,
                           std::span<std::uint8_t> payload_out) const {
  if (phase_ != Phase::kDownloading) return not_downloading("read a spooled block");
  return spool_->read(generation, slot, payload_out);
}

Status DiskStore::drop_rows(std::uint32_t generation) {
  if (phase_ != Phase::kDownloading) return Done{};
  {
    // Rows that have reached the disk are not given up for data that has not.
    const std::lock_guard lock(state_mutex_);
    if (verified_[generation] && !durable_[generation]) {
      drops_.push_back(generation);
      return Done{};
    }
  }
  return spool_->drop(generation);
}

Status DiskStore::sync() {
  const std::lock_guard sync_lock(sync_mutex_);
  // Not before: while we waited, finish() may have removed the work folder.
  return phase_ == Phase::kDownloading ? sync_now() : Done{};
}

Status DiskStore::sync_now() {
  if (Status s = journal_->check_present(); !s) return s;
  if (Status s = journal_losses(); !s) return s;
  if (Status s = write_again(); !s) return s;

  std::vector<std::uint32_t> complete;
  std::uint64_t covered = 0;
  std::size_t unmarked = 0;
  {
    const std::lock_guard lock(state_mutex_);
    complete = std::exchange(unnamed_, {});
    covered = journal_->records();
    unmarked = unmarked_.size();
  }
  Status synced = sync_data(covered, unmarked);
  if (!synced) {
    const std::lock_guard lock(state_mutex_);
    unnamed_.insert(unnamed_.end(), complete.begin(), complete.end());
    return synced;
  }
  Status named = name_files(complete);
  Status freed = free_dropped();
  return named ? freed : named;
}

// After a failed sync the kernel may have dropped what it could not write, and call it clean: the
// generations in doubt are read back (and checked) and written once more. One that reads back wrong
// is lost: what was written is gone from memory too.
Status DiskStore::write_again() {
  if (!data_in_doubt_) return Done{};
  std::vector<std::uint32_t> generations;
  {
    const std::lock_guard lock(state_mutex_);
    generations = unmarked_;
  }
  std::vector<std::uint8_t> buffer(info_.shape.generation_bytes());
  for (const std::uint32_t generation : generations) {
    const auto whole = std::span(buffer).first(info_.shape.padded_bytes(generation));
    if (Status s = read_generation(generation, whole); !s) {
      if (s.error().code != ErrorCode::kCorrupt) return s;
      if (unverify(generation)) found_.push_back(generation);
      continue;
    }
    const std::uint64_t bytes = info_.shape.bytes_in_generation(generation);
    const auto data = std::span<const std::uint8_t>(buffer).first(bytes);
    if (Status s = content_.write(generation * info_.shape.generation_bytes(), data); !s) return s;
  }
  data_in_doubt_ = false;
  return Done{};
}

// Data first, then the mark that speaks of it. `covered` records and the first `unmarked` of
// unmarked_ were there before the data was synced.
Status DiskStore::sync_data(std::uint64_t& covered, std::size_t& unmarked) {
  const ContentFiles::Unsynced unsynced = content_.take_unsynced();
  if (Status s = content_.sync(unsynced); !s) {
    content_.give_back(unsynced);
    data_in_doubt_ = true;
    return s;
  }
  if (Status s = spool_->sync(); !s) return s;
  if (unmarked == 0 && !losses_unsynced_) return Done{};
  if (Status s = journal_->mark(covered); !s) return s;
  losses_unsynced_ = false;
  const std::lock_guard lock(state_mutex_);
  const auto end = unmarked_.begin() + static_cast<std::ptrdiff_t>(unmarked);
  for (auto generation = unmarked_.begin(); generation != end; ++generation) {
    durable_[*generation] = true;
  }
  unmarked_.erase(unmarked_.begin(), end);
  return Done{};
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
  const std::lock_guard lock(state_mutex_);
  unnamed_.insert(unnamed_.end(), left.begin(), left.end());
  return result;
}

Status DiskStore::free_dropped() {
  std::vector<std::uint32_t> ready;
  {
    const std::lock_guard lock(state_mutex_);
    const auto waiting = std::partition(drops_.begin(), drops_.end(),
                                        [this](std::uint32_t g) { return !durable_[g]; });
    ready.assign(waiting, drops_.end());
    drops_.erase(waiting, drops_.end());
  }
  for (std::size_t i = 0; i < ready.size(); ++i) {
    if (Status s = spool_->drop(ready[i]); !s) {
      const std::lock_guard lock(state_mutex_);
      drops_.insert(drops_.end(), ready.begin() + static_cast<std::ptrdiff_t>(i), ready.end());
      return s;
    }
  }
  return Done{};
}

bool DiskStore::everything_verified() const {
  const std::lock_guard lock(state_mutex_);
  for (std::uint32_t g = 0; g < verified_.size(); ++g) {
    if (!verified_[g] && !left_.contains(g)) return false;
  }
  return true;
}

Result<bool> DiskStore::finish() {
  const std::lock_guard sync_lock(sync_mutex_);
  if (phase_ == Phase::kDownloading) {
    if (!everything_verified()) return false;
    if (Status s = sync_now(); !s) return s.error();
    if (!everything_verified()) return false;
    reread_left();
    if (Status s = finish_names(); !s) return s.error();
    if (!left_.empty()) return left_error();
    phase_ = Phase::kFinished;
  }
  if (phase_ == Phase::kFinished) {
    if (Status s = remove_work(); !s) return s.error();
    phase_ = Phase::kServing;
  }
  return true;
}

Status DiskStore::finish_names() {
  if (info_.files.empty()) {
    if (Status s = files_->make_folders(info_.name); !s) return s;
    return files_->sync_folder("");
  }
  for (std::uint32_t file = 0; file < info_.files.size(); ++file) {
    if (content_.place(file) == Place::kFinished || missing_[file] > 0) continue;
    if (Status s = content_.finish_file(file, may_replace(file)); !s) return s;
  }
  const ContentFiles::Unsynced unsynced = content_.take_unsynced();
  Status synced = content_.sync(unsynced);
  if (!synced) content_.give_back(unsynced);
  return synced;
}

// The lock goes last, with everything else in an order that loses least if it is cut short.
Status DiskStore::remove_work() {
  spool_->close();
  for (const char* name : {"/data", "/spool", "/journal", "/journal.new", "/manifest.firn",
                           "/manifest.firn.new", "/lock"}) {
    if (Status s = remove_tree(*files_, work_ + name); !s) return s;
  }
  if (Result<bool> removed = files_->remove_folder(work_); !removed) return removed.error();
  if (Result<bool> removed = files_->remove_folder(parent_of(work_)); !removed) {
    return removed.error();
  }
  lock_.reset();
  return Done{};
}

}  // namespace firn::store
