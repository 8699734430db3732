#include "client/core/manifest/manifest_fetch.h"

#include <algorithm>
#include <utility>

#include "client/core/manifest/manifest_patience.h"
#include "proto/base/address.h"
#include "proto/base/limits.h"
#include "proto/content/publisher.h"

namespace firn::core {

namespace {

constexpr TimeUs kManifestTimeout = 10 * kSecond;   // for a part; then another is asked
constexpr TimeUs kManifestAskAgain = 30 * kSecond;  // the same neighbour
constexpr std::size_t kDownloadsMax = 2;
// How long known sources that have said nothing yet put off the end after a wrong envelope: names
// of such sources may be made up without end.
constexpr TimeUs kSilentSourcesWait = 60 * kSecond;

// Its sender's fault.
bool is_false(const Error& error) {
  return error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kBadInput;
}
}  // namespace

void ManifestFetch::set_found() {
  life_.found_manifest();
  while (!downloads_.empty()) give_up(downloads_.back().source);
}

void ManifestFetch::step() {
  if (found()) return;
  ask_tracker();
  while (Neighbour* const n = next_holder()) {
    if (!make_place()) break;
    ask_neighbour(*n);
  }
  if (foreign_) foreign_->others_wait = others_wait();
}

bool ManifestFetch::others_wait() {
  const auto sends = [this](const Download& one) { return context_.now < patience(one); };
  if (tracker_busy_ || next_holder() || std::ranges::any_of(downloads_, sends)) return true;
  if (context_.now >= foreign_->since + kSilentSourcesWait) return false;
  const PeerBook& book = membership_.book();
  return book.calling() > 0 || book.has_untried(context_.now) ||
         std::ranges::any_of(trackers_.standings(), [](const TrackerStanding& one) {
           return one.kind == TrackerStanding::Kind::kNoAnswerYet;
         });
}

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

// For one more download. Of those whose patience is over the slowest makes place, of equals the one
// that was asked last; and no other does.
bool ManifestFetch::make_place() {
  // A neighbour may be slow because a limit shares its uplink among many.
  const auto is_slow = [this](const Download& one) {
    return !one.whole && context_.now - one.began >= kManifestTimeout;
  };
  if (!std::ranges::all_of(downloads_, is_slow)) return false;
  if (downloads_.size() < kDownloadsMax) return true;
  const Download* slowest = nullptr;
  double lowest = 0;
  for (const Download& one : downloads_) {
    const TimeUs span = std::max<TimeUs>(context_.now - one.began, 1);
    const double rate = static_cast<double>(one.bytes) / static_cast<double>(span);
    if (context_.now < patience(one) || (slowest && rate > lowest)) continue;
    slowest = &one;
    lowest = rate;
  }
  if (slowest) give_up(slowest->source);
  return slowest != nullptr;
}

void ManifestFetch::ask_neighbour(Neighbour& n) {
  downloads_.push_back({n.key, context_.now, context_.now});
  asked_[n.key] = {context_.now + kManifestAskAgain, false};
  outbox_.send(n, proto::ManifestRequest{0});
}

// Until when it must have sent its next part, for others to wait for it.
TimeUs ManifestFetch::patience(const Download& download) {
  if (download.whole) return kNever;
  return manifest_patience(download.began, download.last, download.bytes, kManifestTimeout);
}

bool ManifestFetch::fits(const Download& download, const proto::ManifestPart& part) {
  const std::uint64_t have = download.bytes;
  return !download.whole && part.offset == have && !part.data.empty() &&
         part.total_bytes <= limits::kManifestBytesMax &&
         (have == 0 || part.total_bytes == download.total) &&
         part.data.size() <= part.total_bytes - part.offset;
}

void ManifestFetch::part(Neighbour& n, proto::ManifestPart&& part) {
  if (found()) return;
  if (const auto asked = asked_.find(n.key); asked != asked_.end()) asked->second.answered = true;
  const auto download = std::ranges::find(downloads_, n.key, &Download::source);
  // Otherwise it is late: we gave its sender up.
  if (download != downloads_.end()) take(n, *download, std::move(part));
  step();
}

void ManifestFetch::take(Neighbour& n, Download& download, proto::ManifestPart&& part) {
  if (!fits(download, part)) {
    const bool has_none = part.total_bytes == 0;
    give_up(n.key);
    if (!has_none) punish(n);
    return;
  }
  download.last = context_.now;
  download.total = part.total_bytes;
  download.bytes += part.data.size();
  download.whole = download.bytes == download.total;
  // After a wrong envelope parts alone are no progress: strangers could send such for ever.
  if (!foreign_) life_.progress(context_.now);
  outbox_.push(KeepManifestPart{n.key, std::move(part)});
  if (download.whole) return;
  asked_[n.key].answered = false;
  outbox_.send(n, proto::ManifestRequest{download.bytes});
}

void ManifestFetch::neighbour_read(PeerKey peer, const Result<std::string>& file_bytes) {
  const auto download = std::ranges::find(downloads_, peer, &Download::source);
  if (found() || download == downloads_.end() || !download->whole) return;  // it has left
  Neighbour& n = *membership_.find(peer);
  give_up(peer);
  Result<Manifest> manifest = file_bytes.ok()
                                  ? parse_strangers_manifest(*file_bytes, context_.content_id)
                                  : file_bytes.error();
  if (manifest.ok()) {
    if (!take_whole(std::move(manifest), "peer " + n.name()))
      asked_[peer].again = kNever;  // it has no other
  } else if (is_false(manifest.error())) {
    punish(n);
  } else {
    outbox_.warn("manifest from peer " + n.name() + ": " + manifest.error().message(), "manifest");
  }
  step();
}

void ManifestFetch::punish(const Neighbour& n) {
  membership_.punish(n.id, proto::GoodbyeReason::kProtocolError, "sent a false manifest");
}

void ManifestFetch::give_up(PeerKey source) {
  if (std::erase_if(downloads_, [source](auto& one) { return one.source == source; }) > 0)
    outbox_.push(KeepManifestPart{source, {}});
}

void ManifestFetch::neighbour_left(const Neighbour& n) {
  asked_.erase(n.key);
  give_up(n.key);
}

TimeUs ManifestFetch::next_due() {
  if (found()) return kNever;
  TimeUs at = kNever;
  const auto due = [&](TimeUs then) {
    if (then > context_.now) at = std::min(at, then);
  };
  for (const Download& one : downloads_) {
    due(one.began + kManifestTimeout);
    due(patience(one));
  }
  for (const auto& [peer, asked] : asked_) {
    if (asked.answered) due(asked.again);
  }
  if (foreign_) due(foreign_->since + kSilentSourcesWait);
  return at;
}

// --- from trackers ---

void ManifestFetch::ask_tracker() {
  if (tracker_busy_ || offers_.empty()) return;
  tracker_busy_ = true;
  outbox_.push(FetchManifestFrom{*offers_.begin()});
  offers_.erase(offers_.begin());
}

void ManifestFetch::tracker_answered(std::size_t tracker, const Result<std::string>& file_bytes) {
  tracker_busy_ = false;
  if (found() || life_.stopped()) return;
  const std::string name = "tracker " + to_text(context_.options.trackers[tracker]);
  auto manifest = file_bytes.ok() ? parse_strangers_manifest(*file_bytes, context_.content_id)
                                  : file_bytes.error();
  if (manifest.ok())
    take_whole(std::move(manifest), name);
  else
    outbox_.warn("manifest from " + name + ": " + manifest.error().message(), "manifest");
}

// --- from both ---

bool ManifestFetch::take_whole(Result<Manifest> manifest, const std::string& source) {
  const auto& publisher = context_.options.publisher;
  const Status right = publisher ? check_published_by(*manifest, *publisher) : Status(Done{});
  if (!right.ok()) {
    if (!foreign_) foreign_ = {right.error(), context_.now};
    outbox_.warn(
        "manifest from " + source + ": " + right.error().message() + "; asking all other sources",
        "envelope");
    return false;
  }
  set_found();
  life_.progress(context_.now);
  outbox_.push(ManifestArrived{*std::move(manifest)});
  return true;
}

}  // namespace firn::core
