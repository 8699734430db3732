// The exchange of proofs before Hello, between two Connections on the sides of one TLS session, and
// what a peer without the secret gets to hear.
#include "client/app/net/private_greeting.h"

#include <doctest/doctest.h>

#include "tests/app/net/greeting_node.h"

namespace firn::app {
namespace {

using proto::transport::PeerInfo;
using tests::GreetingNode;
using tests::peer_of;

// One process, and what the owner of its content hears: the private one with `secret`, or a public
// one of the same id.
struct Process final : PeerEvents, GreetingNode {
  ContentId content;
  std::vector<core::PeerKey> opened;
  std::vector<std::string> failures;
  std::vector<proto::PeerMessage> heard;
  std::size_t taken = 0;  // of what it has sent

  Process(std::uint8_t id, std::optional<std::uint8_t> secret) : GreetingNode(peer_of(id)) {
    public_owner = private_owner = this;
    if (secret) {
      greeting.emplace(tests::keys_of(*secret), self);
    } else {
      served.insert(content);
    }
  }

  void peer_opened(core::PeerKey peer, const PeerInfo&, std::uint64_t) override {
    opened.push_back(peer);
    connections.send(peer, proto::Hello{.content_id = content, .agent = "test"});
  }
  void connect_failed(std::uint64_t, const Error& error) override {
    failures.push_back(error.message());
  }
  void peer_closed(core::PeerKey, const Error&) override {}
  void peer_broke_protocol(core::PeerKey, const Error&) override {}
  void peer_message(core::PeerKey, proto::PeerMessage message, std::size_t) override {
    heard.push_back(std::move(message));
  }
  void blocks_departed(core::PeerKey, std::uint32_t, std::size_t) override {}
  void manifest_part_departed(core::PeerKey) override {}

  void open(std::uint8_t binding, const PeerId& other, bool outgoing) {
    PeerInfo info{.id = other, .ip = "192.0.2.1", .port = 1, .outgoing = outgoing, .binding = {}};
    info.binding.fill(binding);
    inbox.on_open(kConnection, info);
    pump();
  }
  std::vector<proto::PeerMessage> said() {
    std::vector<proto::PeerMessage> messages;
    for (std::size_t i = 0; i < transport.sent[kConnection].size(); ++i)
      messages.push_back(transport.message(kConnection, i));
    return messages;
  }

  static constexpr ConnectionId kConnection = 1;  // the first that FakeTransport dials
};

// Hands on what `from` has said since last time.
bool carry(Process& from, Process& to) {
  bool any = false;
  for (auto& frames = from.transport.sent[Process::kConnection]; from.taken < frames.size();) {
    CHECK(to.inbox.on_frame(Process::kConnection, frames[from.taken++]).ok());
    any = true;
  }
  to.pump();
  return any;
}

// `caller_binding` and `answerer_binding` differ where somebody stands in between.
void meet(Process& caller, Process& answerer, std::uint8_t caller_binding = 7,
          std::uint8_t answerer_binding = 7) {
  caller.connections.connect(caller, 1, {{}, "host", 1},
                             caller.greeting ? &*caller.greeting : nullptr);
  caller.open(caller_binding, answerer.self, true);
  answerer.open(answerer_binding, caller.self, false);
  while (carry(caller, answerer) || carry(answerer, caller)) {
  }
}

template <typename Message>
bool begins_with(const std::vector<proto::PeerMessage>& said) {
  return !said.empty() && std::holds_alternative<Message>(said.front());
}

TEST_CASE("two peers that know the secret prove it, then greet each other") {
  Process caller(1, 5), answerer(2, 5);
  meet(caller, answerer);
  for (Process* process : {&caller, &answerer}) {
    CHECK(process->opened.size() == 1);
    CHECK(begins_with<proto::PrivateProof>(process->said()));
    CHECK(process->said().size() == 2);
    REQUIRE(process->heard.size() == 1);
    CHECK(std::holds_alternative<proto::Hello>(process->heard[0]));
  }
}

TEST_CASE("a caller with another secret, or a proof of another session, hears of no content") {
  Process answerer(2, 5);
  std::optional<Process> caller;
  SUBCASE("another secret") {
    meet(caller.emplace(1, 6), answerer);
  }
  SUBCASE("the proof came to somebody in between, who passes it on") {
    meet(caller.emplace(1, 5), answerer, 7, 8);
  }
  CHECK(answerer.opened.empty());
  CHECK(caller->opened.empty());
  CHECK(caller->said().size() == 1);  // its proof: no Hello
  const auto said = answerer.said();
  REQUIRE(said.size() == 1);

  // To the letter what a Hello for a content hears that does not exist.
  Process public_caller(3, {}), other(2, 5);
  meet(public_caller, other);
  CHECK(said == other.said());
  CHECK(std::get<proto::Goodbye>(said[0]).reason == proto::GoodbyeReason::kNotServing);
  REQUIRE(caller->failures.size() == 1);
  CHECK(caller->failures[0].find("does not share this private content") != std::string::npos);
}

TEST_CASE("a proof that is sent back proves nothing") {
  Process caller(1, 5);
  caller.connections.connect(caller, 1, {{}, "host", 1}, &*caller.greeting);
  caller.open(7, peer_of(2), true);
  CHECK(caller.inbox.on_frame(Process::kConnection, caller.transport.sent[1].at(0)).ok());
  caller.pump();
  CHECK(caller.opened.empty());
  CHECK(caller.failures.size() == 1);
  CHECK(caller.transport.closed.contains(Process::kConnection));
  CHECK(caller.said().size() == 1);
}

TEST_CASE("a called peer that says anything else, or nothing, is told nothing") {
  Process caller(1, 5);
  caller.connections.connect(caller, 1, {{}, "host", 1}, &*caller.greeting);
  caller.open(7, peer_of(2), true);
  SUBCASE("nothing") {
    caller.connections.wake(Connections::kHelloTimeout - 1);
    CHECK(caller.failures.empty());
    caller.connections.wake(Connections::kHelloTimeout);
  }
  SUBCASE("a Hello") {
    const auto frame = serialize(proto::PeerMessage(proto::Hello{}));
    const std::string bytes = frame.head.substr(proto::kFramePrefixBytes);
    CHECK(caller.inbox
              .on_frame(Process::kConnection,
                        {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()})
              .ok());
    caller.pump();
  }
  SUBCASE("it hangs up") {
    caller.inbox.on_close(Process::kConnection, {ErrorCode::kIo, "connection", "closed"});
    caller.pump();
  }
  CHECK(caller.failures.size() == 1);
  CHECK(caller.opened.empty());
  CHECK(caller.said().size() == 1);
  CHECK(caller.connections.next_wake() == core::kNever);
}

TEST_CASE("while a content is being opened only peers that know its secret are told so") {
  Process member(1, 5), answerer(2, 5);
  answerer.accepts = false;
  meet(member, answerer);
  CHECK(answerer.opened.empty());
  REQUIRE(answerer.said().size() == 2);
  CHECK(begins_with<proto::PrivateProof>(answerer.said()));
  CHECK(std::get<proto::Goodbye>(answerer.said()[1]).reason == proto::GoodbyeReason::kUnspecified);
  CHECK(member.opened.size() == 1);

  Process stranger(3, 6), closed(2, 5);
  closed.accepts = false;
  meet(stranger, closed);
  REQUIRE(closed.said().size() == 1);
  CHECK(std::get<proto::Goodbye>(closed.said()[0]).reason == proto::GoodbyeReason::kNotServing);
}

}  // namespace
}  // namespace firn::app
