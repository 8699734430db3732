// Which frames are messages: of known kinds, of kinds that are retired, of kinds of a later
// version.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <variant>

#include "proto/base/limits.h"
#include "proto/messages.h"
#include "proto/wire.h"
#include "tests/proto/hex.h"
#include "tests/proto/wire_frames.h"

using namespace firn;
using namespace firn::proto;
using namespace firn::test;

namespace {

constexpr int kKnownKinds[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 14, 15};
constexpr int kRetiredKinds[] = {10, 11, 12, 16};
constexpr int kLaterKinds[] = {17, 1000, (1 << 29) - 1};

// What the parser says about `message`; "" if it takes it.
std::string refusal(const std::string& message) {
  const auto parsed = parse_peer_message(bytes_of(message));
  if (parsed.ok()) return "";
  CHECK(parsed.error().code == ErrorCode::kProtocol);
  return parsed.error().detail;
}

bool mentions(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

bool is_passed_over(const std::string& message) {
  const auto parsed = parse_peer_message(bytes_of(message));
  return parsed.ok() && std::holds_alternative<PassedOver>(*parsed) && heap_bytes(*parsed) == 0;
}

std::string varint_bytes(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

std::string body_of_kind(int kind, const std::string& body) {
  return varint_bytes(static_cast<std::uint64_t>(kind) << 3 | 2) + varint_bytes(body.size()) + body;
}

// As peers of the last version sent them.
constexpr const char* kOldEpoch =
    "529902"
    "0a2029acbae141bccaf0b22e1a94d34d0bc7361e526d0bfe12c89794bc9322966dd7"
    "124067c57ea1d83c30e1700c115b4b67aa38d88d2befc48080afd3a6e6d9290564f2"
    "b617039f8756383624e70ddd439341e4e20e441d397adc931750f923bca14004"
    "180320c096b102"
    "2a20000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
    "30013a0c0803120816610e9fc16f972a"
    "42160a10aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1090a10f"
    "4a40c54959e690f3b399646a0f0abf3b98e9577b2d93d3f87bdfe163c06f7c395816"
    "841e304747470c5035a3fbf398213f6ab4ad9d7a0dc790756d1e9ed69e505b0f"
    "5220606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f";
constexpr const char* kOldEpochRequest = "5a180a10000102030405060708090a0b0c0d0e0f10011a020307";
constexpr const char* kOldEpochProof =
    "6236"
    "08031210000102030405060708090a0b0c0d0e0f"
    "1220d7fdab75ae8133c5add49d08b80a827fbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
constexpr const char* kOldFalseClaim =
    "82018b01"
    "0803120401020304"
    "22800129acbae141bccaf0b22e1a94d34d0bc7361e526d0bfe12c89794bc9322966dd7"
    "a746222f09d85605c52d4e636788d6ffdc274698b98b8c5f3244c06958683a69"
    "978e93ef80afed95538026ecda7b6049c1931628c75e4c2a3b226f1175cf8fce"
    "6e47d6197a8e38a02e3666881cf50822105b95085289721a1c1aafad69428308";
// acknowledged 7, credit 300, proven_only, epoch 300, wants_epochs, one convicted, wants_claims.
constexpr const char* kOldState =
    "1218"
    "080710ac02500160ac0268017208a8a7a6a5a4a3a2a17801";
// Generation 3, sequence 8, coefficients 1 to 4, a State with `epoch` and `wants_claims`, a claim.
constexpr const char* kOldBlock =
    "1aa301"
    "080310081a0401020304320a0807100b500160037801"
    "428001"
    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
    "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f"
    "404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f"
    "606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f"
    "7a087061796c6f616421";

}  // namespace

TEST_CASE("what is no message is refused") {
  CHECK(mentions(refusal(std::string()), "empty message"));
  CHECK(mentions(refusal(from_hex("1801")), "empty message"));  // block as a varint
  CHECK(mentions(refusal(from_hex("5001")), "empty message"));  // a retired kind as a varint
  CHECK(mentions(refusal(from_hex("8d0101020304")), "empty message"));  // kind 17 as a fixed32
  CHECK(mentions(refusal(from_hex("0200")), "not a PeerMessage"));      // kind 0
  CHECK(mentions(refusal(from_hex("00")), "not a PeerMessage"));
  CHECK(mentions(refusal(from_hex("1a05 01")), "not a PeerMessage"));  // cut
  CHECK(mentions(refusal(from_hex("1affffffff7f")), "not a PeerMessage"));
  CHECK(mentions(refusal(from_hex("1affffffffffffffffff01")), "not a PeerMessage"));
  CHECK(mentions(refusal(from_hex("1c")), "not a PeerMessage"));  // a group's end without its start
  CHECK(mentions(refusal(std::string(limits::kFrameBytesMax + 1, '\0')), "larger than a frame"));
}

TEST_CASE("of an Epoch of the last version its number is known, and nothing else") {
  const auto epoch = [](const std::string& message) {
    return std::get<PassedOver>(*parse_peer_message(bytes_of(message))).epoch;
  };
  CHECK(epoch(from_hex(kOldEpoch)) == 3);
  CHECK(epoch(from_hex(kOldEpochRequest)) == 0);
  CHECK(epoch(body_of_kind(10, "")) == 0);
  CHECK(epoch(body_of_kind(10, std::string("\x18") + varint_bytes(UINT64_MAX))) == UINT64_MAX);
  CHECK(epoch(body_of_kind(10, "\xff\xff")) == 0);  // no message
  CHECK(epoch(body_of_kind(17, "\x18\x03")) == 0);
}

TEST_CASE("messages of the last version whose kinds are retired are passed over") {
  for (const char* const golden : {kOldEpoch, kOldEpochRequest, kOldEpochProof, kOldFalseClaim}) {
    CAPTURE(golden);
    const std::string message = from_hex(golden);
    CHECK(is_passed_over(message));
    for (std::size_t cut = 0; cut < message.size(); ++cut)
      CHECK(refusal(message.substr(0, cut)) != "");
  }
}

TEST_CASE("a message of a retired or unknown kind is passed over unread") {
  std::mt19937 random(3);
  const auto check = [&](int kind) {
    CAPTURE(kind);
    CHECK(is_passed_over(body_of_kind(kind, "")));
    CHECK(is_passed_over(body_of_kind(kind, std::string(100, '\xff'))));
    for (int round = 0; round < 100; ++round) {
      std::string body(random() % 300, '\0');
      std::ranges::generate(body, [&] { return static_cast<char>(random()); });
      CHECK(is_passed_over(body_of_kind(kind, body)));
    }
  };
  std::ranges::for_each(kRetiredKinds, check);
  std::ranges::for_each(kLaterKinds, check);
}

TEST_CASE("a message of a retired or unknown kind fits into its frame, and that into the limit") {
  constexpr std::size_t kAround = 4;  // tag and length
  for (const int kind : {10, 17}) {
    CAPTURE(kind);
    const std::size_t largest = limits::kFrameBytesMax - kAround - (kind > 15);
    CHECK(is_passed_over(body_of_kind(kind, std::string(largest, 'x'))));
    CHECK(mentions(refusal(body_of_kind(kind, std::string(largest + 1, 'x'))),
                   "larger than a frame"));
    CHECK(mentions(refusal(varint_bytes(kind << 3 | 2) + varint_bytes(5) + "1234"),
                   "not a PeerMessage"));
  }
}

TEST_CASE("a malformed message of a known kind is refused") {
  for (const int kind : kKnownKinds) {
    CAPTURE(kind);
    CHECK(refusal(body_of_kind(kind, "\xff")) != "");
    CHECK_FALSE(is_passed_over(body_of_kind(kind, "")));
  }
}

TEST_CASE("beside a message of a known kind those of other kinds do not count") {
  const std::string known = body_of_kind(4, from_hex("0805"));  // a manifest request
  const auto offset = [](const std::string& message) {
    const auto parsed = parse_peer_message(bytes_of(message));
    REQUIRE(parsed.ok());
    return std::get<ManifestRequest>(*parsed).offset;
  };
  for (const int kind : {10, 16, 17, 1000}) {
    CAPTURE(kind);
    const std::string other = body_of_kind(kind, "other");
    CHECK(offset(other + known) == 5);
    CHECK(offset(known + other) == 5);
    CHECK(is_passed_over(other + other));
    CHECK(mentions(refusal(other + body_of_kind(4, "\xff")), "manifest request"));
  }
  // Of two known ones the last one counts.
  CHECK(offset(body_of_kind(13, "\xff") + known) == 5);
  CHECK(mentions(refusal(known + body_of_kind(13, "\xff")), "leaf request"));
}

TEST_CASE("of what is retired in States only the wish for claims is read, and none is written") {
  const auto parsed = parse_peer_message(bytes_of(from_hex(kOldState)));
  REQUIRE(parsed.ok());
  State expected;
  expected.acknowledged = 7;
  expected.credit = 300;
  expected.proven_only = true;
  expected.convicted = {0xa1a2a3a4a5a6a7a8};
  expected.wants_claims = true;
  CHECK(std::get<State>(*parsed) == expected);
  const OutgoingFrame frame = serialize(*parsed);
  CHECK(to_hex(message_in(frame)) ==
        "1211"
        "080710ac0250017208a8a7a6a5a4a3a2a1");
  CHECK(wire_bytes(*parsed) == frame.bytes());

  const auto wants = [](const char* state) {
    const auto message = parse_peer_message(bytes_of(body_of_kind(2, from_hex(state))));
    REQUIRE(message.ok());
    return std::get<State>(*message).wants_claims;
  };
  CHECK_FALSE(wants("0807"));
  CHECK_FALSE(wants("7800"));
  CHECK(wants("7801"));
  CHECK_FALSE(wants("7801 7800"));  // the last one counts
  CHECK_FALSE(wants("7a0101"));     // as bytes
}

TEST_CASE("the highest number of an Epoch is written in a State, and not read") {
  State state;
  state.acknowledged = 7;
  state.epoch = 300;
  const OutgoingFrame frame = serialize(state);
  CHECK(to_hex(message_in(frame)) == "1205080760ac02");
  CHECK(wire_bytes(state) == frame.bytes());
  CHECK(std::get<State>(*parse_peer_message(bytes_of(message_in(frame)))).epoch == 0);
}

TEST_CASE("a block with a claim is read as one without") {
  const auto parsed = parse_peer_message(bytes_of(from_hex(kOldBlock)));
  REQUIRE(parsed.ok());
  Block expected;
  expected.generation = 3;
  expected.sequence = 8;
  expected.coefficients = {1, 2, 3, 4};
  expected.state.emplace();
  expected.state->acknowledged = 7;
  expected.state->credit = 11;
  expected.state->proven_only = true;
  expected.state->wants_claims = true;
  expected.payload = Payload::copy_of(bytes_of("payload!"));
  CHECK(std::get<Block>(*parsed) == expected);
}
