#include "proto/payload_place.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>

#include "proto/framing.h"
#include "proto/wire.h"
#include "tests/proto/random_messages.h"
#include "tests/proto/wire_frames.h"

using namespace firn;
using namespace firn::proto;
using firn::test::bytes_of;
using firn::test::message_in;
using firn::test::RandomMessages;
using firn::test::whole;
using Outcome = PayloadPlace::Outcome;

namespace {

Block block_of(std::size_t payload_bytes) {
  Block block;
  block.sequence = 1;
  block.source_index = 3;
  block.payload = Payload::allocate(payload_bytes);
  std::ranges::fill(block.payload.writable(), std::uint8_t{0xa5});
  return block;
}

bool in_place(const std::string& frame, std::size_t come) {
  return find_payload(bytes_of(frame).first(come), frame.size()).outcome == Outcome::kFound;
}

// What a reader that receives payloads in place makes of a stream, read in pieces of random size.
struct Taken {
  std::vector<PeerMessage> messages;
  std::size_t in_place = 0;
};
void take_frames(FrameReader& reader, Taken& taken) {
  for (;;) {
    auto frame = reader.next_frame();
    REQUIRE(frame.ok());
    if (!frame->has_value()) return;
    FrameReader::Frame& one = **frame;
    taken.in_place += bool(one.payload);
    auto message = one.payload ? parse_peer_message(one.head, std::move(one.payload))
                               : parse_peer_message(one.head);
    REQUIRE(message.ok());
    taken.messages.push_back(*std::move(message));
  }
}

Taken take_all(const std::string& stream, std::mt19937& random) {
  FrameReader reader(find_payload);
  Taken taken;
  for (std::size_t at = 0; at < stream.size();) {
    const auto space = reader.prepare(random() % 2 ? 1 : 16384);
    const std::size_t bytes =
        std::min({space.size(), stream.size() - at, std::size_t{1 + random() % 20'000}});
    REQUIRE(bytes > 0);
    std::memcpy(space.data(), stream.data() + at, bytes);
    reader.commit(bytes);
    at += bytes;
    take_frames(reader, taken);
  }
  return taken;
}

}  // namespace

TEST_CASE("messages are the same whether payloads are received in place or not") {
  std::size_t in_place = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    RandomMessages messages(seed);
    std::mt19937 random(seed);
    std::vector<PeerMessage> sent;
    std::string stream;
    for (std::size_t i = 0; i < 1 + random() % 30; ++i) {
      sent.push_back(random() % 2 ? messages.peer_message() : PeerMessage(block_of(16384)));
      stream += whole(serialize(sent.back()));
    }
    Taken taken = take_all(stream, random);
    CHECK(taken.messages == sent);
    in_place += taken.in_place;
  }
  CHECK(in_place > 300);
}

TEST_CASE("a payload is found once all before it has come, and not before") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    RandomMessages messages(seed);
    PeerMessage message = messages.peer_message();
    while (!std::holds_alternative<Block>(message)) message = messages.peer_message();
    const OutgoingFrame sent = serialize(message);
    const std::string frame = message_in(sent);
    const std::size_t begin = frame.size() - sent.payload.size();
    if (begin > 4096) continue;  // a State too large to look behind
    for (std::size_t come = 0; come < begin; ++come) {
      CAPTURE(come);
      CHECK(find_payload(bytes_of(frame).first(come), frame.size()).outcome == Outcome::kLater);
    }
    const PayloadPlace place = find_payload(bytes_of(frame).first(begin), frame.size());
    CHECK(place.outcome == Outcome::kFound);
    CHECK(place.begin == begin);
  }
}

TEST_CASE("other messages, and blocks with fields behind the payload, have none to be found") {
  const std::string block = message_in(serialize(PeerMessage(block_of(1000))));
  CHECK(in_place(block, 30));
  CHECK_FALSE(in_place(message_in(serialize(PeerMessage(State{}))), 2));
  wire::PeerMessage ordered;
  REQUIRE(ordered.ParseFromString(block));
  wire::PeerMessage behind;
  behind.mutable_block()->set_sequence(2);
  // As any parser reads two bodies of one kind: merged, the second behind the first's payload.
  std::string body = ordered.block().SerializeAsString() + behind.block().SerializeAsString();
  std::string frame = "\x1a";
  for (std::size_t length = body.size(); length > 0; length >>= 7)
    frame += static_cast<char>((length & 0x7f) | (length >> 7 ? 0x80 : 0));
  frame += body;
  CHECK(parse_peer_message(bytes_of(frame)).ok());
  for (std::size_t come = 0; come <= frame.size(); ++come) CHECK_FALSE(in_place(frame, come));
  CHECK_FALSE(in_place(block + std::string("\x12\x00", 2), 30));  // a second body
  CHECK_FALSE(in_place(std::string(40, '\xff'), 40));
}

TEST_CASE("a head that does not fit its payload is no message") {
  const std::string frame = message_in(serialize(PeerMessage(block_of(1000))));
  const auto head = bytes_of(frame).first(frame.size() - 1000);
  CHECK(parse_peer_message(head, Payload::allocate(1000)).ok());
  CHECK_FALSE(parse_peer_message(head, Payload::allocate(999)).ok());
  CHECK_FALSE(parse_peer_message(head.first(head.size() - 1), Payload::allocate(1000)).ok());
  CHECK_FALSE(parse_peer_message(head, {}).ok());
}

TEST_CASE("a payload longer than any that came takes no memory before it comes") {
  constexpr std::size_t kLong = 512 << 10;
  const std::string frame = whole(serialize(PeerMessage(block_of(kLong))));
  FrameReader reader(find_payload);
  const auto feed = [&reader](std::string_view bytes) {
    while (!bytes.empty()) {
      const auto space = reader.prepare(1);
      const std::size_t count = std::min(space.size(), bytes.size());
      std::memcpy(space.data(), bytes.data(), count);
      reader.commit(count);
      bytes.remove_prefix(count);
      if (!bytes.empty()) CHECK_FALSE(reader.next_frame()->has_value());
    }
  };
  feed(std::string_view(frame).substr(0, 100));
  CHECK_FALSE(reader.next_frame()->has_value());
  CHECK(reader.prepare(1).size() < 1024);
  feed(std::string_view(frame).substr(100));
  auto first = reader.next_frame();
  REQUIRE(first->has_value());
  CHECK_FALSE((*first)->payload);
  // The next of that length is received in place.
  feed(std::string_view(frame).substr(0, 100));
  CHECK_FALSE(reader.next_frame()->has_value());
  CHECK(reader.prepare(1).size() == frame.size() - 100);
  feed(std::string_view(frame).substr(100));
  CHECK((*reader.next_frame())->payload.size() == kLong);
}
