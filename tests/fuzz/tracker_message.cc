// A tracker message that is taken, as a request or as a reply, is sent again as one that means the
// same.
#include <string>

#include "proto/messages.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/proto/wire_frames.h"

namespace firn::fuzz::tracker_message {
using namespace firn::proto;

namespace {

template <typename Parse>
void check(Parse parse, std::span<const std::uint8_t> bytes) {
  const auto message = parse(bytes);
  if (!message.ok()) {
    FIRN_CHECK(message.error().code == firn::ErrorCode::kProtocol);
    return;
  }
  const std::string sent = firn::test::message_in(serialize(*message));
  const auto again = parse(firn::test::bytes_of(sent));
  FIRN_CHECK(again.ok() && *again == *message);
}

}  // namespace

FIRN_FUZZ_TARGET(tracker_message) {
  check(parse_tracker_request, {data, size});
  check(parse_tracker_reply, {data, size});
  return 0;
}

}  // namespace firn::fuzz::tracker_message
