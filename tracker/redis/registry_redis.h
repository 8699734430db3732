// A registry that shares what it remembers with other trackers through Redis.
//
// It answers from a registry of its own, as a tracker without Redis does, and never waits. What
// peers say to this tracker goes to Redis a few times a second, and what they say to others comes
// from there (Post, which the link carries). Of each peer the later word holds.
//
// While there is no connection nothing is kept but which peers left; once there is one, everything
// that was heard is said again, a part at a time. A peer that says the same again is told of once
// in an eighth of its lifetime. What the registry below brought from its disk is served, but not
// told: nothing says how old it is, and any word from Redis counts more.
//
// Of each content Redis has one manifest, in the first envelope that a tracker had. A publisher
// whose own is another puts it to each tracker that it announces itself to.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tracker/redis/post.h"
#include "tracker/registry.h"
#include "tracker/swarm.h"

namespace firn::tracker {

class RedisRegistry final : public Registry {
 public:
  // `below`: answers, and came from its disk at `opened`. `post` outlives this object, which is one
  // of `post.shards()`.
  RedisRegistry(std::unique_ptr<Registry> below, Post& post, std::size_t shard, Time opened)
      : below_(std::move(below)), post_(post), shard_(shard), opened_(opened) {}

  using Registry::announce;
  using Registry::sample;
  AnnounceOutcome announce(const ContentId& content, const PackedPeer& peer, Time now) override;
  void leave(const ContentId& content, const PeerId& peer) override;
  void expire(Time before) override;
  SwarmCounts counts(const ContentId& content) const override { return below_->counts(content); }
  void sample(const ContentId& content, const SampleRequest& request, Random& random,
              Endpoints& into) const override {
    below_->sample(content, request, random, into);
  }
  // Also how the link stands.
  void describe(Snapshot& snapshot) const override;
  std::optional<SeenPeer> find(const ContentId& content, const PeerId& peer) const override {
    return below_->find(content, peer);
  }
  std::vector<ContentId> contents() const override { return below_->contents(); }
  void for_each_peer(const ContentId& content,
                     const std::function<void(const SeenPeer&)>& visit) const override {
    below_->for_each_peer(content, visit);
  }
  void keep_for(Time ttl) override;
  const std::vector<PublicKey>& signers_of(const ContentId& content) const override {
    return below_->signers_of(content);
  }
  std::vector<Envelope> hosted_manifests() const override { return below_->hosted_manifests(); }
  std::optional<Hosted> hosted(const Envelope& envelope) const override {
    return below_->hosted(envelope);
  }
  Status put_manifest(const ContentId& content, const std::string& prefix,
                      std::string_view bytes) override;
  // From this tracker: others may host it.
  Status remove_manifest(const Envelope& envelope) override {
    return below_->remove_manifest(envelope);
  }
  Result<proto::ManifestPart> manifest_part(
      const Envelope& envelope, std::uint64_t offset, std::size_t bytes_max,
      ManifestReading reading = ManifestReading::kUse) override {
    return below_->manifest_part(envelope, offset, bytes_max, reading);
  }
  // Those of the registry below; whether Redis can be reached is the link's to say.
  Status flush() override;
  Status flush_some() override;

 private:
  bool heard(const SeenPeer& peer) const { return peer.seen > opened_; }
  bool is_told_anew(const PeerId& peer, Time before, Time now) const;
  void remember_leaving(const PeerKey& peer, Time now);
  void exchange(std::size_t peers_max);
  void receive(std::size_t peers_max);
  void receive(const PeerChange& change);
  void say_everything();
  void tell(ToRedis& letters, const PeerKey& peer) const;
  void tell_of_contents(ToRedis& letters, std::size_t room);
  void hold_all();
  void tell_of_manifests(ToRedis& letters);
  void tell_of_changes(ToRedis& letters, std::size_t room);

  const std::unique_ptr<Registry> below_;
  Post& post_;
  const std::size_t shard_;
  const Time opened_;
  Time ttl_{std::chrono::seconds(150)};
  Time now_{};  // of the last announce or look at the time
  Time held_at_{};
  std::uint64_t connection_ = 0;   // that was told everything, or is being told
  std::set<PeerKey> changed_;      // peers
  std::vector<ContentId> untold_;  // contents whose peers are still to be told
  std::map<PeerKey, Time> left_;
  std::deque<std::pair<PeerKey, Time>> left_in_order_;  // also those that came back
  std::vector<ContentId> held_, wanted_;
  std::deque<ContentId> unshared_;  // manifests whose bytes are still to be told
};

}  // namespace firn::tracker
