// Verified generations that turn out to be changed or gone.
//
// What lies in the work folder is ours and is written again. A file with its final name is the
// user's, who may have edited it or moved it away: nothing is written into it, whatever it holds.
#include <algorithm>

#include "client/store/disk_store.h"

namespace firn::store {

std::vector<content::FileSpan> DiskStore::spans_of(std::uint32_t generation) const {
  return content::spans_of(info_, generation * info_.shape.generation_bytes(),
                           info_.shape.bytes_in_generation(generation));
}

bool DiskStore::lose_generation(std::uint32_t generation) {
  FIRN_CHECK(generation < info_.shape.generation_count());
  const std::lock_guard sync_lock(sync_mutex_);  // no file gets its name meanwhile
  return unverify(generation);
}

// True if it may be written again.
bool DiskStore::unverify(std::uint32_t generation) {
  const auto spans = spans_of(generation);
  const bool ours = phase_ == Phase::kDownloading &&
                    std::none_of(spans.begin(), spans.end(), [this](const content::FileSpan& span) {
                      return content_.place(span.file) == Place::kFinished;
                    });
  const std::lock_guard lock(state_mutex_);
  if (!verified_[generation]) return ours;
  verified_[generation] = false;
  if (!ours) left_.insert(generation);
  if (phase_ != Phase::kDownloading) return false;

  for (const content::FileSpan& span : spans) {
    ++missing_[span.file];
    std::erase(unnamed_, span.file);
  }
  if (ours) {
    for (const content::FileSpan& span : spans) content_.doubt(span.file);
    durable_[generation] = false;
    std::erase(unmarked_, generation);
  }
  losses_unsynced_ = true;
  if (!journal_->append_lost(generation).ok()) unjournalled_.push_back(generation);
  return ours;
}

// The next sync() writes what the journal did not take, and fails if it still does not.
Status DiskStore::journal_losses() {
  const std::lock_guard lock(state_mutex_);
  while (!unjournalled_.empty()) {
    if (Status s = journal_->append_lost(unjournalled_.back()); !s) return s;
    unjournalled_.pop_back();
  }
  return Done{};
}

std::vector<std::uint32_t> DiskStore::take_lost() {
  const std::lock_guard sync_lock(sync_mutex_);
  return std::exchange(found_, {});
}

void DiskStore::regain_generation(std::uint32_t generation) {
  const std::lock_guard sync_lock(sync_mutex_);
  verify_again(generation);
}

// The journal goes on calling it lost: a later run then hashes its finished files once more.
void DiskStore::verify_again(std::uint32_t generation) {
  const std::lock_guard lock(state_mutex_);
  if (left_.erase(generation) == 0) return;
  verified_[generation] = true;
  if (phase_ != Phase::kDownloading) return;
  for (const content::FileSpan& span : spans_of(generation)) {
    if (--missing_[span.file] == 0 && content_.place(span.file) == Place::kWork) {
      unnamed_.push_back(span.file);
    }
  }
}

// An edit may have been undone, or a file moved back.
void DiskStore::reread_left() {
  std::vector<std::uint8_t> buffer(info_.shape.generation_bytes());
  const std::set<std::uint32_t> left = left_;
  for (const std::uint32_t generation : left) {
    Result<bool> right = generation_is_right(content_, info_, generation, buffer);
    if (right.ok() && *right) verify_again(generation);
  }
}

Error DiskStore::left_error() const {
  std::set<std::uint32_t> changed, unfinished;
  for (const std::uint32_t generation : left_) {
    for (const content::FileSpan& span : spans_of(generation)) {
      (content_.place(span.file) == Place::kFinished ? changed : unfinished).insert(span.file);
    }
  }
  const auto names = [this](const std::set<std::uint32_t>& files) {
    constexpr std::size_t kNamesMax = 4;
    std::string text;
    std::size_t named = 0;
    for (const std::uint32_t file : files) {
      if (named++ == kNamesMax) return text + ", ...";
      text += (text.empty() ? "" : ", ") + files_->full_path(content_.final_name(file));
    }
    return text;
  };
  std::string detail =
      "changed or moved away after it was complete, and left as it is: " + names(changed);
  if (!unfinished.empty()) detail += "; not finished, as they share bytes: " + names(unfinished);
  detail +=
      ". The rest is complete. To get these too, move what stands there away, or use --overwrite, "
      "and run the same command";
  return {ErrorCode::kCorrupt, "finish " + files_->full_path(info_.name), detail};
}

}  // namespace firn::store
