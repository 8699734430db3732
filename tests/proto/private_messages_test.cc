// PrivateProof: its bytes, and what is refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "proto/messages.h"
#include "proto/wire.h"
#include "tests/proto/document.h"
#include "tests/proto/hex.h"
#include "tests/proto/wire_frames.h"

using namespace firn;
using namespace firn::proto;
using namespace firn::test;

TEST_CASE("a proof is sent as docs/protocol.md prints it, and comes back") {
  const std::string bytes =
      from_hex("f32f468294576abce039704a2bb4505b660372ada73d0a949beb5734171f6503");
  PrivateProof proof;
  std::ranges::copy(bytes_of(bytes), proof.proof.begin());
  const OutgoingFrame frame = serialize(PeerMessage(proof));
  CHECK(to_hex(whole(frame)) == hex_example("protocol.md", "private_proof"));
  CHECK(frame.bytes() == wire_bytes(PeerMessage(proof)));
  CHECK(heap_bytes(PeerMessage(proof)) == 0);
  const auto parsed = parse_peer_message(bytes_of(message_in(frame)));
  REQUIRE(parsed.ok());
  CHECK(std::get<PrivateProof>(*parsed) == proof);
}

TEST_CASE("a proof has 32 bytes") {
  for (const std::size_t count : {0, 1, 31, 33, 4000}) {
    CAPTURE(count);
    wire::PeerMessage message;
    message.mutable_private_proof()->set_proof(std::string(count, 'p'));
    const auto parsed = parse_peer_message(bytes_of(message.SerializeAsString()));
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.error().code == ErrorCode::kProtocol);
    CHECK(parsed.error().message().find("private proof") != std::string::npos);
  }
}

TEST_CASE("a body that this version does not know is passed over beside one that it knows") {
  // Field 20, then the proof: a newer program's addition beside it.
  const std::string bytes = from_hex(
                                "a20101"
                                "00"
                                "7a22"
                                "0a20") +
                            std::string(32, 'p');
  const auto parsed = parse_peer_message(bytes_of(bytes));
  REQUIRE(parsed.ok());
  CHECK(std::holds_alternative<PrivateProof>(*parsed));
}
