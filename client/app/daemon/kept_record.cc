#include "client/app/daemon/kept_record.h"

#include <array>
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
  std::array<KeptContent, 2> swapped = {kept_, other.kept_};
  std::swap(swapped[0].position, swapped[1].position);
  if (const Status kept = store_.update_all(swapped); !kept.ok()) return kept;
  kept_ = std::move(swapped[0]);
  other.kept_ = std::move(swapped[1]);
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
