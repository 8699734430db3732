// A transport that only writes down what it is asked to do. Fuzz targets use it too, so what it
// finds wrong ends the program.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "client/app/net/connections.h"
#include "proto/base/result.h"
#include "proto/framing.h"
#include "proto/transport/transport.h"

namespace firn::tests {

// For connections that serve nothing.
struct NoContents final : app::ContentDirectory {
  app::PeerEvents* find(const ContentId&) override { return nullptr; }
  bool knows(const ContentId&) override { return false; }
  Proven find_private(const proto::PrivateProof&, const proto::transport::PeerInfo&) override {
    return {};
  }
};

class FakeTransport final : public proto::transport::Transport {
 public:
  using ConnectionId = proto::transport::ConnectionId;

  std::map<ConnectionId, std::vector<std::vector<std::uint8_t>>> sent;   // frames, without prefix
  std::map<ConnectionId, std::vector<proto::transport::FrameTag>> tags;  // of these frames
  std::vector<Address> dialled;
  std::set<ConnectionId> closed;
  std::map<ConnectionId, bool> paused;
  std::function<void()> on_pause;
  ConnectionId last = 0;
  int runs = 0;

  Result<Address> listen(const Address& where) override { return where; }
  ConnectionId connect(const Address& where) override {
    dialled.push_back(where);
    return ++last;
  }
  void send(ConnectionId id, proto::OutgoingFrame frame, proto::transport::FrameTag tag) override {
    std::vector<std::uint8_t> bytes(frame.head.begin(), frame.head.end());
    bytes.insert(bytes.end(), frame.payload.bytes().begin(), frame.payload.bytes().end());
    FIRN_CHECK(bytes.size() >= proto::kFramePrefixBytes);
    sent[id].emplace_back(bytes.begin() + proto::kFramePrefixBytes, bytes.end());
    tags[id].push_back(tag);
  }
  void send_run(ConnectionId id, std::vector<proto::Block> blocks, std::size_t frame_bytes,
                proto::transport::FrameTag tag) override {
    ++runs;
    std::size_t bytes = 0;
    for (const proto::Block& block : blocks) {
      proto::OutgoingFrame frame = serialize(block);
      bytes += frame.bytes();
      send(id, std::move(frame), &block == &blocks.back() ? tag : proto::transport::kUntagged);
    }
    FIRN_CHECK(bytes == frame_bytes);
  }
  void close(ConnectionId id) override { closed.insert(id); }
  void pause_reading(ConnectionId id, bool pause) override {
    paused[id] = pause;
    if (pause && on_pause) on_pause();
  }
  const PeerId& id() const override { return id_; }

  proto::PeerMessage message(ConnectionId id, std::size_t index) const {
    auto parsed = proto::parse_peer_message(sent.at(id).at(index));
    return *std::move(parsed);
  }
  proto::TrackerRequest request(ConnectionId id, std::size_t index) const {
    auto parsed = proto::parse_tracker_request(sent.at(id).at(index));
    return *std::move(parsed);
  }

 private:
  PeerId id_;
};

}  // namespace firn::tests
