#include "client/core/manifest_fetch.h"

#include <algorithm>
#include <utility>

#include "client/core/manifest_patience.h"
#include "client/core/policy/constants.h"
#include "proto/base/address.h"
#include "proto/base/limits.h"

namespace firn::core {

ManifestFetch::ManifestFetch(const Context& context, Life& life, Membership& membership,
                             Outbox& outbox)
    : context_(context), life_(life), membership_(membership), outbox_(outbox) {}

// --- from neighbours ---

// It was not asked before, or it has answered, and that long enough ago.
bool ManifestFetch::may_ask(PeerKey peer) const {
  const auto it = asked_.find(peer);
  return it == asked_.end() || (it->second.answered && it->second.again <= context_.now);
}

Neighbour* ManifestFetch::next_holder() {
  for (Neighbour& n : membership_.neighbours()) {
    if (n.contact.greeted() && n.contact.has_manifest() && may_ask(n.key)) return &n;
  }
  return nullptr;
}

// One at a time. A slow one is given up only where there is another to ask: it may be slow because
// a limit shares its uplink among many, and then its answer still comes.
void ManifestFetch::ask() {
  if (found_ || (source_ != kNoPeer && !overdue())) return;
  Neighbour* n = next_holder();
  if (!n) return;
  source_ = n->key;
  asked_[n->key] = {context_.now + policy::kManifestAskAgain, false};
  data_.clear();
  total_ = 0;
  began_ = last_ = context_.now;
  outbox_.send(*n, proto::ManifestRequest{0});
}

bool ManifestFetch::fits(const proto::ManifestPart& part) const {
  const bool first = data_.empty();
  return part.offset == data_.size() && !part.data.empty() &&
         part.total_bytes <= limits::kManifestBytesMax && (first || part.total_bytes == total_) &&
         part.data.size() <= part.total_bytes - part.offset;
}

ManifestFetch::Progress ManifestFetch::take_part(PeerKey peer, const proto::ManifestPart& part) {
  if (const auto asked = asked_.find(peer); asked != asked_.end()) asked->second.answered = true;
  if (peer != source_) return Progress::kNone;  // late, after we gave it up
  last_ = context_.now;
  if (part.total_bytes == 0) {
    give_up();
    return Progress::kNone;
  }
  if (!fits(part)) {
    give_up();
    return Progress::kFalse;
  }
  total_ = part.total_bytes;
  data_ += part.data;
  if (data_.size() < total_) {
    asked_[peer].answered = false;
    return Progress::kMore;
  }
  Result<Manifest> manifest = read(data_);
  give_up();
  if (!manifest.ok()) return Progress::kFalse;
  arrived(*std::move(manifest));
  return Progress::kDone;
}

void ManifestFetch::part(Neighbour& n, const proto::ManifestPart& part) {
  if (found_) return;
  switch (take_part(n.key, part)) {
    case Progress::kMore:
      life_.progress(context_.now);
      outbox_.send(n, proto::ManifestRequest{data_.size()});
      break;
    case Progress::kDone:
      break;
    case Progress::kFalse:
      membership_.punish(n.id, proto::GoodbyeReason::kProtocolError, "sent a false manifest");
      ask();
      break;
    case Progress::kNone:
      ask();
      break;
  }
}

void ManifestFetch::give_up() {
  source_ = kNoPeer;
  data_.clear();
}

void ManifestFetch::leaves(const Neighbour& n) {
  asked_.erase(n.key);
  if (n.key == source_) give_up();
}

// Until when the source must have sent the next part.
TimeUs ManifestFetch::patience() const {
  return manifest_patience(began_, last_, data_.size(), policy::kManifestTimeout);
}

TimeUs ManifestFetch::next_due() const {
  if (found_) return kNever;
  TimeUs at = source_ != kNoPeer && !overdue() ? patience() : kNever;
  for (const auto& [peer, asked] : asked_) {
    if (asked.answered && asked.again > context_.now) at = std::min(at, asked.again);
  }
  return at;
}

// --- from trackers ---

void ManifestFetch::offered_by(std::size_t tracker) {
  if (found_ || std::exchange(tracker_busy_, true)) return;
  outbox_.push(FetchManifestFrom{tracker});
}

void ManifestFetch::tracker_answered(std::size_t tracker, const Result<std::string>& file_bytes) {
  tracker_busy_ = false;
  if (found_ || life_.stopped()) return;
  auto manifest = file_bytes.ok() ? read(*file_bytes) : file_bytes.error();
  if (manifest.ok()) return arrived(*std::move(manifest));
  outbox_.warn("manifest from tracker " + to_text(context_.options.trackers[tracker]) + ": " +
               manifest.error().message());
}

// The manifest in a file that came from the network, without the trackers it names. Errors: those
// of parse_manifest, for another content's too.
Result<Manifest> ManifestFetch::read(std::string_view file_bytes) const {
  Result<Manifest> manifest = parse_manifest(file_bytes, context_.content_id);
  if (!manifest.ok() || manifest->trackers.empty()) return manifest;
  return with_trackers(*manifest, {});
}

void ManifestFetch::arrived(Manifest manifest) {
  found_ = true;
  life_.progress(context_.now);
  outbox_.push(ManifestArrived{std::move(manifest)});
}

}  // namespace firn::core
