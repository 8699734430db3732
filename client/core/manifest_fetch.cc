#include "client/core/manifest_fetch.h"

#include <algorithm>

#include "client/core/manifest_patience.h"
#include "client/core/policy/constants.h"
#include "proto/limits.h"

namespace firn::core {

proto::ManifestRequest ManifestFetch::begin(PeerKey peer, TimeUs now) {
  source_ = peer;
  asked_[peer] = {now + policy::kManifestAskAgain, false};
  data_.clear();
  total_ = 0;
  began_ = last_ = now;
  return {0};
}

ManifestFetch::Step ManifestFetch::part(PeerKey peer, const proto::ManifestPart& part, TimeUs now) {
  if (const auto asked = asked_.find(peer); asked != asked_.end()) asked->second.answered = true;
  if (peer != source_) return {Progress::kNone, {}};  // late, after we gave it up
  last_ = now;
  if (part.total_bytes == 0) {
    give_up();
    return {Progress::kNone, {}};
  }
  const bool first = data_.empty();
  if (part.offset != data_.size() || part.data.empty() ||
      part.total_bytes > limits::kManifestBytesMax || (!first && part.total_bytes != total_) ||
      part.data.size() > part.total_bytes - part.offset) {
    give_up();
    return {Progress::kFalse, {}};
  }
  total_ = part.total_bytes;
  data_ += part.data;
  if (data_.size() < total_) {
    asked_[peer].answered = false;
    return {Progress::kMore, {data_.size()}};
  }
  Result<Manifest> manifest = read(data_);
  give_up();
  if (!manifest.ok()) return {Progress::kFalse, {}};
  found_ = *std::move(manifest);
  return {Progress::kDone, {}};
}

bool ManifestFetch::may_ask(PeerKey peer, TimeUs now) const {
  const auto it = asked_.find(peer);
  return it == asked_.end() || (it->second.answered && it->second.again <= now);
}

void ManifestFetch::give_up() {
  source_ = kNoPeer;
  data_.clear();
}

void ManifestFetch::peer_gone(PeerKey peer) {
  asked_.erase(peer);
  if (peer == source_) give_up();
}

TimeUs ManifestFetch::patience() const {
  return manifest_patience(began_, last_, data_.size(), policy::kManifestTimeout);
}

TimeUs ManifestFetch::next_review(TimeUs now) const {
  TimeUs at = source_ != kNoPeer && !overdue(now) ? patience() : kNever;
  for (const auto& [peer, asked] : asked_) {
    if (asked.answered && asked.again > now) at = std::min(at, asked.again);
  }
  return at;
}

Result<Manifest> ManifestFetch::read(std::string_view file_bytes) const {
  Result<Manifest> manifest = parse_manifest(file_bytes, id_);
  if (!manifest.ok() || manifest->trackers.empty()) return manifest;
  return with_trackers(*manifest, {});
}

}  // namespace firn::core
