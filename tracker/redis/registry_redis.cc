#include "tracker/redis/registry_redis.h"

#include <algorithm>
#include <iterator>

#include "proto/base/limits.h"

namespace firn::tracker {
namespace {

constexpr std::size_t kPeersAtOnce = 5000;    // received or told: some 20 ms without an answer
constexpr std::size_t kChangedMax = 200'000;  // past this everything is told anew
constexpr std::size_t kLeftMax = 100'000;     // 20 MB; past this the first are forgotten
constexpr std::size_t kIdsMax = 100'000;
constexpr std::size_t kIdsAtOnce = 2000;
constexpr std::size_t kAll = ~std::size_t{0};
constexpr int kTellings = 8;                 // in a lifetime
constexpr std::chrono::hours kHeldEvery{1};  // Redis keeps a manifest for a day

}  // namespace

// Each peer has a moment of its own in the lifetime's eighth, so that a crowd is not told at once.
bool RedisRegistry::is_told_anew(const PeerId& peer, Time before, Time now) const {
  const Time::rep slice = std::max<Time::rep>(ttl_.count() / kTellings, 1);
  const auto phase = static_cast<Time::rep>(peer.prefix() % static_cast<std::uint64_t>(slice));
  return (before.count() + phase) / slice != (now.count() + phase) / slice;
}

AnnounceOutcome RedisRegistry::announce(const ContentId& content, const PackedPeer& peer,
                                        Time now) {
  now_ = now;
  const PeerId& id = peer.endpoint.id;
  const auto before = below_->find(content, id);
  const AnnounceOutcome outcome = below_->announce(content, peer, now);
  if (outcome != AnnounceOutcome::kKept) return outcome;
  if (!left_.empty()) left_.erase({content, id});
  if (before && heard(*before) && before->peer == peer && !is_told_anew(id, before->seen, now))
    return outcome;
  changed_.insert({content, id});
  // The first peer of a content: another tracker may host its manifest.
  if (!before && wanted_.size() < kIdsMax && !below_->has_manifest(content)) {
    const SwarmCounts counts = below_->counts(content);
    if (counts.complete + counts.incomplete == 1) wanted_.push_back(content);
  }
  return outcome;
}

void RedisRegistry::leave(const ContentId& content, const PeerId& peer) {
  const auto known = below_->find(content, peer);
  if (!known) return;
  below_->leave(content, peer);
  remember_leaving({content, peer}, std::max(now_, known->seen + Time(1)));
  changed_.insert({content, peer});
}

void RedisRegistry::remember_leaving(const PeerKey& peer, Time now) {
  left_[peer] = now;
  left_in_order_.emplace_back(peer, now);
  if (left_in_order_.size() <= kLeftMax / post_.shards()) return;
  const auto& [first, at] = left_in_order_.front();
  const auto known = left_.find(first);
  if (known != left_.end() && known->second == at) left_.erase(known);
  left_in_order_.pop_front();
}

void RedisRegistry::expire(Time before) {
  now_ = std::max(now_, before + ttl_);
  while (!left_in_order_.empty() && left_in_order_.front().second < before) {
    const auto known = left_.find(left_in_order_.front().first);
    if (known != left_.end() && known->second < before) left_.erase(known);
    left_in_order_.pop_front();
  }
  below_->expire(before);
}

void RedisRegistry::keep_for(Time ttl) {
  ttl_ = ttl;
  post_.keep_for(ttl);
  below_->keep_for(ttl);
}

void RedisRegistry::describe(Snapshot& snapshot) const {
  below_->describe(snapshot);
  snapshot.redis = post_.state(now_);
}

Status RedisRegistry::put_manifest(const ContentId& content, const std::string& prefix,
                                   std::string_view bytes) {
  const bool had = has_manifest(content);
  Status kept = below_->put_manifest(content, prefix, bytes);
  if (kept.ok() && !had && unshared_.size() < kIdsMax) unshared_.push_back(content);
  return kept;
}

Status RedisRegistry::flush() {
  exchange(kAll);
  return below_->flush();
}

Status RedisRegistry::flush_some() {
  exchange(kPeersAtOnce);
  return below_->flush_some();
}

// --- what others say ---

void RedisRegistry::receive(std::size_t peers_max) {
  FromRedis letters = post_.collect(shard_, peers_max);
  for (const PeerChange& change : letters.peers) receive(change);
  for (const SharedManifest& one : letters.manifests)
    (void)below_->put_manifest(one.content, one.prefix, one.bytes);  // its owner can put it again
  for (const ContentId& content : letters.offered) {
    const SwarmCounts counts = below_->counts(content);
    if (counts.complete + counts.incomplete > 0 && !has_manifest(content) &&
        wanted_.size() < kIdsMax)
      wanted_.push_back(content);
  }
  for (const ContentId& content : letters.missing)
    if (unshared_.size() < kIdsMax) unshared_.push_back(content);
}

void RedisRegistry::receive(const PeerChange& change) {
  const PeerId& id = change.peer.endpoint.id;
  if (change.at < now_ - ttl_) return;
  const auto known = below_->find(change.content, id);
  const bool known_later = known && heard(*known) && known->seen >= change.at;
  if (known_later) return;
  if (change.left) {
    if (known) below_->leave(change.content, id);
    return;
  }
  const auto left = left_.find({change.content, id});
  if (left != left_.end() && left->second >= change.at) {
    changed_.insert(left->first);  // Redis has missed it
    return;
  }
  below_->announce(change.content, change.peer, change.at);
}

// --- what is told ---

void RedisRegistry::exchange(std::size_t peers_max) {
  receive(peers_max);
  const std::uint64_t connection = post_.connection();
  if (connection != connection_) {
    connection_ = connection;
    if (connection != 0) say_everything();
  }
  if (connection == 0) {
    changed_.clear();
    unshared_.clear();
    wanted_.clear();
    return;
  }
  if (now_ - held_at_ > kHeldEvery) {
    hold_all();
  }
  ToRedis letters;
  const std::size_t room = std::min(peers_max, post_.room_for_peers(shard_));
  tell_of_changes(letters, room);
  tell_of_contents(letters, room);
  tell_of_manifests(letters);
  post_.give(shard_, std::move(letters));
}

// The peers of all contents, those that left, and the manifests.
void RedisRegistry::say_everything() {
  untold_ = below_->contents();
  changed_.clear();
  for (const auto& [peer, at] : left_) changed_.insert(peer);
  hold_all();
}

void RedisRegistry::hold_all() {
  held_.clear();
  for (const Envelope& one : below_->hosted_manifests())
    if (below_->signers_of(one.content).front() == one.signer) held_.push_back(one.content);
  held_at_ = now_;
}

void RedisRegistry::tell(ToRedis& letters, const PeerKey& key) const {
  const auto peer = below_->find(key.first, key.second);
  if (peer) {
    if (heard(*peer)) letters.peers.push_back({key.first, peer->peer, false, peer->seen});
    return;
  }
  const auto left = left_.find(key);
  if (left == left_.end()) return;  // its time is over, or it gave way
  PeerChange change{key.first, {}, true, left->second};
  change.peer.endpoint.id = key.second;
  letters.peers.push_back(change);
}

void RedisRegistry::tell_of_changes(ToRedis& letters, std::size_t room) {
  if (changed_.size() > kChangedMax) return say_everything();
  while (letters.peers.size() < room && !changed_.empty()) {
    tell(letters, *changed_.begin());
    changed_.erase(changed_.begin());
  }
}

void RedisRegistry::tell_of_contents(ToRedis& letters, std::size_t room) {
  while (letters.peers.size() < room && !untold_.empty()) {
    const ContentId content = untold_.back();
    untold_.pop_back();
    below_->for_each_peer(content, [&](const SeenPeer& peer) {
      if (heard(peer)) letters.peers.push_back({content, peer.peer, false, peer.seen});
    });
  }
}

void RedisRegistry::tell_of_manifests(ToRedis& letters) {
  while (!held_.empty() && letters.held.size() < kIdsAtOnce) {
    letters.held.push_back(held_.back());
    held_.pop_back();
  }
  letters.wanted = std::exchange(wanted_, {});
  if (unshared_.empty() || !post_.room_for_manifest()) return;
  const ContentId content = unshared_.front();
  unshared_.pop_front();
  if (!has_manifest(content)) return;
  const Envelope envelope(content, signers_of(content).front());
  // Another shard may have made room with it.
  const auto there = hosted(envelope);
  if (!there) return;
  SharedManifest manifest{content, there->prefix, {}};
  for (std::uint64_t total = 1; manifest.bytes.size() < total;) {
    const auto part =
        below_->manifest_part(envelope, manifest.bytes.size(), limits::kManifestPartBytes);
    if (!part.ok() || part->data.empty()) return;  // it has gone
    total = part->total_bytes;
    manifest.bytes += part->data;
  }
  letters.manifests.push_back(std::move(manifest));
}

}  // namespace firn::tracker
