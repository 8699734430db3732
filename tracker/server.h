// The tracker as a running thing: transport on one side, announce core and registry on the other,
// and the one thread on which the core lives.
//
//   I/O threads: frame -> checked request -> queue        core thread: queue -> core -> reply
//
// A connection is not read while a request of it waits or its reply has not left, so the queue
// holds at most one request for each connection, and no more than `queue_bytes_max` of manifest
// parts in all: past that a request is answered with SLOW_DOWN unseen.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <variant>

#include "proto/transport/transport.h"
#include "tracker/announce_core.h"

namespace firn::tracker {

enum class LogLevel { kDebug, kInfo, kWarning };
using Log = std::function<void(LogLevel, const std::string&)>;

struct ServerOptions {
  CoreOptions core;
  proto::transport::Options transport{.send_queue_bytes_max = 1 << 20};
  std::uint64_t seed = 0;  // of the samples of peers
  std::size_t queue_bytes_max = 64 << 20;
  std::function<Time()> clock;  // steady time if empty
  Log log;                      // called on the core thread; may be empty
  bool log_requests = false;    // each with its reply, as kDebug
};

class Server final : private proto::transport::EventSink {
 public:
  // `registry` must outlive the server and is used on its thread alone meanwhile.
  static Result<std::unique_ptr<Server>> start(const proto::transport::Identity& identity,
                                               Registry& registry, ServerOptions options);
  // Stops, and flushes the registry.
  ~Server() override;

  // As Transport::listen.
  Result<Address> listen(const Address& where);
  // As AnnounceCore::serve. Any thread.
  void serve(ServedLists lists);
  // How it stands: `take` is called on the core thread, unless the server stops before. Any thread.
  void look(std::function<void(const Snapshot&)> take);

 private:
  using ConnectionId = proto::transport::ConnectionId;
  struct Opened {
    ConnectionId id;
    proto::transport::PeerInfo info;
  };
  struct Asked {
    ConnectionId id;
    std::size_t bytes;
    proto::TrackerRequest request;
  };
  struct Overloaded {
    ConnectionId id;
  };
  struct Closed {
    ConnectionId id;
  };
  using Look = std::function<void(const Snapshot&)>;
  using Input = std::variant<Opened, Asked, Overloaded, Closed, ServedLists, Look>;

  Server(Registry& registry, ServerOptions options);

  void on_open(ConnectionId id, const proto::transport::PeerInfo& info) override;
  Status on_frame(ConnectionId id, std::span<const std::uint8_t> frame) override;
  void on_departed(ConnectionId id, proto::transport::FrameTag tag) override;
  void on_close(ConnectionId id, const Error& error) override;
  void push(Input input);

  // The core thread.
  void run();
  void take(const Opened& input);
  void take(const Asked& input);
  void take(const Overloaded& input);
  void take(const Closed& input);
  void take(const ServedLists& input);
  void take(const Look& input);
  void reply(ConnectionId id, const proto::TrackerReply& reply);
  void tick();
  void log(LogLevel level, const std::string& text) const;

  Registry& registry_;
  const ServerOptions options_;
  AnnounceCore core_;
  bool flush_failed_ = false;  // said once

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Input> inputs_;
  std::size_t queued_bytes_ = 0;
  bool stopping_ = false;

  // Events come, and use it, until its destructor returns: reset() would empty the owner before.
  proto::transport::Transport* transport_ = nullptr;
  std::unique_ptr<proto::transport::Transport> transport_owner_;
  std::thread thread_;
};

}  // namespace firn::tracker
