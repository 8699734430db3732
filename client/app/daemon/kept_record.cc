#include "client/app/daemon/kept_record.h"

#include <utility>

namespace firn::app {
namespace {

constexpr core::TimeUs kSaveAgain = 5 * core::kSecond;

}  // namespace

KeptRecord::~KeptRecord() {
  if (unsaved_) save();
}

Status KeptRecord::put(KeptContent to) {
  if (const Status kept = store_.update(to); !kept.ok()) return kept;
  kept_ = std::move(to);
  return Done{};
}

Status KeptRecord::put_manifest(const std::string& manifest) {
  if (const Status kept = store_.keep_manifest(kept_.id, manifest); !kept.ok()) return kept;
  kept_.manifest = manifest;
  return Done{};
}

Status KeptRecord::swap_position(KeptRecord& other) {
  KeptContent mine = kept_, theirs = other.kept_;
  std::swap(mine.position, theirs.position);
  if (const Status kept = store_.update_both(mine, theirs); !kept.ok()) return kept;
  kept_ = std::move(mine);
  other.kept_ = std::move(theirs);
  return Done{};
}

void KeptRecord::set(KeptContent to) {
  kept_ = std::move(to);
  save();
}

void KeptRecord::forget() {
  forgotten_ = true;
  save();
}

void KeptRecord::retry() {
  if (unsaved_ && loop_.now() >= save_at_) save();
}

void KeptRecord::save() {
  const Status saved = forgotten_ ? store_.erase(kept_.id) : store_.update(kept_);
  const bool told = std::exchange(unsaved_, !saved.ok());
  if (saved.ok()) {
    if (told) console_.info(name_ + ": the change is saved now", kept_.id);
    return;
  }
  save_at_ = loop_.now() + kSaveAgain;
  if (told) return;
  console_.warning(name_ + ": the change is not saved yet, and lost if the daemon ends: " +
                       saved.error().message(),
                   kept_.id);
}

}  // namespace firn::app
