// What lies between the registries, each on its I/O thread, and the link to Redis on its own: the
// letters of both directions, and how the link stands. Neither side waits for the other; what is
// waiting has bounds.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "tracker/redis/letters.h"
#include "tracker/snapshot.h"

namespace firn::tracker {

// Any thread.
class Post {
 public:
  explicit Post(std::size_t shards) : in_(shards), waiting_(shards) {}

  std::size_t shards() const { return in_.size(); }

  // --- a registry's side ---

  // The number of the connection that stands; 0: none does.
  std::uint64_t connection() const { return connection_.load(); }
  // How many changes of the shard may be given now. They are dropped with the connection.
  std::size_t room_for_peers(std::size_t shard) const;
  bool room_for_manifest() const;
  void give(std::size_t shard, ToRedis letters);
  // What has come for the shard, with at most `peers_max` peers and one manifest.
  FromRedis collect(std::size_t shard, std::size_t peers_max);
  void keep_for(Time ttl) { ttl_ms_.store(ttl.count()); }

  // --- the link's side ---

  void connected();
  // Drops what was given: it is said again once a connection stands.
  // `news`: it stood, or this was the first attempt that failed.
  void lost(bool news);
  // Everything that was given since the last call.
  ToRedis take();
  // To the shards of their contents.
  void deliver(FromRedis letters);
  // False: the registries have enough to do.
  bool room() const;
  // Until something is given, wake() is called or so much time has passed.
  void wait(std::chrono::milliseconds most);
  void wake();
  Time ttl() const { return Time(ttl_ms_.load()); }
  // Redis has answered, and so far so much was read that no tracker wrote.
  void answered(Time now, std::uint64_t rejected_count);

  RedisState state(Time now) const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  ToRedis out_;
  struct Inbox {
    std::deque<PeerChange> peers;
    std::deque<SharedManifest> manifests;
    std::vector<ContentId> offered, missing;
  };
  std::vector<Inbox> in_;
  std::vector<std::size_t> waiting_;  // changes in out_, by shard
  std::uint64_t manifest_bytes_out_ = 0, manifest_bytes_in_ = 0;
  std::size_t peers_in_ = 0;
  bool woken_ = false;
  RedisState state_{.used = true};
  Time answered_at_{};
  std::uint64_t connections_ = 0;
  std::atomic<std::uint64_t> connection_{0};
  std::atomic<Time::rep> ttl_ms_{150'000};
};

}  // namespace firn::tracker
