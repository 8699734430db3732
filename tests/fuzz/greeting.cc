// What strangers say to a process, and it to them, before a content is agreed on: connections and
// calls, proofs right, wrong, sent back and passed on, other messages, broken frames, in any order.
// A stranger without the secret learns nothing, not even whether there is a private content, and
// the owner of that content hears of no peer that has not proven the secret (greeting_world.h).
#include <algorithm>
#include <string>
#include <utility>

#include "proto/base/signing_key.h"
#include "tests/fuzz/fuzz_bytes.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/greeting_world.h"

namespace firn::fuzz::greeting {
namespace {

constexpr std::size_t kWiresMax = 40;

ContentId content_of(std::uint8_t fill) {
  ContentId id;
  id.bytes.fill(fill);
  return id;
}
const ContentId kServed = content_of(1), kExpected = content_of(2), kUnknown = content_of(3);

class Strangers {
 public:
  explicit Strangers(FuzzBytes& in) : in_(in) {
    const std::uint8_t form = in_.byte();
    world_.both([&](Process& p) {
      if (form & 1) p.node.served.insert(kServed);
      if (form & 2) p.node.expected.insert(kExpected);
      p.node.accepts = (form & 4) == 0;
    });
  }
  void run() {
    for (int steps = 0; !in_.empty() && steps < 300; ++steps) {
      step(in_.byte() % 16);
      world_.settle();
    }
    world_.end();
  }

 private:
  // Which byte means what is part of the corpus.
  void step(std::uint8_t kind) {
    switch (kind) {
      case 0:
        return come();
      case 1:
      case 2:
        if (world_.wires.size() < kWiresMax) world_.call(kind == 1);
        return;
      case 3:
        return called();
      case 4:
        if (auto* w = in_.pick(world_.wires)) world_.lose(w->first, w->second, loss());
        return;
      case 11:
        return world_.wait(core::TimeUs{in_.byte()} * core::kSecond / 10);
      case 12:
        world_.held = !world_.held;
        return;
      case 13:
        return owner();
      case 14:
        if (auto* w = in_.pick(world_.wires)) world_.depart(w->first, w->second);
        return;
      case 15:
        world_.member.node.accepts = in_.below(2) == 0;
        return;
      default:
        return message(kind);
    }
  }

  PeerId id() { return tests::peer_of(static_cast<std::uint8_t>(4 + in_.below(4))); }  // 7: its own
  void come() {
    const PeerId from = id();
    if (world_.wires.size() < kWiresMax) world_.accept(from);
  }
  void called() {
    auto* w = in_.pick(world_.wires);
    const PeerId answers = id();
    if (w && !w->second.standing && !w->second.gone)
      world_.stand(w->first, w->second, answers, true);
  }
  Error loss() {
    constexpr ErrorCode kCodes[] = {ErrorCode::kIo, ErrorCode::kProtocol, ErrorCode::kCancelled,
                                    ErrorCode::kUnreachable, ErrorCode::kWrongIdentity};
    return {kCodes[in_.below(5)], "connection", "lost"};
  }

