#include "tracker/announce_core.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "proto/base/address.h"
#include "proto/base/limits.h"
#include "proto/base/plain_text.h"
#include "proto/content/manifest.h"

namespace firn::tracker {
namespace {

using proto::TrackerErrorCode;

constexpr std::chrono::seconds kTickEvery{1};

proto::TrackerError error(TrackerErrorCode code, std::string_view detail) {
  return {code, to_plain_text(detail, limits::kReasonBytesMax), 0};
}

std::shared_ptr<UploadRoom> own_room(const CoreOptions& options) {
  return std::make_shared<UploadRoom>(options.upload_bytes_total_max, 1,
                                      options.manifest_bytes_max);
}

std::string no_manifest(const proto::TrackerManifestGet& request) {
  return request.signer
             ? "this tracker has no manifest of it that " + request.signer->text() + " has signed"
             : "this tracker has no manifest of it";
}

proto::TrackerError slow_down(std::string detail, Time wait) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(wait).count();
  return {TrackerErrorCode::kSlowDown, std::move(detail),
          static_cast<std::uint32_t>(std::max<std::int64_t>(seconds, 1))};
}

}  // namespace

AnnounceCore::AnnounceCore(Registry& registry, const CoreOptions& options, std::uint64_t seed)
    : registry_(registry),
      options_(options),
      served_(registry, std::move(options_.served),
              options.ledger ? options.ledger : std::make_shared<PublisherLedger>()),
      random_(seed),
      network_rate_(options.network_rate, options.networks_max),
      announce_rate_(options.announce_rate, options.networks_max),
      prefix_rate_(options.prefix_rate, options.networks_max),
      uploads_(options.upload_room ? options.upload_room : own_room(options)) {
  registry_.keep_for(options_.peer_ttl);
}

void AnnounceCore::connected(ClientId client, const PeerId& id, const std::string& ip, Time now) {
  const TokenBucket bucket = full_bucket(options_.connection_rate, now);
  const auto endpoint = proto::pack({id, ip, 0});
  FIRN_CHECK(endpoint.has_value());  // a socket's addresses are numeric
  clients_.insert_or_assign(client,
                            Client{id, ip, *endpoint, where_of(ip), bucket, {}, {}, {}, {}});
}

void AnnounceCore::change(CoreRules rules, Time now) {
  served_.change(std::exchange(rules.served, {}));
  static_cast<CoreRules&>(options_) = std::move(rules);
  registry_.keep_for(options_.peer_ttl);
  network_rate_.change(options_.network_rate, now);
  announce_rate_.change(options_.announce_rate, now);
  prefix_rate_.change(options_.prefix_rate, now);
  for (auto& [id, client] : clients_) change_rate(client.bucket, options_.connection_rate, now);
}

std::string AnnounceCore::name_of(ClientId client) const {
  const Client& known = clients_.at(client);
  return known.id.text() + " at " + known.ip;
}

void AnnounceCore::disconnected(ClientId client) {
  const auto found = clients_.find(client);
  if (found == clients_.end()) return;
  drop_upload(found->second);
  clients_.erase(found);
}

Snapshot AnnounceCore::snapshot() const {
  Snapshot snapshot;
  registry_.describe(snapshot);
  served_.describe(snapshot);
  snapshot.connection_count = clients_.size();
  snapshot.announce_count = announce_count_;
  snapshot.refusals = refusals_;
  snapshot.interval = told_interval();
  add_names(snapshot);
  return snapshot;
}

void AnnounceCore::add_names(Snapshot& snapshot) const {
  std::unordered_map<ContentId, std::string> names;
  for (Snapshot::Line& line : snapshot.largest) {
    const auto& signers = registry_.signers_of(line.content);
    if (signers.empty()) continue;
    if (const auto known = names_.find(line.content); known != names_.end()) {
      line.name = known->second;
    } else {
      const auto part = registry_.manifest_part({line.content, signers.front()}, 0, kNameWithin,
                                                ManifestReading::kLook);
      if (!part.ok()) continue;  // it is read again for the next page
      line.name = manifest_name(part->data);
    }
    names.emplace(line.content, line.name);
  }
  names_ = std::move(names);
}

AnnounceCore::Fill AnnounceCore::fill() const {
  return {std::max(network_rate_.size(), announce_rate_.size()), prefix_rate_.size(),
          upload_bytes_of_.size(), uploads_.bytes()};
}

proto::TrackerReply AnnounceCore::handle(ClientId client, const proto::TrackerRequest& request,
                                         Time now) {
  const Time wait = wait_of(client, request, now);
  if (wait > Time::zero()) return too_many_requests(wait);
  return answer(client, request, now);
}

