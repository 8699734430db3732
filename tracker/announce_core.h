// The deciding part of the tracker: what it answers to each client. No sockets, no disk, no clock,
// no thread; it is told the time, and asks a Registry for what is remembered.
//
// Each connection asks and gets one reply to each request. A peer is its proven id, at the address
// the connection comes from and the port it says it listens on; it is forgotten when it says
// STOPPED, or after `peer_ttl` without an announce. What a connection leaves unfinished (a manifest
// half sent) goes with it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "proto/announce_reply_wire.h"
#include "proto/base/limits.h"
#include "proto/messages.h"
#include "tracker/fair_shares.h"
#include "tracker/manifest_check.h"
#include "tracker/rate_limit.h"
#include "tracker/registry.h"
#include "tracker/served_contents.h"
#include "tracker/snapshot.h"
#include "tracker/upload_room.h"

namespace firn::tracker {

// Names a connection while it lasts.
using ClientId = std::uint64_t;

// What may change while a tracker runs.
struct CoreRules {
  std::chrono::seconds interval{60};   // between announces of a peer
  std::chrono::seconds peer_ttl{150};  // 2.5 intervals
  // A request takes one token of its connection, one of its network (an IPv4 address, an IPv6 /64)
  // and one of its prefix (a /24, a /48), an announce one more of its network.
  Rate connection_rate{.per_second = 100, .burst = 600};
  Rate network_rate{.per_second = 1000, .burst = 5000};
  Rate announce_rate{.per_second = 200, .burst = 5000};
  Rate prefix_rate{.per_second = 4000, .burst = 20'000};
  ServedLists served = {};
};

struct CoreOptions : CoreRules {
  std::uint64_t manifest_bytes_max = limits::kManifestBytesMax;
  std::uint64_t upload_bytes_total_max = 512 << 20;  // of manifests half sent, together
  std::uint64_t upload_bytes_per_prefix_max = 256 << 20;
  std::chrono::seconds upload_idle_max{30};       // longest wait for the next part of a manifest
  std::chrono::seconds upload_time_max{30 * 60};  // longest from its first part to its last
  std::size_t networks_max = 100'000;
  std::uint64_t checked_at_once_max = limits::kManifestBytesMax;  // larger ones: take_whole()
  // What publishers and manifests half sent take, with other shards; its own alone if null.
  std::shared_ptr<PublisherLedger> ledger = nullptr;
  std::shared_ptr<UploadRoom> upload_room = nullptr;
};

// Where frames go.
class FrameOut {
 public:
  virtual ~FrameOut() = default;
  // Room for `bytes` more, of which commit() keeps the first.
  virtual std::uint8_t* prepare(std::size_t bytes) = 0;
  virtual void commit(std::size_t bytes) = 0;
};

// One thread.
class AnnounceCore {
 public:
  // `registry` must outlive the core.
  AnnounceCore(Registry& registry, const CoreOptions& options, std::uint64_t seed);

  // A connection of the peer that proved `id`, seen to come from the numeric address `ip`. How many
  // a network may have is the transport's business (proto/transport/admission.h).
  void connected(ClientId client, const PeerId& id, const std::string& ip, Time now);
  // "ID at IP", of a connected client.
  std::string name_of(ClientId client) const;
  bool knows(ClientId client) const { return clients_.contains(client); }
  // The answer to a request of a connected client: wait_of(), then answer().
  proto::TrackerReply handle(ClientId client, const proto::TrackerRequest& request, Time now);
  // Zero, or until the client may ask this; then it is told to slow down.
  Time wait_of(ClientId client, const proto::TrackerRequest& request, Time now);
  proto::TrackerError too_many_requests(Time wait);
  proto::TrackerReply answer(ClientId client, const proto::TrackerRequest& request, Time now);
  // After the answer to a put: the manifest that it has completed, if that is too large to be
  // checked at once. Then there was no answer yet; checked() gives it.
  std::optional<WholeManifest> take_whole() { return std::exchange(whole_, std::nullopt); }
  // `right`: as check_manifest() says; kBusy: there was no memory for it.
  proto::TrackerReply checked(const WholeManifest& whole, const Status& right);
  // The same of an announce, written as a frame. Takes no memory of its own while nothing has
  // changed.
  void announce(ClientId client, const proto::Announce& request, Time now, FrameOut& out);
  void disconnected(ClientId client);

