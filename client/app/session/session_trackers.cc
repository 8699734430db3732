#include "client/app/session/session_trackers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "client/core/base/types.h"
#include "client/privacy/manifest_seal.h"
#include "proto/base/address_kind.h"

namespace firn::app {

using core::SwarmCore;

SessionTrackers::SessionTrackers(const SessionHost& host, const SessionPlan& plan, CoreDoors& core,
                                 GivenSources& sources, ManifestStaging& staging)
    : host_(host), plan_(plan), core_(core), sources_(sources), staging_(staging) {
  for (const Address& address : plan.core.trackers)
    clients_.push_back(std::make_unique<TrackerClient>(
        host.connections, clients_.size(), address, plan.id_for_trackers(), *this,
        plan.core.memory_bytes / kManifestMemoryShare));
}

void SessionTrackers::announce(const core::AnnounceTo& action, core::TimeUs now) {
  proto::Announce announce = action.announce;
  // A tracker must not learn the publisher of a private content, nor how far its peers are.
  if (plan_.keys) {
    announce.signer.reset();
  } else if (!announce.complete) {
    const core::Report report = core_.facts().report(core::ReportOn::kTotals);
    // 1: not known yet
    const std::uint64_t total = std::max<std::uint64_t>(report.rank_total_of_all, 1);
    announce.lacks_percent =
        static_cast<std::uint8_t>((100 * (total - report.rank_of_all) + total - 1) / total);
  }
  clients_[action.tracker]->announce(announce, now);
}

void SessionTrackers::fetch_manifest(const core::FetchManifestFrom& action, core::TimeUs now) {
  clients_[action.tracker]->fetch_manifest(now);
}

void SessionTrackers::offer_manifest(const std::string& file_bytes) {
  if (clients_.empty()) return;
  if (!plan_.keys) {
    for (auto& client : clients_) client->offer_manifest(file_bytes);
    return;
  }
  const auto sealed = privacy::seal_manifest(*plan_.keys, file_bytes);
  if (!sealed.ok()) return host_.console.warning(sealed.error().message(), plan_.content_id);
  for (auto& client : clients_) client->offer_manifest(*sealed);
}

void SessionTrackers::hang_up() {
  clients_.clear();
}

void SessionTrackers::wake(core::TimeUs now) {
  for (auto& client : clients_) client->wake(now);
}

core::TimeUs SessionTrackers::next_wake() const {
  core::TimeUs at = core::kNever;
  for (const auto& client : clients_) at = std::min(at, client->next_wake());
  return at;
}

bool SessionTrackers::idle() const {
  return std::all_of(clients_.begin(), clients_.end(),
                     [](const auto& client) { return client->idle(); });
}

bool SessionTrackers::all_refused() const {
  return !clients_.empty() && std::all_of(clients_.begin(), clients_.end(),
                                          [](const auto& client) { return client->refused(); });
}

std::optional<bool> SessionTrackers::announced() const {
  if (!all_heard()) return std::nullopt;
  return std::ranges::any_of(answers_, [](const auto& answer) { return answer.second; });
}

std::vector<Address> SessionTrackers::addresses() const {
  std::vector<Address> known;
  for (const auto& client : clients_) known.push_back(client->address());
  return known;
}

void SessionTrackers::tracker_replied(std::size_t tracker, const proto::AnnounceReply& reply) {
  answers_[tracker] = true;
  sources_.tracker_heard(plan_.core.trackers[tracker], false);
  host_.console.debug(fmt::format("tracker {}: {} complete, {} incomplete, {} addresses",
                                  to_text(clients_[tracker]->address()), reply.complete_count,
                                  reply.incomplete_count, reply.peers.size()));
  const core::LinkFacts* const link = plan_.core.link;
  const bool in_private_range = link == nullptr || link->in_private_range;
  proto::AnnounceReply taken = reply;
  std::erase_if(taken.peers, [&](const proto::PeerEndpoint& peer) {
    return !may_be_named_by(clients_[tracker]->ip(), peer.ip, in_private_range);
  });
  core_.feed(&SwarmCore::tracker_replied, tracker, taken);
}

void SessionTrackers::tracker_failed(std::size_t tracker, const Error& error,
                                     std::uint32_t retry_seconds) {
  answers_[tracker] = false;
  core_.feed(&SwarmCore::tracker_failed, tracker, error, retry_seconds);
  sources_.tracker_heard(plan_.core.trackers[tracker], error.code == ErrorCode::kWrongIdentity);
}

void SessionTrackers::tracker_manifest(std::size_t tracker,
                                       Result<std::shared_ptr<ManifestSpool>> file_bytes) {
  if (file_bytes.ok()) return staging_.came_from(tracker, *std::move(file_bytes));
  core_.feed(&SwarmCore::manifest_read, core::kNoPeer, tracker, file_bytes.error());
}

void SessionTrackers::tracker_key_seen(std::size_t, const Address& pinned) {
  host_.console.shared_info(
      fmt::format("tracker {} (its key was seen first now and is kept for this run)",
                  to_text(pinned)),
      plan_.content_id);
}

}  // namespace firn::app
