// The connections of all contents: the session or tracker client that owns each, what is on its way
// out on it, and in which order.
//
// A block's payload is made by workers while later messages for the same peer are ready already;
// yet all must leave in the order in which the core decided them. So each connection has a line of
// frames, and a frame leaves when it is made and first in line.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "client/app/net/private_greeting.h"
#include "client/app/net/transport_inbox.h"
#include "client/core/base/types.h"
#include "proto/messages.h"
#include "proto/transport/transport.h"

namespace firn::app {

// What a content's session hears of its peers.
class PeerEvents {
 public:
  virtual ~PeerEvents() = default;
  virtual void peer_opened(core::PeerKey peer, const proto::transport::PeerInfo& info,
                           std::uint64_t attempt) = 0;
  virtual void connect_failed(std::uint64_t attempt, const Error& error) = 0;
  virtual void peer_closed(core::PeerKey peer, const Error& error) = 0;
  // It is closed, because of what the peer sent.
  virtual void peer_broke_protocol(core::PeerKey peer, const Error& error) = 0;
  virtual void peer_message(core::PeerKey peer, proto::PeerMessage message,
                            std::size_t frame_bytes) = 0;
  // The peer's oldest `blocks` blocks have left together. `bytes`: of all their frames; 0: they
  // could not be made, and nothing was sent.
  virtual void blocks_departed(core::PeerKey peer, std::uint32_t blocks, std::size_t bytes) = 0;
  virtual void manifest_part_departed(core::PeerKey peer) = 0;
};

// What a tracker client hears of its connection.
class ReplyEvents {
 public:
  virtual ~ReplyEvents() = default;
  virtual void opened(const proto::transport::PeerInfo& info, core::TimeUs now) = 0;
  virtual void replied(proto::TrackerReply reply, core::TimeUs now) = 0;
  // Also when connecting failed.
  virtual void closed(const Error& error, core::TimeUs now) = 0;
};

// The content that a connection is for, as its first message says.
class ContentDirectory {
 public:
  // Of a private content: `owner` is null while its session accepts no connections.
  struct Proven {
    PeerEvents* owner = nullptr;
    const PrivateGreeting* greeting = nullptr;  // null: no content's secret was proven
  };
  virtual ~ContentDirectory() = default;
  // The session that serves it, or null. Private contents are not found so.
  virtual PeerEvents* find(const ContentId& content) = 0;
  // Whether a session will, or did a moment ago.
  virtual bool knows(const ContentId& content) = 0;
  // The private content whose secret the caller of this connection has proven.
  virtual Proven find_private(const proto::PrivateProof& proof,
                              const proto::transport::PeerInfo& connection) = 0;
};

// Main thread.
class Connections {
 public:
  // An accepted connection must say hello, and a called peer prove a secret, within this time.
  static constexpr core::TimeUs kHelloTimeout = 10 * core::kSecond;
  // What may wait behind a block that is being made; a connection past it is closed. A
  // peer that waits for answers before it asks again stays far below.
  static constexpr std::size_t kLineBytesMax = 4 << 20;

  // `contents` outlives it.
  Connections(TransportInbox& inbox, ContentDirectory& contents)
      : inbox_(inbox), contents_(contents) {}

  // Told of accepted connections that are closed before they have a part in any content: by what
  // they are, for people, and why.
  std::function<void(const std::string& stranger, const std::string& why)> on_refused;

  // Call once, before the first event.
  void attach(proto::transport::Transport& transport) { transport_ = &transport; }

  void handle(TransportEvent event, core::TimeUs now);
  void wake(core::TimeUs now);
  core::TimeUs next_wake() const;

  // --- peers ---
  // `greeting`: of a private content, which lives until close_all(); null: of others.
  void connect(PeerEvents& owner, std::uint64_t attempt, const Address& address,
               const PrivateGreeting* greeting = nullptr);
  void send(core::PeerKey peer, const proto::PeerMessage& message);
  // Takes the next place in line for a block; fill() follows, with an empty payload if the block
  // could not be made. 0: the connection is gone. `more_follow`: it goes together with the next one
  // for that peer, for which a place is taken before anything else is sent there; if one of them
  // cannot be made none is sent.
  std::uint64_t reserve(core::PeerKey peer, proto::Block block, bool more_follow = false);
  // `vector`: in place of the block's coefficients, if it is not empty.
  void fill(std::uint64_t ticket, proto::Payload payload, std::vector<std::uint8_t> vector = {});
  // Sends what is ready (blocks that are still being made are left out), then closes. The owner
  // hears nothing more.
  void close(core::PeerKey peer);
  // Closes all of an owner's connections, as above.
  void close_all(const PeerEvents& owner);

  // --- trackers ---
  ConnectionId connect_tracker(ReplyEvents& owner, const Address& address);
  void request(ConnectionId connection, const proto::TrackerRequest& request);
  // `owner` hears nothing more of it.
  void close_tracker(ConnectionId connection);

  // Connections that we have closed and that still send what was queued.
  std::size_t closing_count() const { return closing_.size(); }

 private:
  struct Line {  // one frame in line
    proto::PeerMessage message;
    bool ready = true;
    bool is_block = false;
    bool more_follow = false;
  };
  struct Connection {
    PeerEvents* owner = nullptr;
    ReplyEvents* tracker = nullptr;
    std::uint64_t attempt = 0;
    const PrivateGreeting* greeting = nullptr;  // of a call: the other side must prove its secret
    bool open = false;                          // its owner, if there is one, was told so
    proto::transport::PeerInfo info;
    core::TimeUs first_due = core::kNever;  // its first message, where that decides something
    std::deque<Line> line;
    std::size_t line_bytes = 0;       // of all but blocks
    std::uint64_t first_in_line = 1;  // number of line.front()
  };
  void on(ConnectionOpened& event, core::TimeUs now);
  void on(MessageArrived& event, core::TimeUs now);
  void on(ReplyArrived& event, core::TimeUs now);
  void on(FrameDeparted& event, core::TimeUs now);
  void on(ConnectionClosed& event, core::TimeUs now);
  void await_first(ConnectionId id, Connection& connection, core::TimeUs now);
  void stop_awaiting(ConnectionId id, Connection& connection);
  void first_message(ConnectionId id, Connection& connection, MessageArrived& event);
  void caller_proves(ConnectionId id, Connection& connection, const proto::PrivateProof& proof);
  void answerer_says(ConnectionId id, Connection& connection, const proto::PeerMessage& message);
  void fail_call(ConnectionId id, const std::string& why);
  void refuse(ConnectionId id, proto::GoodbyeReason reason, const std::string& detail);
  void tell_refused(const Connection& connection, const std::string& why) const;
  void forget(ConnectionId id);
  void push_out(ConnectionId id, Connection& connection);
  static std::size_t ready_run(const std::deque<Line>& line);
  static Line take_first(Connection& connection);
  void hand_over(ConnectionId id, const proto::PeerMessage& message);
  void drop_run(ConnectionId id, Connection& connection, std::size_t blocks);
  void hand_over_run(ConnectionId id, Connection& connection, std::size_t blocks);

  TransportInbox& inbox_;
  ContentDirectory& contents_;
  proto::transport::Transport* transport_ = nullptr;
  // Until the transport has said that they are closed, or we closed them ourselves.
  std::unordered_map<ConnectionId, Connection> connections_;
  std::unordered_set<ConnectionId> closing_;
  std::set<std::pair<core::TimeUs, ConnectionId>> awaiting_first_;
};

}  // namespace firn::app
