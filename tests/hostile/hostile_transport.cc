#include "tests/hostile/hostile_transport.h"

#include <chrono>
#include <utility>
#include <variant>

#include "proto/framing.h"

namespace firn::hostile {

namespace {

using proto::transport::PeerInfo;

std::vector<std::uint8_t> body_of(const proto::OutgoingFrame& frame) {
  std::vector<std::uint8_t> bytes(frame.head.begin() + proto::kFramePrefixBytes, frame.head.end());
  const auto payload = frame.payload.bytes();
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

// Of the process: whose deeds take turns.
core::TimeUs now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(since).count();
}

}  // namespace

Result<std::unique_ptr<HostileTransport>> HostileTransport::start(
    const app::TransportStart& start, const Deeds& deeds,
    const proto::transport::Identity& identity, proto::transport::EventSink& sink,
    const proto::transport::Options& options) {
  std::unique_ptr<HostileTransport> made(new HostileTransport(deeds, identity, sink));
  auto inner = start(identity, *made, options);
  if (!inner.ok()) return inner.error();
  made->inner_ = *std::move(inner);
  return made;
}

void HostileTransport::learn(const Shape& shape) {
  const std::lock_guard lock(mutex_);
  saboteur_.learn(shape);
}

HostileTransport::Counts HostileTransport::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void HostileTransport::befriend(const PeerId& id) {
  if (friends_.insert(id).second) saboteur_.befriend(id.prefix());
}

// --- what the process says ---

void HostileTransport::send(ConnectionId id, proto::OutgoingFrame frame, FrameTag tag) {
  if (auto instead = said(id, frame)) frame = *std::move(instead);
  inner_->send(id, std::move(frame), tag);
}

// One by one: what is said instead of a block need not be one.
void HostileTransport::send_run(ConnectionId id, std::vector<proto::Block> blocks, std::size_t,
                                FrameTag tag) {
  for (const proto::Block& block : blocks)
    send(id, serialize(block), &block == &blocks.back() ? tag : proto::transport::kUntagged);
}

std::optional<proto::OutgoingFrame> HostileTransport::said(ConnectionId id,
                                                           const proto::OutgoingFrame& frame) {
  const std::lock_guard lock(mutex_);
  const auto link = links_.find(id);
  if (link == links_.end()) return std::nullopt;
  auto message = proto::parse_peer_message(body_of(frame));
  if (!message.ok()) return std::nullopt;
  // A request to a tracker may look like another message of a peer, but not like its first one.
  link->second.of_peer |= std::holds_alternative<proto::Hello>(*message) ||
                          std::holds_alternative<proto::PrivateProof>(*message);
  if (!link->second.of_peer) return std::nullopt;
  if (auto* state = std::get_if<proto::State>(&*message)) {
    saboteur_.says(*state);
  } else if (auto* sums = std::get_if<proto::CheckReply>(&*message)) {
    saboteur_.says(id, *sums);
  } else if (auto* block = std::get_if<proto::Block>(&*message)) {
    saboteur_.vouches(*block);
    counts_.falsified += saboteur_.sends(*block, now());
    ++counts_.blocks;
  } else {
    return std::nullopt;
  }
  return proto::serialize(*message);
}

// --- what it hears ---

void HostileTransport::on_open(ConnectionId id, const PeerInfo& info) {
  {
    const std::lock_guard lock(mutex_);
    links_[id] = {info.id, !info.outgoing};
  }
  sink_.on_open(id, info);
}

void HostileTransport::on_close(ConnectionId id, const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    links_.erase(id);
  }
  sink_.on_close(id, error);
}

Status HostileTransport::on_frame(ConnectionId id, std::span<const std::uint8_t> frame) {
  const std::vector<std::uint8_t> instead = heard(id, frame);
  return sink_.on_frame(id, instead.empty() ? frame : instead);
}

std::vector<std::uint8_t> HostileTransport::heard(ConnectionId id,
                                                  std::span<const std::uint8_t> frame) {
  const std::lock_guard lock(mutex_);
  const auto link = links_.find(id);
  if (link == links_.end() || !link->second.of_peer) return {};
  auto message = proto::parse_peer_message(frame);
  if (!message.ok()) return {};
  const proto::PeerMessage before = *message;
  if (const auto* hello = std::get_if<proto::Hello>(&*message); hello && hello->agent == kAgent)
    befriend(link->second.id);
  saboteur_.believes(*message);
  saboteur_.hears(id, *message);
  return *message == before ? std::vector<std::uint8_t>{} : body_of(proto::serialize(*message));
}

}  // namespace firn::hostile
