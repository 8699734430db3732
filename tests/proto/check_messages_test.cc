// What receivers say where no authority is near: that they want trusted rows, and under which key
// they want check sums.
#include <doctest/doctest.h>

#include <string>

#include "proto/base/limits.h"
#include "proto/messages.h"
#include "proto/wire.h"
#include "tests/proto/hex.h"
#include "tests/proto/wire_frames.h"

using namespace firn;
using namespace firn::proto;
using namespace firn::test;

namespace {

// Whether it is sent as these bytes, of the size that was foretold, and read back as it was.
bool sent_as(const PeerMessage& message, const std::string& hex) {
  const OutgoingFrame frame = serialize(message);
  if (whole(frame) != from_hex(hex) || frame.bytes() != wire_bytes(message)) return false;
  const auto parsed = parse_peer_message(bytes_of(message_in(frame)));
  return parsed.ok() && *parsed == message;
}

std::string fault_of_key(std::size_t bytes, std::size_t generations = 1) {
  wire::PeerMessage message;
  wire::CheckRequest& request = *message.mutable_check_request();
  for (std::size_t i = 0; i < generations; ++i)
    request.add_generations(limits::kGenerationCountMax - 1);
  request.set_key(std::string(bytes, 'k'));
  const auto parsed = parse_peer_message(bytes_of(message.SerializeAsString()));
  return parsed.ok() ? "" : parsed.error().detail;
}

}  // namespace

TEST_CASE("a State says whether trusted rows alone are wanted") {
  State state;
  state.acknowledged = 7;
  state.credit = 300;
  CHECK(sent_as(state, "00000007 1205 0807 10ac02"));
  state.trusted_only = true;
  CHECK(sent_as(state, "0000000a 1208 0807 10ac02 800101"));
  state.proven_only = true;
  CHECK(sent_as(state, "0000000c 120a 0807 10ac02 5001 800101"));
}

TEST_CASE("a State that rides on a block says whether trusted rows alone are wanted") {
  Block block;
  block.sequence = 1;
  block.source_index = 0;
  block.payload = Payload::copy_of(bytes_of("payload!"));
  block.state.emplace().trusted_only = true;
  const OutgoingFrame frame = serialize(block);
  CHECK(frame.bytes() == wire_bytes(PeerMessage(block)));
  const auto parsed = parse_peer_message(bytes_of(message_in(frame)));
  REQUIRE(parsed.ok());
  CHECK(std::get<Block>(*parsed).state->trusted_only);
}

TEST_CASE("a check request may have a whole key") {
  const std::string key = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
  CheckRequest request{{3, 7}, {}};
  CHECK(sent_as(request, "00000006 4204 0a020307"));
  for (std::size_t i = 0; i < limits::kCheckKeyBytes; ++i)
    request.key.push_back(static_cast<std::uint8_t>(i));
  CHECK(sent_as(request, "00000028 4226 0a020307 1220" + key));
}

TEST_CASE("a check request has no part of a key, and room for one beside all generations") {
  CHECK(fault_of_key(0) == "");
  CHECK(fault_of_key(limits::kCheckKeyBytes) == "");
  CHECK(fault_of_key(limits::kCheckKeyBytes, limits::kCheckGenerationsMax) == "");
  CHECK(fault_of_key(limits::kCheckKeyBytes - 1).find("key") != std::string::npos);
  CHECK(fault_of_key(limits::kCheckKeyBytes + 1).find("key") != std::string::npos);
  CHECK(fault_of_key(limits::kCheckKeyBytes, 0).find("check request") != std::string::npos);
}