proto::TrackerReply AnnounceCore::answer(ClientId client, const proto::TrackerRequest& request,
                                         Time now) {
  Client& known = clients_.at(client);
  proto::TrackerReply reply =
      std::visit([&](const auto& one) { return answer(known, one, now); }, request);
  announce_count_ += std::holds_alternative<proto::AnnounceReply>(reply) ? 1 : 0;
  if (const auto* refused = std::get_if<proto::TrackerError>(&reply)) count_refusal(*refused);
  return reply;
}

proto::TrackerError AnnounceCore::too_many_requests(Time wait) {
  const proto::TrackerError refused = slow_down("too many requests", wait);
  count_refusal(refused);
  return refused;
}

Time AnnounceCore::wait_of(ClientId id, const proto::TrackerRequest& request, Time now) {
  Client& client = clients_.at(id);
  const auto& [prefix, network] = client.where;
  Time wait =
      std::max({take_one(client.bucket, now), network_rate_.take(network, client.of_network, now),
                prefix_rate_.take(prefix, client.of_prefix, now)});
  if (std::holds_alternative<proto::Announce>(request))
    wait = std::max(wait, announce_rate_.take(network, client.of_announces, now));
  return wait;
}

PackedPeer AnnounceCore::packed_peer(const Client& client, const proto::Announce& request) {
  PackedPeer peer{client.endpoint,
                  request.complete || request.event == proto::AnnounceEvent::kCompleted};
  peer.endpoint.port = request.listen_port;
  if (!peer.complete) peer.lacks_percent = request.lacks_percent;
  return peer;
}

std::optional<proto::TrackerError> AnnounceCore::enter(Client& client,
                                                       const proto::Announce& request, Time now) {
  const ContentId& content = request.content_id;
  const bool leaves = request.event == proto::AnnounceEvent::kStopped;
  if (!leaves && !served_.serves(content))
    return error(TrackerErrorCode::kNotAllowed, served_.refusal());
  if (strained_ && !leaves) {
    if (auto early = too_early(client, request, now)) return early;
  }
  peers_.clear();
  if (leaves) {
    registry_.leave(content, client.id);
  } else {
    const PackedPeer peer = packed_peer(client, request);
    // Others may leave: it may try again.
    if (auto why = served_.refuses_peer(content, client.id, now))
      return slow_down(*std::move(why), options_.interval);
    if (registry_.announce(content, peer, now) == AnnounceOutcome::kTrackerFull)
      return slow_down("this tracker is full", options_.interval);
    // A full swarm does not list the newcomer, but tells it of others.
    registry_.sample(
        content,
        {.asker = client.id, .peers_max = request.peers_wanted, .complete_too = !peer.complete},
        random_, peers_);
  }
  const SwarmCounts counts = registry_.counts(content);
  summary_ = {static_cast<std::uint32_t>(told_interval().count()), counts.complete,
              counts.incomplete, hosted(content, request.signer)};
  return std::nullopt;
}

// It is listed for some intervals to come, as what it still is, and knows others.
std::optional<proto::TrackerError> AnnounceCore::too_early(const Client& client,
                                                           const proto::Announce& request,
                                                           Time now) const {
  if (request.event != proto::AnnounceEvent::kPeriodic) return std::nullopt;
  const auto before = registry_.find(request.content_id, client.id);
  if (!before || before->peer != packed_peer(client, request) ||
      now - before->seen >= Time(options_.interval) / 2)
    return std::nullopt;
  return slow_down("this tracker has more to do than it can, and knows this peer",
                   before->seen + options_.interval - now);
}

// No peer may be forgotten because it did as it was told.
std::chrono::seconds AnnounceCore::told_interval() const {
  if (!strained_) return options_.interval;
  const auto longest = options_.peer_ttl * 4 / 5;
  return std::max(options_.interval, std::min(2 * options_.interval, longest));
}

proto::TrackerReply AnnounceCore::answer(Client& client, const proto::Announce& request, Time now) {
  if (auto refused = enter(client, request, now)) return *std::move(refused);
  proto::AnnounceReply reply{summary_.interval_seconds,
                             summary_.complete_count,
                             summary_.incomplete_count,
                             summary_.has_manifest,
                             {}};
  for (const proto::PackedEndpoint& peer : peers_) reply.peers.push_back(proto::unpack(peer));
  return reply;
}

