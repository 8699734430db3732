#include "client/app/net/connections.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "proto/base/result.h"
#include "proto/base/stage_times.h"

namespace firn::app {
namespace {

using proto::transport::FrameTag;

// Said of private contents too, to callers that have not proven their secret.
constexpr const char* kUnknownContent = "unknown content";

// The core's 0 means "no peer"; the transport's ids are its own business.
core::PeerKey key_of(ConnectionId id) {
  return id + 1;
}
ConnectionId id_of(core::PeerKey key) {
  return key - 1;
}

// Frames whose departure the core wants to hear of. The others have no tag, as being told wakes the
// main thread. The tag says it all: nothing has to be kept meanwhile.
struct Awaited {
  std::size_t bytes = 0;
  std::uint32_t blocks = 0;  // 0: a part of a manifest
};
constexpr int kBlocksBits = 16;
FrameTag tag_of(const Awaited& awaited) {
  return FrameTag{awaited.bytes} << kBlocksBits | awaited.blocks;  // no frame is empty
}
FrameTag tag_of(const proto::PeerMessage& message, std::size_t frame_bytes) {
  if (std::holds_alternative<proto::Block>(message)) return tag_of({frame_bytes, 1});
  if (std::holds_alternative<proto::ManifestPart>(message)) return tag_of({frame_bytes, 0});
  return proto::transport::kUntagged;
}
Awaited awaited_of(FrameTag tag) {
  return {static_cast<std::size_t>(tag >> kBlocksBits),
          static_cast<std::uint32_t>(tag & ((1u << kBlocksBits) - 1))};
}

proto::OutgoingFrame frame_of(const proto::PeerMessage& message) {
  const StageScope stage(Stage::kMessages);
  return serialize(message);
}

// A ticket is the connection's key and the last digits of the block's place in its line, which tell
// the places of a line apart.
constexpr int kPlaceBits = 24;
constexpr std::uint64_t kPlaceMask = (std::uint64_t{1} << kPlaceBits) - 1;
std::uint64_t ticket_of(ConnectionId id, std::uint64_t place) {
  return key_of(id) << kPlaceBits | (place & kPlaceMask);
}

}  // namespace

void Connections::handle(TransportEvent event, core::TimeUs now) {
  std::visit([&](auto& e) { on(e, now); }, event);
}

void Connections::on(ConnectionOpened& event, core::TimeUs now) {
  Connection* connection = nullptr;
  if (event.info.outgoing) {
    const auto found = connections_.find(event.connection);
    if (found == connections_.end()) return;  // closed by us while it was being made
    connection = &found->second;
  } else {
    connection = &connections_[event.connection];
  }
  connection->info = event.info;
  if (connection->greeting != nullptr) {
    const proto::PeerMessage proof = connection->greeting->own_proof(event.info);
    transport_->send(event.connection, serialize(proof));
    return await_first(event.connection, *connection, now);
  }
  connection->open = true;
  if (connection->tracker != nullptr) {
    connection->tracker->opened(event.info, now);
  } else if (connection->owner != nullptr) {
    connection->owner->peer_opened(key_of(event.connection), event.info, connection->attempt);
  } else {
    await_first(event.connection, *connection, now);
  }
}

void Connections::await_first(ConnectionId id, Connection& connection, core::TimeUs now) {
  connection.first_due = now + kHelloTimeout;
  awaiting_first_.emplace(connection.first_due, id);
}

void Connections::stop_awaiting(ConnectionId id, Connection& connection) {
  awaiting_first_.erase({connection.first_due, id});
  connection.first_due = core::kNever;
}

void Connections::on(MessageArrived& event, core::TimeUs) {
  const auto found = connections_.find(event.connection);
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  if (connection.owner == nullptr) return first_message(event.connection, connection, event);
  if (!connection.open) return answerer_says(event.connection, connection, event.message);
  connection.owner->peer_message(key_of(event.connection), std::move(event.message),
                                 event.frame_bytes);
}

void Connections::first_message(ConnectionId id, Connection& connection, MessageArrived& event) {
  stop_awaiting(id, connection);
  if (const auto* proof = std::get_if<proto::PrivateProof>(&event.message))
    return caller_proves(id, connection, *proof);
  const auto* hello = std::get_if<proto::Hello>(&event.message);
  if (hello == nullptr)
    return refuse(id, proto::GoodbyeReason::kProtocolError, "the first message is no Hello");
  PeerEvents* const owner = contents_.find(hello->content_id);
  if (owner == nullptr) {
    // A peer that hears NOT_SERVING stays away for a while. A content that is being opened, or that
    // is about to be shared again, is worth another call soon.
    if (contents_.knows(hello->content_id))
      return refuse(id, proto::GoodbyeReason::kUnspecified, "not ready; come back later");
    return refuse(id, proto::GoodbyeReason::kNotServing, kUnknownContent);
  }
  connection.owner = owner;
  owner->peer_opened(key_of(id), connection.info, 0);
  owner->peer_message(key_of(id), std::move(event.message), event.frame_bytes);
}

// A caller that has proven nothing hears what it would of a content that nobody has.
void Connections::caller_proves(ConnectionId id, Connection& connection,
                                const proto::PrivateProof& proof) {
  const auto [owner, greeting] = contents_.find_private(proof, connection.info);
  if (greeting == nullptr) return refuse(id, proto::GoodbyeReason::kNotServing, kUnknownContent);
  const proto::PeerMessage own = greeting->own_proof(connection.info);
  transport_->send(id, serialize(own));
  if (owner == nullptr)
    return refuse(id, proto::GoodbyeReason::kUnspecified, "not ready; come back later");
  connection.owner = owner;
  owner->peer_opened(key_of(id), connection.info, 0);
}

// To a call for a private content: until the other side has proven the secret, the core knows
// nothing of the connection, so that nothing is said on it.
void Connections::answerer_says(ConnectionId id, Connection& connection,
                                const proto::PeerMessage& message) {
  stop_awaiting(id, connection);
  const auto* proof = std::get_if<proto::PrivateProof>(&message);
  if (proof == nullptr || !connection.greeting->proven(*proof, connection.info))
    return fail_call(id, "it does not share this private content, or not under this link");
  connection.open = true;
  connection.owner->peer_opened(key_of(id), connection.info, connection.attempt);
}

void Connections::fail_call(ConnectionId id, const std::string& why) {
  const Connection connection = connections_.at(id);
  const proto::transport::PeerInfo& info = connection.info;
  forget(id);
  connection.owner->connect_failed(
      connection.attempt,
      {ErrorCode::kUnreachable, "meet " + to_text(Address{{}, info.ip, info.port}), why});
}

void Connections::tell_refused(const Connection& connection, const std::string& why) const {
  const proto::transport::PeerInfo& info = connection.info;
  if (on_refused)
    on_refused("peer " + info.id.short_text() + " at " + to_text(Address{{}, info.ip, info.port}),
               why);
}

void Connections::refuse(ConnectionId id, proto::GoodbyeReason reason, const std::string& detail) {
  tell_refused(connections_.at(id), detail);
  transport_->send(id, serialize(proto::PeerMessage(proto::Goodbye{reason, detail})));
  forget(id);
}

// Closes it; its owner hears nothing more.
void Connections::forget(ConnectionId id) {
  const auto found = connections_.find(id);
  if (found != connections_.end()) {
    stop_awaiting(id, found->second);
    connections_.erase(found);
  }
  closing_.insert(id);
  transport_->close(id);
}

void Connections::on(ReplyArrived& event, core::TimeUs now) {
  const auto found = connections_.find(event.connection);
  if (found != connections_.end() && found->second.tracker != nullptr)
    found->second.tracker->replied(std::move(event.reply), now);
}

void Connections::on(FrameDeparted& event, core::TimeUs) {
  const auto found = connections_.find(event.connection);
  if (found == connections_.end() || found->second.owner == nullptr) return;
  PeerEvents& owner = *found->second.owner;
  const Awaited awaited = awaited_of(event.tag);
  if (awaited.blocks > 0) {
    owner.blocks_departed(key_of(event.connection), awaited.blocks, awaited.bytes);
  } else {
    owner.manifest_part_departed(key_of(event.connection));
  }
}

void Connections::on(ConnectionClosed& event, core::TimeUs now) {
  closing_.erase(event.connection);
  const auto found = connections_.find(event.connection);
  if (found == connections_.end()) return;
  const Connection connection = std::move(found->second);
  connections_.erase(found);
  awaiting_first_.erase({connection.first_due, event.connection});
  if (connection.tracker != nullptr) {
    connection.tracker->closed(event.error, now);
  } else if (connection.owner == nullptr) {
    tell_refused(connection, event.error.detail);
  } else if (connection.open && event.error.code == ErrorCode::kProtocol) {
    connection.owner->peer_broke_protocol(key_of(event.connection), event.error);
  } else if (connection.open) {
    connection.owner->peer_closed(key_of(event.connection), event.error);
  } else {
    connection.owner->connect_failed(connection.attempt, event.error);
  }
}

void Connections::wake(core::TimeUs now) {
  while (!awaiting_first_.empty() && awaiting_first_.begin()->first <= now) {
    const ConnectionId late = awaiting_first_.begin()->second;
    awaiting_first_.erase(awaiting_first_.begin());
    if (connections_.at(late).owner != nullptr) {
      fail_call(late, "it did not answer");
    } else {
      refuse(late, proto::GoodbyeReason::kProtocolError, "no Hello");
    }
  }
}

core::TimeUs Connections::next_wake() const {
  return awaiting_first_.empty() ? core::kNever : awaiting_first_.begin()->first;
}

// --- peers ---

void Connections::connect(PeerEvents& owner, std::uint64_t attempt, const Address& address,
                          const PrivateGreeting* greeting) {
  Connection& connection = connections_[transport_->connect(address)];
  connection.owner = &owner;
  connection.greeting = greeting;
  connection.attempt = attempt;
}

void Connections::send(core::PeerKey peer, const proto::PeerMessage& message) {
  const auto found = connections_.find(id_of(peer));
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  if (connection.line.empty()) return hand_over(found->first, message);
  connection.line_bytes += proto::wire_bytes(message);
  if (connection.line_bytes > kLineBytesMax) return transport_->close(found->first);
  connection.line.push_back({message, true});
}

std::uint64_t Connections::reserve(core::PeerKey peer, proto::Block block, bool more_follow) {
  const auto found = connections_.find(id_of(peer));
  if (found == connections_.end()) return 0;
  Connection& connection = found->second;
  connection.line.push_back({std::move(block), false, true, more_follow});
  return ticket_of(found->first, connection.first_in_line + connection.line.size() - 1);
}

void Connections::fill(std::uint64_t ticket, proto::Payload payload,
                       std::vector<std::uint8_t> vector) {
  const ConnectionId id = id_of(ticket >> kPlaceBits);
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  const std::uint64_t index = (ticket - connection.first_in_line) & kPlaceMask;
  FIRN_CHECK(index < connection.line.size());  // filled twice
  Line& line = connection.line[index];
  line.ready = true;
  auto& block = std::get<proto::Block>(line.message);
  block.payload = std::move(payload);
  if (!vector.empty()) block.coefficients = std::move(vector);
  push_out(id, connection);
}

// How many blocks at the head of the line go together, if all of these are there; else 0.
std::size_t Connections::ready_run(const std::deque<Line>& line) {
  for (std::size_t i = 0; i < line.size() && line[i].ready; ++i)
    if (!line[i].more_follow) return i + 1;
  return 0;
}

void Connections::push_out(ConnectionId id, Connection& connection) {
  const auto not_made = [](const Line& line) {
    return line.is_block && !std::get<proto::Block>(line.message).payload;
  };
  for (std::size_t run; (run = ready_run(connection.line)) > 0;) {
    const auto first = connection.line.begin();
    const auto end = first + static_cast<std::ptrdiff_t>(run);
    if (std::any_of(first, end, not_made)) {
      drop_run(id, connection, run);
    } else if (run > 1) {
      hand_over_run(id, connection, run);
    } else {
      hand_over(id, take_first(connection).message);
    }
  }
}

// One that was made would leave later than is told of the others, and these are told of in order.
void Connections::drop_run(ConnectionId id, Connection& connection, std::size_t blocks) {
  for (std::size_t i = 0; i < blocks; ++i) take_first(connection);
  if (connection.owner != nullptr)
    connection.owner->blocks_departed(key_of(id), static_cast<std::uint32_t>(blocks), 0);
}

Connections::Line Connections::take_first(Connection& connection) {
  Line first = std::move(connection.line.front());
  connection.line.pop_front();
  ++connection.first_in_line;
  if (!first.is_block) connection.line_bytes -= proto::wire_bytes(first.message);
  return first;
}

void Connections::hand_over(ConnectionId id, const proto::PeerMessage& message) {
  proto::OutgoingFrame frame = frame_of(message);
  const FrameTag tag = tag_of(message, frame.bytes());
  transport_->send(id, std::move(frame), tag);
}

void Connections::hand_over_run(ConnectionId id, Connection& connection, std::size_t blocks) {
  std::vector<proto::Block> run;
  run.reserve(blocks);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < blocks; ++i) {
    run.push_back(std::get<proto::Block>(take_first(connection).message));
    bytes += wire_bytes(run.back());
  }
  transport_->send_run(id, std::move(run), bytes,
                       tag_of({bytes, static_cast<std::uint32_t>(blocks)}));
}

void Connections::close(core::PeerKey peer) {
  const auto found = connections_.find(id_of(peer));
  if (found == connections_.end()) return;
  for (const Line& line : found->second.line)
    if (line.ready && !line.is_block) transport_->send(found->first, serialize(line.message));
  forget(found->first);
}

void Connections::close_all(const PeerEvents& owner) {
  std::vector<core::PeerKey> owned;
  for (const auto& [id, connection] : connections_)
    if (connection.owner == &owner) owned.push_back(key_of(id));
  for (core::PeerKey peer : owned) close(peer);
}

// --- trackers ---

ConnectionId Connections::connect_tracker(ReplyEvents& owner, const Address& address) {
  const ConnectionId id = transport_->connect(address);
  inbox_.expect_replies(id);
  connections_[id].tracker = &owner;
  return id;
}

void Connections::request(ConnectionId connection, const proto::TrackerRequest& request) {
  transport_->send(connection, serialize(request));
}

void Connections::close_tracker(ConnectionId connection) {
  forget(connection);
}

}  // namespace firn::app
