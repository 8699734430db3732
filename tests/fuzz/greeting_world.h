// What surrounds the greeting of peers under fuzzing: a process that shares a private content, and
// one that does not, to which the same strangers come; the owners of their contents; and what must
// hold of all that they say and hear (docs/protocol.md, "Private contents").
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "proto/base/result.h"
#include "tests/app/net/greeting_node.h"
#include "tests/proto/wire_frames.h"

namespace firn::fuzz {

using app::ConnectionId;
using core::PeerKey;
using privacy::Side;
using proto::transport::PeerInfo;
using Frame = std::vector<std::uint8_t>;

inline const privacy::PrivateKeys& secret_keys() {
  static const auto keys = tests::keys_of(5);
  return *keys;
}
inline Frame frame_of(const proto::PeerMessage& message) {
  const std::string bytes = test::message_in(serialize(message));
  return {bytes.begin(), bytes.end()};
}

// A connection, as it is known on its other side.
struct Wire {
  PeerInfo info;                        // as the process sees it
  std::uint64_t attempt = 0;            // of a call
  bool greeted = false;                 // a call for the private content
  bool standing = false, gone = false;  // the process's transport was told so
  bool spoke = false, right = false;    // its first message came; it was the right proof
  bool broken = false;                  // a frame was
  std::size_t said_last = 0;            // frames that the process had sent when it was over
  bool over = false;
  std::size_t departed = 0;  // frames
};
using Wires = std::map<ConnectionId, Wire>;

// What the session of a content may hear.
class Owner final : public app::PeerEvents {
 public:
  enum class Attempt { kPending, kOpened, kFailed, kDropped };

  Owner(const Wires& wires, tests::GreetingNode& node, bool hidden)
      : wires_(wires), node_(node), hidden_(hidden) {}

  std::map<std::uint64_t, Attempt> attempts;
  std::map<PeerKey, bool> peers;  // all that were opened, and whether they still are

  void peer_opened(PeerKey peer, const PeerInfo& info, std::uint64_t attempt) override {
    const Wire& wire = wires_.at(peer - 1);
    FIRN_CHECK(peers.emplace(peer, true).second && wire.standing);
    FIRN_CHECK(attempt == wire.attempt && info.outgoing == (attempt != 0));
    if (hidden_) FIRN_CHECK(wire.right && info.binding == wire.info.binding);
    if (attempt != 0) end(attempt, Attempt::kOpened);
    node_.connections.send(peer, proto::Hello{.content_id = {}, .agent = "fuzz"});
  }
  void connect_failed(std::uint64_t attempt, const Error&) override {
    end(attempt, Attempt::kFailed);
  }
  void peer_closed(PeerKey peer, const Error&) override { over(peer); }
  void peer_broke_protocol(PeerKey peer, const Error&) override { over(peer); }
  void peer_message(PeerKey peer, proto::PeerMessage, std::size_t) override { heard(peer); }
  void blocks_departed(PeerKey peer, std::uint32_t, std::size_t) override { heard(peer); }
  void manifest_part_departed(PeerKey peer) override { heard(peer); }

  void close(PeerKey peer) {
    if (peers.at(peer)) over(peer);
    node_.connections.close(peer);
  }
  void close_all() {
    for (auto& [attempt, state] : attempts)
      if (state == Attempt::kPending) state = Attempt::kDropped;
    for (auto& [peer, open] : peers) open = false;
    node_.connections.close_all(*this);
  }

 private:
  void end(std::uint64_t attempt, Attempt how) {
    FIRN_CHECK(attempts.at(attempt) == Attempt::kPending);
    attempts.at(attempt) = how;
  }
  void over(PeerKey peer) {
    heard(peer);
    peers.at(peer) = false;
  }
  void heard(PeerKey peer) const { FIRN_CHECK(peers.at(peer)); }

  const Wires& wires_;
  tests::GreetingNode& node_;
  const bool hidden_;
};

struct Process {
  tests::GreetingNode node{tests::peer_of(7)};
  Owner open, hidden;  // of the public contents, and of the private one

  Process(const Wires& wires, bool member) : open(wires, node, false), hidden(wires, node, true) {
    node.public_owner = &open;
    node.private_owner = &hidden;
    if (member) node.greeting.emplace(tests::keys_of(5), node.self);
  }
  const std::vector<Frame>& said(ConnectionId id) { return node.transport.sent[id]; }
  bool closed(ConnectionId id) const { return node.transport.closed.contains(id); }
};

// Only the member calls; strangers come to both.
class GreetingWorld {
 public:
  static constexpr ConnectionId kIncoming = 1000;  // and up

  Wires wires;
  Process member{wires, true}, other{wires, false};
  core::TimeUs now = 0;
  bool held = false;  // what comes waits

  template <typename Do>
  void both(Do act) {
    act(member);
    act(other);
  }
  // Those that know of the connection.
  template <typename Do>
  void each(ConnectionId id, Do act) {
    act(member);
    if (id >= kIncoming) act(other);
  }

