// What the parsers of peer and tracker messages share.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "proto/base/result.h"
#include "proto/messages.h"

namespace firn::proto {

// `on_what` was read and is not what it should be.
inline Error protocol_error(const std::string& on_what, const std::string& why) {
  return {ErrorCode::kProtocol, "read " + on_what, why};
}
// The same of what a peer sent.
inline Error peer_error(const std::string& why) {
  return protocol_error("a peer's message", why);
}

template <typename Message>
bool parse_wire(std::span<const std::uint8_t> bytes, Message& message) {
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

// A Result of one kind of message as a Result of any of them.
template <typename Any, typename One>
Result<Any> as_any(Result<One> one) {
  if (!one.ok()) return one.error();
  return Any(*std::move(one));
}

// A part of a manifest, as peers and trackers send it. Empty data stands only at the end of the
// manifest, or where there is none (total_bytes 0): a peer that asks for part after part
// makes progress.
Result<ManifestPart> parse_manifest_part(std::span<const std::uint8_t> body);

// The rule above for any message with these three fields: what is wrong, or "".
std::string_view part_fault(std::uint64_t total_bytes, std::uint64_t offset, std::size_t bytes);

}  // namespace firn::proto
