// The tracker as a running thing: transport on one side, announce cores and registries on the
// other.
//
//   I/O thread:  frame -> checked request -> core -> registry -> reply, into the connection's
//   replies
//
// A request is answered on the thread that reads it: there is no queue and no lock on the way of an
// announce. With several I/O threads each has a shard of the contents (server_desk.h). TCP holds
// back a client that asks faster than it is answered, and one that does not read its replies is not
// read either. Once a second each registry is told to flush.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "proto/transport/transport.h"
#include "tracker/announce_core.h"
#include "tracker/server_desk.h"

namespace firn::tracker {

struct ServerOptions {
  CoreOptions core;
  proto::transport::Options transport{.send_queue_bytes_max = 1 << 20};
  std::uint64_t seed = 0;       // of the samples of peers
  std::function<Time()> clock;  // steady time if empty; called on all I/O threads
  // How far each I/O thread is behind; the transport's measure if empty.
  std::function<std::chrono::microseconds(std::size_t thread)> lag;
  Log log;                    // called on the I/O threads; may be empty
  bool log_requests = false;  // each with its reply, as kDebug
};

class Server final : private proto::transport::EventSink {
 public:
  // A registry for each I/O thread, each of its shard alone. They must outlive the server, and each
  // is used on its thread alone meanwhile.
  static Result<std::unique_ptr<Server>> start(const proto::transport::Identity& identity,
                                               const std::vector<Registry*>& shards,
                                               ServerOptions options);
  // Stops, and flushes the registries.
  ~Server() override;

  // As Transport::listen.
  Result<Address> listen(const Address& where);
  // Other rules, for the requests that come from now on. Any thread.
  void change(DeskRules rules);
  // From now on new connections are closed as they come, so that peers ask another tracker; those
  // that are open are served. Any thread.
  void drain() { draining_.store(true); }
  // How it stands, all shards together: `take` is called on an I/O thread, unless the server stops
  // before. Each desk looks on its own thread, one after the other, so that a great tracker does
  // not stand still. Any thread.
  void look(std::function<void(const Snapshot&)> take);

 private:
  using ConnectionId = proto::transport::ConnectionId;
  using Replies = proto::transport::Replies;

  explicit Server(ServerOptions options);

  void on_open(ConnectionId id, const proto::transport::PeerInfo& info) override;
  Status on_frame(ConnectionId, std::span<const std::uint8_t>) override;
  Status on_request(ConnectionId id, std::span<const std::uint8_t> frame,
                    Replies& replies) override;
  void on_departed(ConnectionId, proto::transport::FrameTag) override {}
  void on_close(ConnectionId id, const Error& error) override;
  void on_tick(std::size_t thread) override;
  void on_woken(std::size_t thread) override;
  void on_proxy_refused(const Error& error) override;

  // A look on its way from desk to desk.
  struct Look {
    Snapshot sum;
    std::function<void(const Snapshot&)> take;
  };
  void pass_looks(std::size_t thread);

  std::chrono::microseconds lag_of(std::size_t thread) const;
  Desk& desk_of(ConnectionId id);
  void take_rules(std::size_t thread);

  const ServerOptions options_;
  Worker worker_;
  const DeskOptions desk_options_;
  Desk::Desks desks_;

  std::atomic<bool> draining_{false};
  // By thread: connections that came while it drained, until they are closed.
  std::vector<std::unordered_set<ConnectionId>> turned_away_;

  // A desk takes the rules when it sees that there are later ones than it has.
  std::atomic<std::uint64_t> rules_number_{0};
  std::vector<std::uint64_t> rules_taken_;  // by each desk
  std::mutex rules_mutex_;
  DeskRules rules_;

  std::optional<Time> proxy_refused_;  // when it was last logged; the first thread's

  std::mutex looks_mutex_;
  std::vector<std::vector<Look>> looks_;  // that each desk has to add to

  // Events come, and use it, until its destructor returns: reset() would empty the owner before.
  std::atomic<proto::transport::Transport*> transport_ = nullptr;
  std::unique_ptr<proto::transport::Transport> transport_owner_;
};

}  // namespace firn::tracker
