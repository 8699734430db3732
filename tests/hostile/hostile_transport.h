// A saboteur's place in a real process: between the process, which is the production one, and its
// transport. Frames of peers are read on their way, changed as the saboteur says, and passed on;
// connections to trackers are left alone.
//
// Saboteurs know each other by the agent in their Hellos (kAgent), which their owners set.
//
// Threads: as Transport says; the saboteur is behind a lock.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "client/app/driver/peer_driver.h"
#include "proto/content/shape.h"
#include "proto/messages.h"
#include "proto/transport/transport.h"
#include "tests/hostile/saboteur.h"

namespace firn::hostile {

inline constexpr const char* kAgent = "firn-saboteur";

class HostileTransport final : public proto::transport::Transport,
                               private proto::transport::EventSink {
 public:
  using ConnectionId = proto::transport::ConnectionId;
  using FrameTag = proto::transport::FrameTag;

  // `start`: of the transport behind it; the others as Transport::start has them.
  static Result<std::unique_ptr<HostileTransport>> start(const app::TransportStart& start,
                                                         const Deeds& deeds,
                                                         const proto::transport::Identity& identity,
                                                         proto::transport::EventSink& sink,
                                                         const proto::transport::Options& options);

  // The content's shape, as soon as it is known.
  void learn(const Shape& shape);

  struct Counts {
    std::uint64_t blocks = 0, falsified = 0;  // that were sent
  };
  Counts counts() const;

  Result<Address> listen(const Address& where) override { return inner_->listen(where); }
  ConnectionId connect(const Address& where) override { return inner_->connect(where); }
  void send(ConnectionId id, proto::OutgoingFrame frame, FrameTag tag) override;
  void send_run(ConnectionId id, std::vector<proto::Block> blocks, std::size_t frame_bytes,
                FrameTag tag) override;
  void close(ConnectionId id) override { inner_->close(id); }
  void pause_reading(ConnectionId id, bool paused) override { inner_->pause_reading(id, paused); }
  const PeerId& id() const override { return self_; }

 private:
  struct Link {
    PeerId id;
    bool of_peer = false;  // not to a tracker
  };
  HostileTransport(const Deeds& deeds, const proto::transport::Identity& identity,
                   proto::transport::EventSink& sink)
      : self_(identity.id()), sink_(sink), saboteur_(deeds, Shape{}, self_.prefix()) {
    befriend(self_);
  }

  void on_open(ConnectionId id, const proto::transport::PeerInfo& info) override;
  Status on_frame(ConnectionId id, std::span<const std::uint8_t> frame) override;
  void on_departed(ConnectionId id, FrameTag tag) override { sink_.on_departed(id, tag); }
  void on_close(ConnectionId id, const Error& error) override;
  void on_turn_over() override { sink_.on_turn_over(); }

  // What is sent instead; nullopt: the frame as it is.
  std::optional<proto::OutgoingFrame> said(ConnectionId id, const proto::OutgoingFrame& frame);
  // What the process hears instead, without length prefix; empty: the frame as it is.
  std::vector<std::uint8_t> heard(ConnectionId id, std::span<const std::uint8_t> frame);
  void befriend(const PeerId& id);

  const PeerId self_;
  proto::transport::EventSink& sink_;

  mutable std::mutex mutex_;
  Saboteur saboteur_;
  std::set<PeerId> friends_;
  std::unordered_map<ConnectionId, Link> links_;
  Counts counts_;

  std::unique_ptr<proto::transport::Transport> inner_;  // the first to go: it has threads
};

}  // namespace firn::hostile