  void accept(const PeerId& from) {
    const ConnectionId id = kIncoming + wires.size();
    stand(id, wires[id], from, false);
  }
  void call(bool greeted) {
    tests::GreetingNode& node = member.node;
    Owner& owner = greeted ? member.hidden : member.open;
    const std::uint64_t attempt = wires.size() + 1;
    owner.attempts[attempt] = Owner::Attempt::kPending;
    node.connections.connect(owner, attempt, {{}, "host", 1}, greeted ? &*node.greeting : nullptr);
    wires[node.transport.last] = {.info = {}, .attempt = attempt, .greeted = greeted};
  }
  void stand(ConnectionId id, Wire& wire, const PeerId& with, bool outgoing) {
    wire.info = {.id = with, .ip = "192.0.2.1", .port = 1, .outgoing = outgoing, .binding = {}};
    wire.info.binding[0] = static_cast<std::uint8_t>(++sessions_);
    wire.standing = true;
    for (const Side side : {Side::kCaller, Side::kAnswerer})
      FIRN_CHECK(proofs_.insert(proof(wire, side).proof).second);
    each(id, [&](Process& p) { p.node.inbox.on_open(id, wire.info); });
  }
  proto::PrivateProof proof(const Wire& wire, Side side) const {
    const PeerId &self = member.node.self, &with = wire.info.id;
    const bool calls = wire.info.outgoing;
    return {
        secret_keys().proof(side, {wire.info.binding, calls ? self : with, calls ? with : self})};
  }
  static Side own_side(const Wire& wire) {
    return wire.info.outgoing ? Side::kCaller : Side::kAnswerer;
  }
  static Side other_side(const Wire& wire) {
    return wire.info.outgoing ? Side::kAnswerer : Side::kCaller;
  }

  // From the other side of a connection that stands.
  void arrive(ConnectionId id, Wire& wire, std::span<const std::uint8_t> frame) {
    const auto message = proto::parse_peer_message(frame);
    if (message.ok() && !wire.spoke) {
      wire.spoke = true;
      const auto* said = std::get_if<proto::PrivateProof>(&*message);
      wire.right = said && *said == proof(wire, other_side(wire)) && !member.closed(id);
    }
    each(id, [&](Process& p) {
      const std::size_t before = p.said(id).size();
      const Status taken = p.node.inbox.on_frame(id, frame);
      FIRN_CHECK(taken.ok() == message.ok());
      // A broken frame is answered where it is read; the transport sends nothing after close().
      if (&p == &member && wire.over) wire.said_last += p.said(id).size() - before;
      if (!taken.ok()) p.node.inbox.on_close(id, taken.error());
    });
    if (!message.ok()) wire.gone = wire.broken = true;
  }
  void lose(ConnectionId id, Wire& wire, const Error& error) {
    if (wire.gone) return;
    wire.gone = true;
    each(id, [&](Process& p) { p.node.inbox.on_close(id, error); });
  }
  void depart(ConnectionId id, Wire& wire) {
    const auto& tags = member.node.transport.tags[id];
    if (wire.gone || wire.departed >= tags.size()) return;
    const auto tag = tags[wire.departed++];
    if (tag == proto::transport::kUntagged) return;
    each(id, [&](Process& p) {
      if (!p.closed(id)) p.node.inbox.on_departed(id, tag);
    });
  }
  void wait(core::TimeUs time) {
    now += time;
    both([&](Process& p) {
      p.node.connections.wake(now);
      FIRN_CHECK(p.node.connections.next_wake() > now);
    });
  }

  void settle() {
    if (!held) both([&](Process& p) { p.node.pump(now); });
    for (auto& [id, wire] : wires) check(id, wire);
  }
  void end() {
    held = false;
    settle();
    for (auto& [id, wire] : wires) lose(id, wire, {ErrorCode::kIo, "connection", "closed"});
    settle();
    both([&](Process& p) {
      FIRN_CHECK(p.node.connections.next_wake() == core::kNever);
      for (const Owner* owner : {&p.open, &p.hidden}) {
        for (const auto& [attempt, state] : owner->attempts)
          FIRN_CHECK(state != Owner::Attempt::kPending);
        for (const auto& [peer, open] : owner->peers) FIRN_CHECK(!open);
      }
    });
  }

 private:
  void check(ConnectionId id, Wire& wire) {
    const auto& said = member.said(id);
    if (wire.over) FIRN_CHECK(said.size() == wire.said_last);
    if (!wire.over && (member.closed(id) || (wire.gone && !held))) {
      wire.over = true;
      wire.said_last = said.size();
    }
    const bool opened_hidden = member.hidden.peers.contains(id + 1);
    if (id >= kIncoming) {
      // Without the secret nobody can tell the two processes apart.
      if (!wire.right) FIRN_CHECK(said == other.said(id) && member.closed(id) == other.closed(id));
    } else if (wire.greeted) {
      if (!opened_hidden) {
        only_proof(wire, said);
      } else {
        FIRN_CHECK(wire.broken || said.at(0) == frame_of(proof(wire, own_side(wire))));
      }
    }
    if (!held && wire.spoke && !wire.gone) answered(id, wire, opened_hidden);
  }
  // All that a call says before the other side's proof. A broken frame is answered where it is
  // read, with a Goodbye, perhaps before the proof is sent.
  void only_proof(const Wire& wire, const std::vector<Frame>& said) const {
    const auto own = std::count(said.begin(), said.end(), frame_of(proof(wire, own_side(wire))));
    FIRN_CHECK(own <= 1 && said.size() <= static_cast<std::size_t>(own) + wire.broken);
  }
  // What the first message led to.
  void answered(ConnectionId id, const Wire& wire, bool opened_hidden) const {
    if (wire.right && (wire.greeted || id >= kIncoming)) {
      FIRN_CHECK(opened_hidden || member.closed(id));
    } else if (wire.greeted) {
      FIRN_CHECK(member.closed(id));
      FIRN_CHECK(member.hidden.attempts.at(wire.attempt) != Owner::Attempt::kPending);
    } else {
      FIRN_CHECK(member.open.peers.contains(id + 1) || member.closed(id));
    }
  }

  int sessions_ = 0;
  std::set<decltype(proto::PrivateProof::proof)> proofs_;  // right ones: no two are the same
};

}  // namespace firn::fuzz
