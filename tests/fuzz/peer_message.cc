// A peer message that is taken is sent again as one that means the same, in the bytes foretold, but
// for what is retired: that is read or passed over, and never sent.
#include <string>
#include <variant>

#include "proto/base/limits.h"
#include "proto/framing.h"
#include "proto/messages.h"
#include "proto/wire.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/proto/wire_frames.h"

namespace firn::fuzz::peer_message {
using namespace firn::proto;

void clear_retired(PeerMessage& message) {
  if (auto* state = std::get_if<State>(&message)) state->wants_claims = false;
  auto* block = std::get_if<Block>(&message);
  if (block != nullptr && block->state) block->state->wants_claims = false;
}

FIRN_FUZZ_TARGET(peer_message) {
  auto message = parse_peer_message({data, size});
  if (!message.ok()) {
    FIRN_CHECK(message.error().code == firn::ErrorCode::kProtocol);
    return 0;
  }
  if (std::holds_alternative<PassedOver>(*message)) return 0;
  clear_retired(*message);
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