  void message(std::uint8_t kind) {
    auto* w = in_.pick(world_.wires);
    if (!w) return;
    const Frame frame = said(kind, w->second);
    if (w->second.standing && !w->second.gone && !frame.empty())
      world_.arrive(w->first, w->second, frame);
  }
  Frame said(std::uint8_t kind, const Wire& wire) {
    switch (kind) {
      case 5:
        return fuzz::frame_of(world_.proof(wire, world_.other_side(wire)));
      case 6:
        return wrong_proof(wire);
      case 7:
        return replayed();
      case 8: {
        const ContentId contents[] = {kServed, kExpected, ContentId{},
                                      fuzz::secret_keys().rendezvous(), kUnknown};
        return fuzz::frame_of(proto::Hello{.content_id = contents[in_.below(5)], .agent = "a"});
      }
      case 9:
        return other_message();
      default:
        return in_.bytes(in_.byte());
    }
  }
  // Right but for one thing.
  Frame wrong_proof(const Wire& wire) {
    proto::PrivateProof proof = world_.proof(wire, world_.other_side(wire));
    Wire changed = wire;
    switch (in_.below(7)) {
      case 0:
        proof.proof[in_.below(32)] ^= static_cast<std::uint8_t>(1 << in_.below(8));
        break;
      case 1:  // as it would be sent back
        proof = world_.proof(wire, world_.own_side(wire));
        break;
      case 2:  // the sides have changed places
        changed.info.outgoing = !wire.info.outgoing;
        proof = world_.proof(changed, world_.other_side(wire));
        break;
      case 3:
        changed.info.id = id();
        proof = world_.proof(changed, world_.other_side(wire));
        break;
      case 4:  // in place of another connection
        if (const auto* w = in_.pick(world_.wires)) {
          changed.info.binding = w->second.info.binding;
          proof = world_.proof(changed, world_.other_side(wire));
        }
        break;
      case 5:
        proof = {tests::keys_of(6)->proof(world_.other_side(wire), {wire.info.binding, {}, {}})};
        break;
      default:
        return cut(proof);
    }
    return fuzz::frame_of(proof);
  }
  // Or longer.
  Frame cut(const proto::PrivateProof& proof) {
    const auto size = static_cast<std::uint8_t>(in_.below(64));
    Frame frame = {0x7a, static_cast<std::uint8_t>(size + 2), 0x0a, size};  // docs/protocol.md
    frame.insert(frame.end(), proof.proof.begin(), proof.proof.end());
    frame.resize(4u + size);
    FIRN_CHECK(proto::parse_peer_message(frame).ok() == (size == proof.proof.size()));
    return frame;
  }
  // What the process has said on some connection.
  Frame replayed() {
    auto* w = in_.pick(world_.wires);
    const auto& said = world_.member.said(w->first);
    const std::uint8_t index = in_.byte();
    return said.empty() ? Frame{} : said[index % said.size()];
  }
  Frame other_message() {
    switch (in_.below(6)) {
      case 0:
        return fuzz::frame_of(proto::Goodbye{proto::GoodbyeReason::kNotServing, "why"});
      case 1:
        return fuzz::frame_of(proto::State{});
      case 2:
        return fuzz::frame_of(proto::ManifestRequest{});
      case 3:
        return fuzz::frame_of(proto::PeerExchange{});
      case 4:
        return fuzz::frame_of(
            proto::Hello{.content_id = {}, .agent = std::string(in_.below(65), 'a')});
      default:
        return fuzz::frame_of(block(true));
    }
  }

  static proto::Block block(bool made) {
    proto::Block block;
    block.sequence = 1;
    block.source_index = 0;
    if (made) block.payload = proto::Payload::copy_of(test::bytes_of("payload"));
    return block;
  }
  // Of any peer that it has heard of, those too that are no more.
  void owner() {
    const bool hidden = in_.below(2) == 1;
    Owner& mine = hidden ? world_.member.hidden : world_.member.open;
    const std::uint32_t what = in_.below(6);
    if (what == 0) return close_all(hidden);
    if (what == 1) return fill();
    const auto* peer = in_.pick(mine.peers);
    if (!peer) return;
    const fuzz::PeerKey key = peer->first;
    act(key, hidden, [&](Process& p, Owner& one) {
      if (what == 2) return one.close(key);
      if (what == 3) return p.node.connections.send(key, proto::ManifestPart{7, 0, "content"});
      if (what == 4) return p.node.connections.send(key, proto::State{});
      const auto ticket = p.node.connections.reserve(key, block(false));
      if (ticket != 0) tickets_.push_back({&p, ticket});
    });
  }
  // The other process's owner does the same, where it knows of the peer.
  template <typename Do>
  void act(fuzz::PeerKey key, bool hidden, Do what) {
    what(world_.member, hidden ? world_.member.hidden : world_.member.open);
    if (!hidden && world_.other.open.peers.contains(key)) what(world_.other, world_.other.open);
  }
  void close_all(bool hidden) {
    if (hidden) return world_.member.hidden.close_all();
    world_.both([](Process& p) { p.open.close_all(); });
  }
  // The oldest blocks, of both processes.
  void fill() {
    const bool made = in_.below(4) != 0;
    for (const auto& [process, ticket] : std::exchange(tickets_, {}))
      process->node.connections.fill(ticket, block(made).payload);
  }

  FuzzBytes& in_;
  GreetingWorld world_;
  std::vector<std::pair<Process*, std::uint64_t>> tickets_;  // of blocks that are being made
};

}  // namespace

FIRN_FUZZ_TARGET(greeting) {
  FuzzBytes in(data, size);
  Strangers(in).run();
  return 0;
}

}  // namespace firn::fuzz::greeting