  // Other rules from now on, for the clients that are known too. What is not served any more is
  // refused, and its peers are forgotten in time.
  void change(CoreRules rules, Time now);

  // While its thread is behind with requests: peers that announced themselves less than half an
  // interval ago, and have not become complete, are told to slow down; those that it answers are
  // told a longer interval.
  void strain(bool strained) { strained_ = strained; }

  // Its shard's, and the clients that it knows.
  Snapshot snapshot() const;
  // How full its own tables are: rate buckets by name, manifests half sent.
  struct Fill {
    std::size_t networks = 0;  // the larger of both limits that count them
    std::size_t prefixes = 0;
    std::size_t uploading_prefixes = 0;
    std::uint64_t upload_bytes = 0;
  };
  Fill fill() const;

  // Forgets peers and rate buckets whose time is over. Call it when wake_at() says.
  void tick(Time now);
  Time wake_at() const { return next_tick_; }

 private:
  struct Upload {
    ContentId content;
    std::uint64_t total_bytes = 0;
    std::string bytes;
    Time began{}, grown{};
  };
  struct Client {
    PeerId id;
    std::string ip;
    proto::PackedEndpoint endpoint;  // but for its port
    Where where;
    TokenBucket bucket;
    RateLimit::Found of_network, of_announces, of_prefix;
    Upload upload;  // none while total_bytes is 0
  };

  static PackedPeer packed_peer(const Client& client, const proto::Announce& request);
  void add_names(Snapshot& snapshot) const;
  std::optional<proto::TrackerError> too_early(const Client& client, const proto::Announce& request,
                                               Time now) const;
  std::chrono::seconds told_interval() const;
  void count_refusal(const proto::TrackerError& error) {
    ++refusals_[static_cast<std::size_t>(error.code)];
  }
  proto::TrackerReply answer(Client& client, const proto::Announce& request, Time now);
  // Does what an announce asks for. Fills summary and peers, or says why not.
  std::optional<proto::TrackerError> enter(Client& client, const proto::Announce& request,
                                           Time now);
  proto::TrackerReply answer(Client& client, const proto::TrackerManifestGet& request, Time now);
  proto::TrackerReply answer(Client& client, const proto::TrackerManifestPut& request, Time now);
  proto::TrackerReply finish_upload(Client& client);
  bool hosts_as_it_is(const WholeManifest& whole);
  // Whether the manifest that a request means is hosted: of the signer that it names, or any.
  bool hosted(const ContentId& content, const std::optional<PublicKey>& signer) const;
  std::optional<Envelope> envelope_of(const proto::TrackerManifestGet& request) const;
  void drop_upload(Client& client);
  proto::TrackerReply host(const WholeManifest& whole, const Status& right);
  void give_back_room(const std::string& prefix, std::uint64_t bytes);
  bool take_upload_room(const Client& client, std::uint64_t bytes);

  Registry& registry_;
  CoreOptions options_;  // the lists are in served_
  ServedContents served_;
  Random random_;
  RateLimit network_rate_, announce_rate_, prefix_rate_;
  std::unordered_map<ClientId, Client> clients_;
  std::unordered_map<std::string, std::uint64_t> upload_bytes_of_;  // by prefix
  UploadShare uploads_;
  std::uint64_t announce_count_ = 0;
  RefusalCounts refusals_{};
  bool strained_ = false;
  // Of the last snapshot's swarms: a content's name never changes.
  mutable std::unordered_map<ContentId, std::string> names_;
  Time next_tick_{};
  std::optional<WholeManifest> whole_;  // by the last put
  // Of the announce that is being answered; kept for their memory.
  proto::AnnounceSummary summary_;
  Endpoints peers_;
};

}  // namespace firn::tracker
