#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <variant>

#include "proto/base/limits.h"
#include "proto/messages.h"
#include "proto/wire.h"
#include "tests/proto/document.h"
#include "tests/proto/hex.h"
#include "tests/proto/random_messages.h"
#include "tests/proto/wire_frames.h"

using namespace firn;
using namespace firn::proto;
using namespace firn::test;

namespace {

// What the parser says about `message`; "" if it takes it.
std::string fault(const std::string& message) {
  const auto parsed = parse_peer_message(bytes_of(message));
  if (parsed.ok()) return "";
  CHECK(parsed.error().code == ErrorCode::kProtocol);
  return parsed.error().detail;
}
std::string fault(const wire::PeerMessage& message) {
  return fault(message.SerializeAsString());
}

bool says(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

wire::PeerMessage valid_block() {
  wire::PeerMessage message;
  wire::Block& block = *message.mutable_block();
  block.set_generation(3);
  block.set_sequence(9);
  block.set_coefficients("\x01\x02\x03");
  block.set_payload("payload");
  return message;
}

// docs/protocol.md prints the message.
void check(const char* name, const PeerMessage& message) {
  CAPTURE(name);
  const std::string printed = hex_example("protocol.md", name);
  CHECK(to_hex(whole(serialize(message))) == printed);
  CHECK(*parse_peer_message(bytes_of(from_hex(printed).substr(4))) == message);
}

}  // namespace

TEST_CASE("random peer messages come back as they were sent, in frames of the size foretold") {
  RandomMessages random(11);
  std::size_t kinds[kSentKinds] = {};
  for (int round = 0; round < 3000; ++round) {
    const PeerMessage message = random.peer_message();
    ++kinds[message.index()];
    const OutgoingFrame frame = serialize(message);
    CHECK(wire_bytes(message) == frame.bytes());
    const std::string bytes = whole(frame);
    std::uint32_t prefix = 0;
    for (int i = 0; i < 4; ++i) prefix = prefix << 8 | static_cast<std::uint8_t>(bytes[i]);
    CHECK(prefix == bytes.size() - 4);
    const auto parsed = parse_peer_message(bytes_of(message_in(frame)));
    REQUIRE(parsed.ok());
    CHECK(*parsed == message);
    // Any protobuf implementation reads it too, and agrees on its canonical form.
    wire::PeerMessage plain;
    REQUIRE(plain.ParseFromString(message_in(frame)));
    CHECK(plain.SerializeAsString() == message_in(frame));
  }
  CHECK(std::ranges::all_of(kinds, [](std::size_t count) { return count > 100; }));
}

TEST_CASE("a block's payload is sent from where it lies and received into aligned memory") {
  Block block;
  block.generation = 1;
  block.sequence = 1;
  block.source_index = 0;
  block.payload = Payload::copy_of(bytes_of(std::string(16384, 'p')));
  const OutgoingFrame frame = serialize(block);
  CHECK(frame.payload.bytes().data() == block.payload.bytes().data());
  CHECK(frame.head.size() < 32);
  const auto parsed = parse_peer_message(bytes_of(message_in(frame)));
  REQUIRE(parsed.ok());
  const auto address =
      reinterpret_cast<std::uintptr_t>(std::get<Block>(*parsed).payload.bytes().data());
  CHECK(address % 64 == 0);
}

TEST_CASE("a block's fields may come in any order") {
  const wire::PeerMessage message = valid_block();
  wire::PeerMessage extra = message;
  extra.mutable_block()->mutable_state()->set_credit(5);
  const auto expected = parse_peer_message(bytes_of(extra.SerializeAsString()));
  REQUIRE(expected.ok());

  // One piece per field, then every order of the pieces.
  std::vector<std::string> pieces;
  const auto piece = [&](auto set) {
    wire::Block one;
    set(one, extra.block());
    REQUIRE(one.ByteSizeLong() > 0);
    pieces.push_back(one.SerializeAsString());
  };
  using B = wire::Block;
  piece([](B& one, const B& all) { one.set_generation(all.generation()); });
  piece([](B& one, const B& all) { one.set_sequence(all.sequence()); });
  piece([](B& one, const B& all) { one.set_coefficients(all.coefficients()); });
  piece([](B& one, const B& all) { *one.mutable_state() = all.state(); });
  piece([](B& one, const B& all) { one.set_payload(all.payload()); });
  std::ranges::sort(pieces);
  do {
    std::string body;
    for (const std::string& piece : pieces) body += piece;
    std::string frame = "\x1a";
    frame += static_cast<char>(body.size());
    const auto parsed = parse_peer_message(bytes_of(frame + body));
    REQUIRE(parsed.ok());
    CHECK(*parsed == *expected);
  } while (std::ranges::next_permutation(pieces).found);
}

TEST_CASE("of repeated bodies and repeated fields the last one counts") {
  wire::PeerMessage first = valid_block();
  first.mutable_block()->set_payload("first");
  wire::PeerMessage second = valid_block();
  second.mutable_block()->set_source_index(7);  // and so no coefficients
  const auto parsed =
      parse_peer_message(bytes_of(first.SerializeAsString() + second.SerializeAsString()));
  REQUIRE(parsed.ok());
  const Block& block = std::get<Block>(*parsed);
  CHECK(block.source_index == 7);
  CHECK(block.coefficients.empty());
  CHECK(block.payload == Payload::copy_of(bytes_of("payload")));

  // Either kind of coding vector takes the place of the other.
  const std::string systematic_first =
      "\x1a" +
      std::string(1,
                  static_cast<char>(second.block().ByteSizeLong() + first.block().ByteSizeLong())) +
      second.block().SerializeAsString() + first.block().SerializeAsString();
  const auto coded = parse_peer_message(bytes_of(systematic_first));
  REQUIRE(coded.ok());
  CHECK_FALSE(std::get<Block>(*coded).source_index);
  CHECK(std::get<Block>(*coded).coefficients == std::vector<std::uint8_t>{1, 2, 3});

  // Within one block: a payload twice, and both kinds of coding vector.
  const std::string body = first.block().SerializeAsString() + second.block().SerializeAsString();
  const std::string merged = "\x1a" + std::string(1, static_cast<char>(body.size())) + body;
  CHECK(*parse_peer_message(bytes_of(merged)) == *parsed);
}

TEST_CASE("unknown fields are skipped") {
  // A varint, a fixed64, bytes, a group and a fixed32 under numbers that no schema uses.
  const std::string unknown = from_hex(
      "a006 01  a106 0102030405060708  a206 02 aabb  a306 0801 a406"
      "  a506 01020304");
  const wire::PeerMessage message = valid_block();
  const std::string body = unknown + message.block().SerializeAsString() + unknown;
  const std::string frame =
      unknown + "\x1a" + std::string(1, static_cast<char>(body.size())) + body + unknown;
  const auto parsed = parse_peer_message(bytes_of(frame));
  REQUIRE(parsed.ok());
  CHECK(*parsed == *parse_peer_message(bytes_of(message.SerializeAsString())));
}

TEST_CASE("every cut of a valid message is refused or means another valid message") {
  RandomMessages random(5);
  for (int round = 0; round < 60; ++round) {
    const std::string message = message_in(serialize(random.peer_message()));
    for (std::size_t cut = 0; cut < std::min<std::size_t>(message.size(), 300); ++cut)
      CHECK(fault(message.substr(0, cut)) != "");
  }
}

TEST_CASE("a block out of bounds is refused") {
  CHECK(fault(valid_block()) == "");
  const auto with = [](auto change) {
    wire::PeerMessage message = valid_block();
    change(*message.mutable_block());
    return fault(message);
  };
  CHECK(says(with([](auto& b) { b.set_generation(limits::kGenerationCountMax); }), "number"));
  CHECK(with([](auto& b) { b.set_generation(limits::kGenerationCountMax - 1); }) == "");
  CHECK(says(with([](auto& b) { b.clear_sequence(); }), "sequence"));
  CHECK(says(with([](auto& b) { b.clear_coefficients(); }), "no coding vector"));
  CHECK(says(with([](auto& b) { b.set_coefficients(""); }), "no coding vector"));
  CHECK(says(with([](auto& b) { b.set_coefficients(std::string(4097, 'x')); }), "longer than any"));
  CHECK(with([](auto& b) { b.set_coefficients(std::string(4096, 'x')); }) == "");
  CHECK(says(with([](auto& b) { b.set_source_index(4096); }), "source block"));
  CHECK(with([](auto& b) { b.set_source_index(4095); }) == "");
  CHECK(says(with([](auto& b) { b.clear_payload(); }), "payload of 0"));
  CHECK(says(with([](auto& b) { b.set_payload(std::string((1 << 20) + 1, 'x')); }), "payload of"));
  CHECK(with([](auto& b) { b.set_payload(std::string(1 << 20, 'x')); }) == "");
  CHECK(says(with([](auto& b) { b.mutable_state()->add_complete(); }), "span"));
}

TEST_CASE("the largest block fits into a frame") {
  Block block;
  block.generation = limits::kGenerationCountMax - 1;
  block.sequence = 0xffffffff;
  block.coefficients.assign(limits::kGenerationSizeMax, 0xff);
  block.payload = Payload::allocate(limits::kBlockBytesMax);
  std::ranges::fill(block.payload.writable(), 0xee);
  const OutgoingFrame frame = serialize(block);
  CHECK(frame.bytes() < limits::kFrameBytesMax);
  CHECK(fault(message_in(frame)) == "");
}

TEST_CASE("a hello out of bounds is refused") {
  wire::PeerMessage good;
  wire::Hello& hello = *good.mutable_hello();
  hello.set_version_min(1);
  hello.set_version_max(2);
  hello.set_content_id(std::string(32, 'c'));
  hello.set_listen_port(65535);
  hello.set_agent(std::string(limits::kAgentBytesMax, 'a'));
  CHECK(fault(good) == "");
  const auto with = [&](auto change) {
    wire::PeerMessage message = good;
    change(*message.mutable_hello());
    return fault(message);
  };
  CHECK(says(with([](auto& h) { h.set_version_min(3); }), "no range"));
  CHECK(says(with([](auto& h) { h.set_version_min(0); }), "no range"));
  CHECK(says(with([](auto& h) { h.set_content_id(std::string(31, 'c')); }), "32 bytes"));
  CHECK(says(with([](auto& h) { h.clear_content_id(); }), "32 bytes"));
  CHECK(says(with([](auto& h) { h.set_listen_port(65536); }), "port"));
  CHECK(says(with([](auto& h) { h.set_agent(std::string(65, 'a')); }), "agent"));
  CHECK(says(with([](auto& h) { h.set_agent("a\nb"); }), "agent"));
  CHECK(with([](auto& h) { h.set_certificate(std::string(64, '\0')); }) == "");
  CHECK(says(with([](auto& h) { h.set_certificate(std::string(63, 's')); }), "certificate"));
  CHECK(says(with([](auto& h) { h.set_certificate(std::string(65, 's')); }), "certificate"));
  // Text that is not UTF-8 cannot even be set without a complaint from protobuf: by hand.
  CHECK(says(fault(from_hex("0a03 2a01ff")), "agent"));
}

TEST_CASE("a state out of bounds is refused") {
  const auto with = [](auto change) {
    wire::PeerMessage message;
    change(*message.mutable_state());
    return fault(message);
  };
  const auto span = [&](std::uint32_t first, std::uint32_t count) {
    return with([&](auto& s) {
      auto& entry = *s.add_complete();
      entry.set_first(first);
      entry.set_count(count);
    });
  };
  CHECK(with([](auto&) {}) == "");
  CHECK(span(0, limits::kGenerationCountMax) == "");
  CHECK(says(span(1, limits::kGenerationCountMax), "span"));
  CHECK(says(span(5, 0), "span"));
  CHECK(says(span(0xffffffff, 1), "span"));
  CHECK(says(span(0xffffffff, 0xffffffff), "span"));
  CHECK(says(span(2, 0xfffffffe), "span"));

  const auto entry = [&](auto change) {
    return with([&](auto& s) { change(*s.add_generations()); });
  };
  CHECK(entry([](auto& g) { g.set_rank(4096); }) == "");
  CHECK(says(entry([](auto& g) { g.set_rank(4097); }), "rank"));
  CHECK(says(entry([](auto& g) { g.set_quota(4097); }), "rank"));
  CHECK(says(entry([](auto& g) { g.set_null_vector(std::string(4097, 'z')); }), "null vector"));
  CHECK(entry([](auto& g) { g.set_null_vector(std::string(4096, 'z')); }) == "");
  CHECK(says(entry([](auto& g) { g.set_generation(1 << 20); }), "number"));

  CHECK(says(with([](auto& s) { s.add_unwanted(); }), "span"));
  CHECK(says(with([](auto& s) { s.add_withdrawn(); }), "span"));
  CHECK(says(with([](auto& s) { s.add_fetching(); }), "span"));

  const auto many = [&](std::size_t entries, std::size_t spans) {
    return with([&](auto& s) {
      for (std::size_t i = 0; i < entries; ++i) s.add_generations();
      for (std::size_t i = 0; i < spans; ++i) {
        wire::Span* const span = i % 3 == 0   ? s.add_complete()
                                 : i % 3 == 1 ? s.add_unwanted()
                                              : s.add_withdrawn();
        span->set_count(1);
      }
    });
  };
  CHECK(many(limits::kStateEntriesMax, limits::kStateSpansMax) == "");
  CHECK(says(many(limits::kStateEntriesMax + 1, 0), "too many"));
  CHECK(says(many(0, limits::kStateSpansMax + 1), "too many"));

  const auto named = [&](std::size_t received, std::size_t convicted, std::size_t fetching = 0) {
    return with([&](auto& s) {
      for (std::size_t i = 0; i < fetching; ++i) s.add_fetching()->set_count(1);
      for (std::size_t i = 0; i < received; ++i) s.add_received();
      for (std::size_t i = 0; i < convicted; ++i) s.add_convicted(i);
    });
  };
  CHECK(named(limits::kReceivedMax, limits::kConvictedMax, limits::kFetchingMax) == "");
  CHECK(says(named(0, 0, limits::kFetchingMax + 1), "too many"));
  CHECK(says(named(limits::kReceivedMax + 1, 0), "too many"));
  CHECK(says(named(0, limits::kConvictedMax + 1), "too many"));
}

TEST_CASE("a check request names one generation at least, and no more than the limit") {
  const auto request = [](std::size_t count, std::uint32_t generation = 0) {
    wire::PeerMessage message;
    message.mutable_check_request();
    for (std::size_t i = 0; i < count; ++i)
      message.mutable_check_request()->add_generations(generation);
    return fault(message);
  };
  CHECK(request(1) == "");
  CHECK(request(limits::kCheckGenerationsMax, limits::kGenerationCountMax - 1) == "");
  CHECK(says(request(0), "check request"));
  CHECK(says(request(limits::kCheckGenerationsMax + 1), "too many"));
  CHECK(says(request(1, limits::kGenerationCountMax), "number"));
  // Numbers need not be packed.
  const auto parsed = parse_peer_message(bytes_of(from_hex("4204 0803 0807")));
  REQUIRE(parsed.ok());
  CHECK(std::get<CheckRequest>(*parsed).generations == std::vector<std::uint32_t>{3, 7});
}

TEST_CASE("a check reply contains a whole key or none, and bounded sums") {
  const auto with = [](auto change) {
    wire::PeerMessage message;
    change(*message.mutable_check_reply());
    return fault(message);
  };
  constexpr std::size_t kSumsMax = limits::kGenerationSizeMax * limits::kCheckTagBytesMax;
  CHECK(with([](auto&) {}) == "");
  CHECK(with([](auto& r) { r.set_key(std::string(32, 'k')); }) == "");
  CHECK(says(with([](auto& r) { r.set_key(std::string(31, 'k')); }), "key"));
  CHECK(says(with([](auto& r) { r.set_key(std::string(33, 'k')); }), "key"));
  CHECK(with([](auto& r) { r.set_sums(std::string(kSumsMax, 's')); }) == "");
  CHECK(says(with([](auto& r) { r.set_sums(std::string(kSumsMax + 1, 's')); }), "sums"));
  CHECK(with([](auto& r) { r.set_generation(limits::kGenerationCountMax - 1); }) == "");
  CHECK(says(with([](auto& r) { r.set_generation(limits::kGenerationCountMax); }), "number"));
}

TEST_CASE("manifest requests and parts out of bounds are refused") {
  wire::PeerMessage request;
  request.mutable_manifest_request()->set_offset(limits::kManifestBytesMax);
  CHECK(fault(request) == "");
  request.mutable_manifest_request()->set_offset(limits::kManifestBytesMax + 1);
  CHECK(says(fault(request), "offset"));

  const auto part = [](std::uint64_t total, std::uint64_t offset, std::size_t bytes) {
    wire::PeerMessage message;
    message.mutable_manifest_part()->set_total_bytes(total);
    message.mutable_manifest_part()->set_offset(offset);
    message.mutable_manifest_part()->set_data(std::string(bytes, 'm'));
    return fault(message);
  };
  CHECK(part(100, 0, 100) == "");
  CHECK(part(100, 100, 0) == "");
  CHECK(part(0, 0, 0) == "");
  CHECK(part(limits::kManifestBytesMax, 0, limits::kManifestPartBytes) == "");
  CHECK(says(part(100, 1, 100), "past"));
  CHECK(says(part(100, 101, 0), "past"));
  CHECK(says(part(100, ~std::uint64_t{0}, 2), "past"));
  CHECK(says(part(100, 50, 0), "empty"));
  CHECK(says(part(0, 0, 1), "not there"));
  CHECK(says(part(limits::kManifestBytesMax + 1, 0, 1), "larger"));
  CHECK(says(part(limits::kManifestBytesMax, 0, limits::kManifestPartBytes + 1), "too large"));
}

TEST_CASE("addresses in a peer exchange have whole ids, ips and ports") {
  const auto exchange = [](const std::string& id, const std::string& ip, std::uint32_t port,
                           std::size_t count = 1) {
    wire::PeerMessage message;
    message.mutable_peer_exchange();
    for (std::size_t i = 0; i < count; ++i) {
      auto& peer = *message.mutable_peer_exchange()->add_peers();
      peer.set_peer_id(id);
      peer.set_ip(ip);
      peer.set_port(port);
    }
    return message;
  };
  const std::string id(32, 'i'), v4 = from_hex("7f000001");
  CHECK(fault(exchange(id, v4, 1)) == "");
  CHECK(fault(exchange(id, v4, 1, 0)) == "");
  CHECK(fault(exchange(id, v4, 65535, limits::kPeerExchangeMax)) == "");
  CHECK(says(fault(exchange(id, v4, 1, limits::kPeerExchangeMax + 1)), "too many"));
  CHECK(says(fault(exchange(id, v4, 0)), "wrong size"));
  CHECK(says(fault(exchange(id, v4, 65536)), "wrong size"));
  CHECK(says(fault(exchange(id, "", 1)), "wrong size"));
  CHECK(says(fault(exchange(id, std::string(5, 'x'), 1)), "wrong size"));
  CHECK(says(fault(exchange(std::string(31, 'i'), v4, 1)), "wrong size"));

  const auto ip_of = [&](const std::string& ip) {
    const auto parsed = parse_peer_message(bytes_of(exchange(id, ip, 9).SerializeAsString()));
    REQUIRE(parsed.ok());
    return std::get<PeerExchange>(*parsed).peers.at(0).ip;
  };
  CHECK(ip_of(v4) == "127.0.0.1");
  CHECK(ip_of(from_hex("20010db8000000000000000000000007")) == "2001:db8::7");
  CHECK(ip_of(from_hex("00000000000000000000ffff0a000001")) == "10.0.0.1");
}

TEST_CASE("a goodbye of a later version is understood as a goodbye") {
  const auto parsed = parse_peer_message(bytes_of(from_hex("3a02 0863")));
  REQUIRE(parsed.ok());
  CHECK(std::get<Goodbye>(*parsed).reason == GoodbyeReason::kUnspecified);
  CHECK(says(fault(from_hex("3a03 1201ff")), "detail"));
  wire::PeerMessage message;
  message.mutable_goodbye()->set_detail(std::string(limits::kReasonBytesMax + 1, 'x'));
  CHECK(says(fault(message), "detail"));
}

TEST_CASE("texts are made fit to send") {
  const Goodbye sent{GoodbyeReason::kProtocolError, std::string(300, 'x') + "\xff\n"};
  const auto parsed = parse_peer_message(bytes_of(message_in(serialize(sent))));
  REQUIRE(parsed.ok());
  CHECK(std::get<Goodbye>(*parsed).detail == std::string(limits::kReasonBytesMax, 'x'));
  Hello hello;
  hello.agent = "fi\x01rn";
  const auto greeted = parse_peer_message(bytes_of(message_in(serialize(hello))));
  REQUIRE(greeted.ok());
  CHECK(std::get<Hello>(*greeted).agent == "fi?rn");
}

TEST_CASE("hello, states and blocks are sent as docs/protocol.md prints them") {
  Hello hello;
  for (std::size_t i = 0; i < kIdBytes; ++i)
    hello.content_id.bytes[i] = static_cast<std::uint8_t>(i);
  hello.listen_port = 7000;
  hello.agent = "firn/0.1.0";
  hello.has_manifest = true;
  check("hello", hello);

  State state;
  state.acknowledged = 7;
  state.credit = 300;
  state.prefer_coded = true;
  state.upload_kib = 976;
  state.neighbours = 12;
  state.complete = {{0, 3}, {5, 1}};
  state.generations = {{.generation = 3, .rank = 10, .quota = 4, .null_vector = {}},
                       {.generation = 4, .rank = 2, .quota = 0, .null_vector = {1, 2, 3, 4}}};
  check("state", state);

  State lost;
  lost.acknowledged = 7;
  lost.credit = 300;
  lost.unwanted = {{17, 1}, {20, 2}};
  lost.withdrawn = {{17, 1}, {20, 1}};
  check("state_withdrawn", lost);
  lost.unwanted = lost.withdrawn = {};
  lost.fetching = {{17, 3}};
  check("state_fetching", lost);
  State strict;
  strict.acknowledged = 7;
  strict.credit = 300;
  strict.proven_only = true;
  strict.received = {{.peer_prefix = 0xa1a2a3a4a5a6a7a8, .blocks = 5}};
  check("state_proven_only", strict);

  State accusing;
  accusing.acknowledged = 7;
  accusing.credit = 300;
  accusing.convicted = {0xa1a2a3a4a5a6a7a8};
  check("state_convicted", accusing);

  Block coded;
  coded.generation = 3;
  coded.sequence = 8;
  coded.coefficients = {0x1d, 0, 0xff, 2};
  coded.recoded = true;
  coded.state.emplace();
  coded.state->acknowledged = 7;
  coded.state->credit = 11;
  coded.unproven = true;
  coded.payload = Payload::copy_of(bytes_of("payload!"));
  check("coded", coded);

  Block systematic;
  systematic.sequence = 1;
  systematic.source_index = 0;
  systematic.payload = coded.payload;
  check("systematic", systematic);
}

TEST_CASE("all other peer messages are sent as docs/protocol.md prints them") {
  check("manifest_request", ManifestRequest{262144});
  check("manifest_part", ManifestPart{.total_bytes = 262147, .offset = 262144, .data = "end"});
  PeerExchange exchange;
  exchange.peers = {{.id = {}, .ip = "192.0.2.1", .port = 7000}};
  exchange.peers[0].id.bytes.fill(0xaa);
  check("peer_exchange", exchange);
  check("check_request", CheckRequest{{3, 7}});
  CheckReply reply{.generation = 3, .key = {}, .sums = {}};
  for (std::size_t i = 0; i < limits::kCheckKeyBytes; ++i)
    reply.key.push_back(static_cast<std::uint8_t>(i));
  reply.sums = {0x16, 0x61, 0x0e, 0x9f, 0xc1, 0x6f, 0x97, 0x2a};
  check("check_reply", reply);
  check("goodbye", Goodbye{GoodbyeReason::kNotServing, "gone"});
}
