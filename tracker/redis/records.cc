#include "tracker/redis/records.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "proto/base/little_endian.h"

namespace firn::tracker {
namespace {

enum Flags : std::uint8_t { kComplete = 1, kV6 = 2, kLeft = 4 };

constexpr std::size_t kChangeHeadBytes = 2 * kIdBytes + 4;

template <std::integral T>
void append(std::string& to, T value) {
  std::uint8_t bytes[sizeof(T)];
  put_field(bytes, 0, value);
  to.append(reinterpret_cast<const char*>(bytes), sizeof bytes);
}

template <std::integral T>
T field(std::string_view from, std::size_t offset) {
  return get_field<T>({reinterpret_cast<const std::uint8_t*>(from.data()), from.size()}, offset);
}

// Of the record that begins there; 0 if there is none.
std::size_t record_bytes(std::string_view bytes) {
  if (bytes.empty()) return 0;
  const auto flags = static_cast<std::uint8_t>(bytes[0]);
  if (flags == kLeft) return 1;
  if ((flags & ~(kComplete | kV6)) != 0) return 0;
  return (flags & kV6) != 0 ? kPeerRecordBytesMax : 7;
}

}  // namespace

std::string peer_record(const PackedPeer& peer) {
  const proto::PackedEndpoint& endpoint = peer.endpoint;
  std::string record;
  append(record,
         static_cast<std::uint8_t>((peer.complete ? kComplete : 0) | (endpoint.v6 ? kV6 : 0)));
  append(record, endpoint.port);
  const auto ip = endpoint.ip_bytes();
  record.append(reinterpret_cast<const char*>(ip.data()), ip.size());
  return record;
}

std::optional<PackedPeer> parse_peer_record(const PeerId& id, std::string_view bytes) {
  const std::size_t size = record_bytes(bytes);
  if (size <= 1 || bytes.size() != size) return std::nullopt;
  const auto flags = static_cast<std::uint8_t>(bytes[0]);
  PackedPeer peer;
  peer.complete = (flags & kComplete) != 0;
  peer.endpoint.id = id;
  peer.endpoint.v6 = (flags & kV6) != 0;
  peer.endpoint.port = field<std::uint16_t>(bytes, 1);
  std::copy(bytes.begin() + 3, bytes.end(), peer.endpoint.ip.begin());
  return peer;
}

void append_change(std::string& to, const PeerChange& change, Time now) {
  const std::int64_t age = std::clamp<std::int64_t>((now - change.at).count(), 0,
                                                    std::numeric_limits<std::uint32_t>::max());
  to += change.content.raw();
  to += change.peer.endpoint.id.raw();
  append(to, static_cast<std::uint32_t>(age));
  if (change.left) {
    append(to, std::uint8_t{kLeft});
  } else {
    to += peer_record(change.peer);
  }
}

std::optional<std::vector<PeerChange>> parse_changes(std::string_view bytes, Time written) {
  if (bytes.size() > 2 * kChangesBytesMax) return std::nullopt;
  std::vector<PeerChange> changes;
  while (!bytes.empty()) {
    if (bytes.size() < kChangeHeadBytes) return std::nullopt;
    PeerChange change;
    change.content = *ContentId::from_bytes(bytes.substr(0, kIdBytes));
    const PeerId id = *PeerId::from_bytes(bytes.substr(kIdBytes, kIdBytes));
    change.at = written - Time(field<std::uint32_t>(bytes, 2 * kIdBytes));
    bytes.remove_prefix(kChangeHeadBytes);
    const std::size_t size = record_bytes(bytes);
    if (size == 0 || bytes.size() < size) return std::nullopt;
    change.left = size == 1;
    if (change.left) {
      change.peer.endpoint.id = id;
    } else {
      change.peer = *parse_peer_record(id, bytes.substr(0, size));
    }
    bytes.remove_prefix(size);
    changes.push_back(change);
  }
  return changes;
}

void append_id(std::string& to, const ContentId& content) {
  to += content.raw();
}

std::optional<std::vector<ContentId>> parse_ids(std::string_view bytes) {
  if (bytes.size() > 2 * kChangesBytesMax || bytes.size() % kIdBytes != 0) return std::nullopt;
  std::vector<ContentId> ids;
  for (; !bytes.empty(); bytes.remove_prefix(kIdBytes))
    ids.push_back(*ContentId::from_bytes(bytes.substr(0, kIdBytes)));
  return ids;
}

}  // namespace firn::tracker