void AnnounceCore::announce(ClientId client, const proto::Announce& request, Time now,
                            FrameOut& out) {
  auto refused = enter(clients_.at(client), request, now);
  if (!refused) {
    ++announce_count_;
  } else {
    count_refusal(*refused);
    const std::string frame = serialize(proto::TrackerReply(*std::move(refused))).head;
    std::memcpy(out.prepare(frame.size()), frame.data(), frame.size());
    return out.commit(frame.size());
  }
  std::uint8_t* const to = out.prepare(proto::announce_reply_bytes_max(peers_.size()));
  out.commit(proto::write_announce_reply(summary_, peers_, to));
}

proto::TrackerReply AnnounceCore::answer(Client&, const proto::TrackerManifestGet& request, Time) {
  if (!served_.serves(request.content_id))
    return error(TrackerErrorCode::kNotAllowed, served_.refusal());
  const std::optional<Envelope> envelope = envelope_of(request);
  if (!envelope) return error(TrackerErrorCode::kUnknownContent, no_manifest(request));
  auto part = registry_.manifest_part(*envelope, request.offset, limits::kManifestPartBytes);
  if (!part) return error(TrackerErrorCode::kInternal, "the manifest cannot be read");
  if (part->total_bytes == 0) return error(TrackerErrorCode::kUnknownContent, no_manifest(request));
  return std::move(part).value();
}

proto::TrackerReply AnnounceCore::answer(Client& client, const proto::TrackerManifestPut& request,
                                         Time now) {
  const ContentId& content = request.content_id;
  if (!served_.may_admit(content)) {
    drop_upload(client);
    return error(TrackerErrorCode::kNotAllowed, served_.refusal());
  }
  // Who does not say whose it is sends all of it: it may be signed otherwise than what is hosted.
  if (request.signer && hosted(content, request.signer)) {
    drop_upload(client);
    return proto::TrackerManifestPutReply{request.total_bytes};
  }
  // A peer of the swarm may upload its manifest; others have no business on the shelf. Where
  // publishers are listed, the manifest shows whose content it is, and comes first.
  if (!served_.takes_manifest_first(content) && !registry_.has_peer(content, client.id)) {
    drop_upload(client);
    return error(TrackerErrorCode::kNotAllowed,
                 "announce yourself as a peer of this content first");
  }
  if (request.total_bytes > options_.manifest_bytes_max) {
    drop_upload(client);
    return error(TrackerErrorCode::kTooLarge, "this tracker keeps manifests of up to " +
                                                  std::to_string(options_.manifest_bytes_max) +
                                                  " bytes");
  }
  if (request.offset == 0) {
    drop_upload(client);
    client.upload.content = content;
    client.upload.total_bytes = request.total_bytes;
    client.upload.began = now;
  }
  Upload& upload = client.upload;
  if (content != upload.content || request.total_bytes != upload.total_bytes ||
      request.offset != upload.bytes.size() || request.data.empty() ||
      request.data.size() > upload.total_bytes - upload.bytes.size()) {
    drop_upload(client);
    return error(TrackerErrorCode::kMalformed,
                 "the parts of a manifest come in order from its first byte, none past its end");
  }
  // Counted as they come, not as they are promised.
  if (!take_upload_room(client, request.data.size())) {
    drop_upload(client);
    return slow_down("too many manifests are being sent", options_.interval);
  }
  upload.bytes += request.data;
  upload.grown = now;
  if (upload.bytes.size() < upload.total_bytes)
    return proto::TrackerManifestPutReply{upload.bytes.size()};
  return finish_upload(client);
}

proto::TrackerReply AnnounceCore::finish_upload(Client& client) {
  Upload upload = std::exchange(client.upload, {});
  WholeManifest whole{upload.content, std::move(upload.bytes), client.where.prefix};
  if (hosts_as_it_is(whole)) return host(whole, Done{});
  if (whole.bytes.size() <= options_.checked_at_once_max)
    return host(whole, check_manifest(whole.bytes, whole.content));
  whole_ = std::move(whole);
  return proto::TrackerManifestPutReply{};
}

proto::TrackerReply AnnounceCore::checked(const WholeManifest& whole, const Status& right) {
  proto::TrackerReply reply = host(whole, right);
  if (const auto* refused = std::get_if<proto::TrackerError>(&reply)) count_refusal(*refused);
  return reply;
}

