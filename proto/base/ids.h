// Distinct types for the 256-bit names of the protocol. All but PublicKey are SHA-256 values.
//   ContentId  of the manifest's info bytes as they stand
//   PeerId     of the raw 32-byte Ed25519 public key (peers and trackers alike)
//   Digest     of data: a Merkle root or leaf
//   PublicKey  an Ed25519 key as it is: of a publisher, or of a content's authority
// Text form: base32 (RFC 4648, lower case, no padding, 52 characters), read in either case.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace firn {

inline constexpr std::size_t kIdBytes = 32;

std::string base32_encode(std::span<const std::uint8_t> bytes);
// nullopt unless `text` is exactly the canonical encoding of `out.size()` bytes.
bool base32_decode(std::string_view text, std::span<std::uint8_t> out);

template <typename Tag>
struct Id {
  std::array<std::uint8_t, kIdBytes> bytes{};

  auto operator<=>(const Id&) const = default;

  std::string text() const { return base32_encode(bytes); }
  std::string short_text() const { return text().substr(0, 8); }  // for logs and tables

  static std::optional<Id> from_text(std::string_view text) {
    Id id;
    if (!base32_decode(text, id.bytes)) return std::nullopt;
    return id;
  }
  // nullopt unless there are exactly 32 bytes.
  static std::optional<Id> from_bytes(std::string_view raw) {
    if (raw.size() != kIdBytes) return std::nullopt;
    Id id;
    std::memcpy(id.bytes.data(), raw.data(), kIdBytes);
    return id;
  }
  // The first 8 bytes, big-endian.
  std::uint64_t prefix() const {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof value; ++i) value = value << 8 | bytes[i];
    return value;
  }
  std::string_view raw() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

using ContentId = Id<struct ContentTag>;
using PeerId = Id<struct PeerTag>;
using Digest = Id<struct DigestTag>;
using PublicKey = Id<struct PublicKeyTag>;

}  // namespace firn

template <typename Tag>
struct std::hash<firn::Id<Tag>> {
  std::size_t operator()(const firn::Id<Tag>& id) const noexcept {
    std::size_t h;  // the ids are digests: any eight bytes of one are a good hash
    std::memcpy(&h, id.bytes.data(), sizeof h);
    return h;
  }
};
