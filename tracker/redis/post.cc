#include "tracker/redis/post.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace firn::tracker {
namespace {

// Of about 130 bytes each: 26 MB to the link in all shards, the same from it, and what one turn of
// the link brings.
constexpr std::size_t kPeersWaitingMax = 200'000;
constexpr std::size_t kIdsWaitingMax = 200'000;  // of each kind and shard

template <typename Into>
void append(Into& into, Into&& from) {
  into.insert(into.end(), std::make_move_iterator(from.begin()),
              std::make_move_iterator(from.end()));
}

}  // namespace

std::size_t Post::room_for_peers(std::size_t shard) const {
  const std::lock_guard lock(mutex_);
  const std::size_t most = kPeersWaitingMax / waiting_.size();
  return most - std::min(most, waiting_[shard]);
}

bool Post::room_for_manifest() const {
  const std::lock_guard lock(mutex_);
  return manifest_bytes_out_ == 0;
}

void Post::give(std::size_t shard, ToRedis letters) {
  const std::lock_guard lock(mutex_);
  if (connection_.load() == 0) return;
  waiting_[shard] += letters.peers.size();
  for (const SharedManifest& one : letters.manifests) manifest_bytes_out_ += one.bytes.size();
  append(out_.peers, std::move(letters.peers));
  append(out_.manifests, std::move(letters.manifests));
  append(out_.held, std::move(letters.held));
  append(out_.wanted, std::move(letters.wanted));
}

FromRedis Post::collect(std::size_t shard, std::size_t peers_max) {
  const std::lock_guard lock(mutex_);
  Inbox& all = in_[shard];
  FromRedis some;
  const auto count = static_cast<std::ptrdiff_t>(std::min(peers_max, all.peers.size()));
  some.peers.assign(all.peers.begin(), all.peers.begin() + count);
  all.peers.erase(all.peers.begin(), all.peers.begin() + count);
  peers_in_ -= some.peers.size();
  if (!all.manifests.empty()) {
    some.manifests.push_back(std::move(all.manifests.front()));
    all.manifests.pop_front();
    manifest_bytes_in_ -= some.manifests.front().bytes.size();
  }
  // Whether a manifest is wanted depends on the peers before it.
  if (all.peers.empty()) some.offered = std::exchange(all.offered, {});
  some.missing = std::exchange(all.missing, {});
  return some;
}

void Post::connected() {
  const std::lock_guard lock(mutex_);
  state_.connected = true;
  connection_.store(++connections_);
}

void Post::lost(bool news) {
  const std::lock_guard lock(mutex_);
  connection_.store(0);
  state_.connected = false;
  if (news) ++state_.lost_count;
  out_ = {};
  std::ranges::fill(waiting_, 0);
  manifest_bytes_out_ = 0;
}

ToRedis Post::take() {
  const std::lock_guard lock(mutex_);
  std::ranges::fill(waiting_, 0);
  manifest_bytes_out_ = 0;
  return std::exchange(out_, {});
}

void Post::deliver(FromRedis letters) {
  const std::lock_guard lock(mutex_);
  const auto shard = [this](const ContentId& content) -> Inbox& {
    return in_[shard_of(content, in_.size())];
  };
  peers_in_ += letters.peers.size();
  for (PeerChange& one : letters.peers) shard(one.content).peers.push_back(std::move(one));
  for (SharedManifest& one : letters.manifests) {
    manifest_bytes_in_ += one.bytes.size();
    shard(one.content).manifests.push_back(std::move(one));
  }
  const auto deliver_ids = [&](const std::vector<ContentId>& ids,
                               std::vector<ContentId> Inbox::*kind) {
    for (const ContentId& one : ids)
      if ((shard(one).*kind).size() < kIdsWaitingMax) (shard(one).*kind).push_back(one);
  };
  deliver_ids(letters.offered, &Inbox::offered);
  deliver_ids(letters.missing, &Inbox::missing);
}

bool Post::room() const {
  const std::lock_guard lock(mutex_);
  return peers_in_ < kPeersWaitingMax && manifest_bytes_in_ == 0;
}

void Post::wait(std::chrono::milliseconds most) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, most, [this] { return woken_; });
  woken_ = false;
}

void Post::wake() {
  const std::lock_guard lock(mutex_);
  woken_ = true;
  changed_.notify_one();
}

void Post::answered(Time now, std::uint64_t rejected_count) {
  const std::lock_guard lock(mutex_);
  answered_at_ = now;
  state_.rejected_count = rejected_count;
}

RedisState Post::state(Time now) const {
  const std::lock_guard lock(mutex_);
  RedisState state = state_;
  state.lag_ms = static_cast<std::uint64_t>(std::max<Time::rep>((now - answered_at_).count(), 0));
  return state;
}

}  // namespace firn::tracker
