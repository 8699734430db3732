// A peer message that is taken is sent again as one that means the same, in the bytes foretold.
#include <string>

#include "proto/base/limits.h"
#include "proto/framing.h"
#include "proto/messages.h"
#include "proto/wire.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/proto/wire_frames.h"

namespace firn::fuzz::peer_message {
using namespace firn::proto;

FIRN_FUZZ_TARGET(peer_message) {
  const auto message = parse_peer_message({data, size});
  if (!message.ok()) {
    FIRN_CHECK(message.error().code == firn::ErrorCode::kProtocol);
    return 0;
  }
  const OutgoingFrame frame = serialize(*message);
  FIRN_CHECK(frame.bytes() == wire_bytes(*message));
  const std::string bytes = firn::test::message_in(frame);
  const auto again = parse_peer_message(firn::test::bytes_of(bytes));
  FIRN_CHECK(again.ok() && *again == *message);
  firn::wire::PeerMessage plain;
  FIRN_CHECK(plain.ParseFromString(bytes) && plain.SerializeAsString() == bytes);
  return 0;
}

}  // namespace firn::fuzz::peer_message
