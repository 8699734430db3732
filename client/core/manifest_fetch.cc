#include "client/core/manifest_fetch.h"

#include "client/core/policy.h"
#include "proto/limits.h"
#include "proto/manifest.h"

namespace firn::core {

proto::ManifestRequest ManifestFetch::begin(PeerKey peer, TimeUs now) {
  source_ = peer;
  tried_.insert(peer);
  data_.clear();
  total_ = 0;
  last_ = now;
  return {0};
}

ManifestFetch::Step ManifestFetch::part(PeerKey peer, const proto::ManifestPart& part, TimeUs now) {
  if (peer != source_) return {Progress::kNone, {}};  // late, after we gave it up
  last_ = now;
  if (part.total_bytes == 0) {
    peer_gone(peer);
    return {Progress::kNone, {}};
  }
  const bool first = data_.empty();
  if (part.offset != data_.size() || part.data.empty() ||
      part.total_bytes > limits::kManifestBytesMax || (!first && part.total_bytes != total_) ||
      part.data.size() > part.total_bytes - part.offset) {
    peer_gone(peer);
    return {Progress::kFalse, {}};
  }
  total_ = part.total_bytes;
  data_ += part.data;
  if (data_.size() < total_) return {Progress::kMore, {data_.size()}};
  if (fits(data_)) return {Progress::kDone, {}};
  peer_gone(peer);
  return {Progress::kFalse, {}};
}

void ManifestFetch::peer_gone(PeerKey peer) {
  if (peer != source_) return;
  source_ = kNoPeer;
  data_.clear();
}

bool ManifestFetch::review(TimeUs now) {
  if (source_ == kNoPeer || now - last_ < policy::kManifestTimeout) return false;
  peer_gone(source_);
  return true;
}

TimeUs ManifestFetch::next_review() const {
  return source_ == kNoPeer ? kNever : last_ + policy::kManifestTimeout;
}

bool ManifestFetch::fits(std::string_view file_bytes) const {
  const auto id = manifest_content_id(file_bytes);
  return id.ok() && id.value() == id_;
}

}  // namespace firn::core
