#include "client/store/generation_ledger.h"

#include <algorithm>

#include "client/content/division.h"

namespace firn::store {

void GenerationLedger::serve(std::vector<bool> verified) {
  const std::lock_guard lock(mutex_);
  verified_ = std::move(verified);
}

void GenerationLedger::download(std::vector<bool> verified, Journal& journal,
                                std::vector<bool> chosen) {
  const std::lock_guard lock(mutex_);
  journal_ = &journal;
  verified_ = std::move(verified);
  durable_ = verified_;
  missing_.assign(info_.files.size(), 0);
  for (std::uint32_t file = 0; file < info_.files.size(); ++file) {
    const content::GenerationRange range = content::generations_of(info_, file);
    missing_[file] = static_cast<std::uint32_t>(
        std::count(verified_.begin() + range.first, verified_.begin() + range.last, false));
  }
  set_choice(std::move(chosen));
}

void GenerationLedger::choose(std::vector<bool> chosen) {
  const std::lock_guard lock(mutex_);
  set_choice(std::move(chosen));
}

void GenerationLedger::set_choice(std::vector<bool> chosen) {
  chosen_ = std::move(chosen);
  wanted_ = content::wanted_generations(info_, chosen_);
  unnamed_.clear();
  for (std::uint32_t file = 0; file < info_.files.size(); ++file) {
    const bool on_its_way = info_.files[file].bytes > 0 && content_.place(file) == Place::kWork;
    if (on_its_way && ready(file)) unnamed_.push_back(file);
  }
}

bool GenerationLedger::ready(std::uint32_t file) const {
  return missing_[file] == 0 && content::is_chosen(chosen_, file);
}

void GenerationLedger::finish() {
  const std::lock_guard lock(mutex_);
  journal_ = nullptr;
}

bool GenerationLedger::left(std::uint32_t generation) const {
  const std::lock_guard lock(mutex_);
  return left_.contains(generation);
}

bool GenerationLedger::readable(std::uint32_t generation) const {
  const std::lock_guard lock(mutex_);
  return verified_[generation] || left_.contains(generation);
}

bool GenerationLedger::all_chosen() const {
  const std::lock_guard lock(mutex_);
  return content::all_chosen(chosen_);
}

bool GenerationLedger::chosen(std::uint32_t file) const {
  const std::lock_guard lock(mutex_);
  return content::is_chosen(chosen_, file);
}

std::vector<bool> GenerationLedger::choice() const {
  const std::lock_guard lock(mutex_);
  return chosen_;
}

bool GenerationLedger::everything_wanted_verified() const {
  const std::lock_guard lock(mutex_);
  for (std::uint32_t g = 0; g < verified_.size(); ++g) {
    if (wanted_[g] && !verified_[g] && !left_.contains(g)) return false;
  }
  return true;
}

bool GenerationLedger::to_be_named(std::uint32_t file) const {
  const std::lock_guard lock(mutex_);
  return ready(file);
}

std::set<std::uint32_t> GenerationLedger::wanted_left() const {
  const std::lock_guard lock(mutex_);
  std::set<std::uint32_t> left = left_;
  std::erase_if(left, [this](std::uint32_t g) { return !wanted_[g]; });
  return left;
}

Status GenerationLedger::written(std::uint32_t generation) {
  const std::lock_guard lock(mutex_);
  if (verified_[generation]) return Done{};
  if (Status s = journal_->append_verified(generation); !s) return s;
  std::erase(unjournalled_, generation);
  verified_[generation] = true;
  unmarked_.push_back(generation);
  count_down(generation);
  return Done{};
}

void GenerationLedger::count_down(std::uint32_t generation) {
  for (const content::FileSpan& span : content::spans_of(info_, generation)) {
    --missing_[span.file];
    if (ready(span.file) && content_.place(span.file) == Place::kWork)
      unnamed_.push_back(span.file);
  }
}

bool GenerationLedger::lose(std::uint32_t generation) {
  const auto spans = content::spans_of(info_, generation);
  const auto any_is = [&](Place place) {
    return std::ranges::any_of(
        spans, [&](const content::FileSpan& span) { return content_.place(span.file) == place; });
  };
  const bool in_work = !any_is(Place::kFinished) || any_is(Place::kAbsent);
  const std::lock_guard lock(mutex_);
  const bool ours = journal_ != nullptr && in_work;
  if (!verified_[generation]) return ours && !left_.contains(generation);
  verified_[generation] = false;
  if (!ours) left_.insert(generation);
  if (journal_ == nullptr) return false;

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

void GenerationLedger::regain(std::uint32_t generation) {
  const std::lock_guard lock(mutex_);
  if (left_.erase(generation) == 0) return;
  verified_[generation] = true;
  if (journal_ != nullptr) count_down(generation);
}

Status GenerationLedger::journal_losses() {
  const std::lock_guard lock(mutex_);
  while (!unjournalled_.empty()) {
    if (Status s = journal_->append_lost(unjournalled_.back()); !s) return s;
    unjournalled_.pop_back();
  }
  return Done{};
}

std::vector<std::uint32_t> GenerationLedger::unmarked() const {
  const std::lock_guard lock(mutex_);
  return unmarked_;
}

GenerationLedger::Covered GenerationLedger::begin_sync() {
  const std::lock_guard lock(mutex_);
  return {journal_->records(), unmarked_.size(), std::exchange(unnamed_, {})};
}

Status GenerationLedger::mark(const Covered& covered) {
  {
    const std::lock_guard lock(mutex_);
    if (covered.generations == 0 && !losses_unsynced_) return Done{};
  }
  // Without the lock, as it waits for the disk: generations are written meanwhile.
  if (Status s = journal_->mark(covered.records); !s) return s;
  const std::lock_guard lock(mutex_);
  losses_unsynced_ = false;
  const auto end = unmarked_.begin() + static_cast<std::ptrdiff_t>(covered.generations);
  for (auto generation = unmarked_.begin(); generation != end; ++generation) {
    durable_[*generation] = true;
  }
  unmarked_.erase(unmarked_.begin(), end);
  return Done{};
}

void GenerationLedger::give_back(const std::vector<std::uint32_t>& files) {
  const std::lock_guard lock(mutex_);
  unnamed_.insert(unnamed_.end(), files.begin(), files.end());
}

bool GenerationLedger::keep_rows(std::uint32_t generation) {
  // Rows that have reached the disk are not given up for data that has not.
  const std::lock_guard lock(mutex_);
  if (!verified_[generation] || durable_[generation]) return false;
  drops_.push_back(generation);
  return true;
}

bool GenerationLedger::keeps_rows() const {
  const std::lock_guard lock(mutex_);
  return !drops_.empty();
}

std::vector<std::uint32_t> GenerationLedger::take_droppable() {
  const std::lock_guard lock(mutex_);
  const auto waiting = std::partition(drops_.begin(), drops_.end(),
                                      [this](std::uint32_t g) { return !durable_[g]; });
  const std::vector<std::uint32_t> ready(waiting, drops_.end());
  drops_.erase(waiting, drops_.end());
  return ready;
}

void GenerationLedger::give_back_droppable(std::span<const std::uint32_t> generations) {
  const std::lock_guard lock(mutex_);
  drops_.insert(drops_.end(), generations.begin(), generations.end());
}

}  // namespace firn::store
