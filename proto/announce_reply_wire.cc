#include "proto/announce_reply_wire.h"

#include <cstring>

#include "proto/framing.h"
#include "proto/outgoing_frame.h"

namespace firn::proto {
namespace {

// Of the protobuf encoding: a field's tag is its number and its kind in one byte.
constexpr std::uint8_t tag_of_number(int number) {
  return static_cast<std::uint8_t>(number << 3);
}
constexpr std::uint8_t tag_of_bytes(int number) {
  return static_cast<std::uint8_t>(number << 3 | 2);
}

std::size_t bytes_of_varint(std::uint32_t value) {
  std::size_t bytes = 1;
  for (; value >= 0x80; value >>= 7) ++bytes;
  return bytes;
}

std::uint8_t* put_varint(std::uint8_t* out, std::uint32_t value) {
  for (; value >= 0x80; value >>= 7) *out++ = static_cast<std::uint8_t>(value | 0x80);
  *out++ = static_cast<std::uint8_t>(value);
  return out;
}

// Zero is left out.
std::uint8_t* put_number(std::uint8_t* out, int field, std::uint32_t value) {
  if (value == 0) return out;
  *out++ = tag_of_number(field);
  return put_varint(out, value);
}

std::size_t bytes_of_number(std::uint32_t value) {
  return value == 0 ? 0 : 1 + bytes_of_varint(value);
}

std::size_t bytes_of_peer(const PackedEndpoint& peer) {
  return 2 + kIdBytes + 2 + peer.ip_bytes().size() + bytes_of_number(peer.port);
}

std::uint8_t* put_peer(std::uint8_t* out, const PackedEndpoint& peer) {
  const auto ip = peer.ip_bytes();
  *out++ = tag_of_bytes(5);
  *out++ = static_cast<std::uint8_t>(bytes_of_peer(peer));  // less than 128
  *out++ = tag_of_bytes(1);
  *out++ = kIdBytes;
  std::memcpy(out, peer.id.bytes.data(), kIdBytes);
  out += kIdBytes;
  *out++ = tag_of_bytes(2);
  *out++ = static_cast<std::uint8_t>(ip.size());
  std::memcpy(out, ip.data(), ip.size());
  return put_number(out + ip.size(), 3, peer.port);
}

}  // namespace

std::size_t write_announce_reply(const AnnounceSummary& summary,
                                 std::span<const PackedEndpoint> peers, std::uint8_t* out) {
  std::size_t body = bytes_of_number(summary.interval_seconds) +
                     bytes_of_number(summary.complete_count) +
                     bytes_of_number(summary.incomplete_count) + (summary.has_manifest ? 2 : 0);
  for (const PackedEndpoint& peer : peers) body += 2 + bytes_of_peer(peer);
  const std::size_t message = 1 + bytes_of_varint(static_cast<std::uint32_t>(body)) + body;
  write_frame_prefix(out, message);
  std::uint8_t* at = out + kFramePrefixBytes;
  *at++ = tag_of_bytes(1);
  at = put_varint(at, static_cast<std::uint32_t>(body));
  at = put_number(at, 1, summary.interval_seconds);
  at = put_number(at, 2, summary.complete_count);
  at = put_number(at, 3, summary.incomplete_count);
  at = put_number(at, 4, summary.has_manifest ? 1 : 0);
  for (const PackedEndpoint& peer : peers) at = put_peer(at, peer);
  return static_cast<std::size_t>(at - out);
}

}  // namespace firn::proto