proto::TrackerReply AnnounceCore::host(const WholeManifest& whole, const Status& right) {
  give_back_room(whole.prefix, whole.bytes.size());
  if (!right) {
    const bool no_memory = right.error().code == ErrorCode::kBusy;
    return error(no_memory ? TrackerErrorCode::kInternal : TrackerErrorCode::kMalformed,
                 right.error().message());
  }
  const Envelope envelope(whole.content, manifest_signer(whole.bytes));
  if (!served_.admits(envelope)) return error(TrackerErrorCode::kNotAllowed, served_.refusal());
  if (registry_.hosts(envelope)) return proto::TrackerManifestPutReply{whole.bytes.size()};
  if (const auto why = served_.refuses_manifest(envelope, whole.bytes.size()))
    return error(TrackerErrorCode::kNotAllowed, *why);
  const Status kept = registry_.put_manifest(whole.content, whole.prefix, whole.bytes);
  if (kept) {
    served_.hosted(envelope);
    return proto::TrackerManifestPutReply{whole.bytes.size()};
  }
  served_.given_up(envelope);
  if (kept.error().code == ErrorCode::kBadInput)
    return error(TrackerErrorCode::kTooLarge, kept.error().detail);
  return error(TrackerErrorCode::kInternal, "the manifest cannot be kept");
}

// What is hosted has been checked: the same bytes are not checked again.
bool AnnounceCore::hosts_as_it_is(const WholeManifest& whole) {
  const Envelope envelope(whole.content, manifest_signer(whole.bytes));
  const auto there = registry_.hosted(envelope);
  if (!there || there->bytes != whole.bytes.size()) return false;
  for (std::string_view left = whole.bytes; !left.empty();) {
    const auto part = registry_.manifest_part(envelope, whole.bytes.size() - left.size(),
                                              limits::kManifestPartBytes, ManifestReading::kLook);
    if (!part || part->data.empty() || !left.starts_with(part->data)) return false;
    left.remove_prefix(part->data.size());
  }
  return true;
}

bool AnnounceCore::hosted(const ContentId& content, const std::optional<PublicKey>& signer) const {
  return signer ? registry_.hosts({content, *signer}) : registry_.has_manifest(content);
}

// The envelope that is meant, if it is hosted. Of several that fit, the one that was kept first.
std::optional<Envelope> AnnounceCore::envelope_of(const proto::TrackerManifestGet& request) const {
  for (const PublicKey& signer : registry_.signers_of(request.content_id)) {
    const Envelope envelope(request.content_id, signer);
    if (request.signer ? *request.signer == signer : served_.admits(envelope)) return envelope;
  }
  return std::nullopt;
}

void AnnounceCore::drop_upload(Client& client) {
  give_back_room(client.where.prefix, client.upload.bytes.size());
  client.upload = {};
}

void AnnounceCore::give_back_room(const std::string& prefix, std::uint64_t bytes) {
  if (bytes == 0) return;
  uploads_.give_back(bytes);
  const auto of_prefix = upload_bytes_of_.find(prefix);
  of_prefix->second -= bytes;
  if (of_prefix->second == 0) upload_bytes_of_.erase(of_prefix);
}

// Where there is none in all, uploads of the prefix that has sent most give way to one that has
// sent less with these bytes; of its uploads the one that has grown least lately.
bool AnnounceCore::take_upload_room(const Client& client, std::uint64_t bytes) {
  const auto own = upload_bytes_of_.find(client.where.prefix);
  const std::uint64_t sent = (own == upload_bytes_of_.end() ? 0 : own->second) + bytes;
  if (sent > options_.upload_bytes_per_prefix_max) return false;
  while (!uploads_.take(bytes)) {
    Client* leaving = nullptr;
    std::uint64_t most = sent;
    for (auto& [id, other] : clients_) {
      if (other.upload.bytes.empty()) continue;
      const std::uint64_t of_other = upload_bytes_of_.at(other.where.prefix);
      if (of_other < most || (of_other == most && leaving == nullptr)) continue;
      if (of_other == most && other.upload.grown >= leaving->upload.grown) continue;
      most = of_other;
      leaving = &other;
    }
    if (leaving == nullptr || leaving->where.prefix == client.where.prefix) return false;
    drop_upload(*leaving);
  }
  upload_bytes_of_[client.where.prefix] = sent;
  return true;
}

void AnnounceCore::tick(Time now) {
  if (now < next_tick_) return;
  next_tick_ = now + kTickEvery;
  registry_.expire(now - options_.peer_ttl);
  served_.look_some(now);
  for (RateLimit* rate : {&network_rate_, &announce_rate_, &prefix_rate_}) rate->tidy(now);
  if (uploads_.bytes() == 0) return;
  for (auto& [id, client] : clients_) {
    const Upload& upload = client.upload;
    if (upload.total_bytes > 0 && (now - upload.grown > options_.upload_idle_max ||
                                   now - upload.began > options_.upload_time_max))
      drop_upload(client);
  }
}

}  // namespace firn::tracker
