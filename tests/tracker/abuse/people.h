// Ids that say whether their peer is honest, and addresses of both kinds of peers.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "tests/tracker/tracker_fixture.h"

namespace firn::tracker::test::abuse {

// Spread like the digests that ids are.
inline std::uint64_t spread(std::uint64_t number) {
  number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9;
  number = (number ^ number >> 27) * 0x94d049bb133111eb;
  return number ^ number >> 31;
}

enum class Kind : std::uint8_t { kHonest = 1, kHostile = 2 };

// Each `number` another.
template <class AnyId>
AnyId id_of(Kind kind, std::uint64_t number) {
  AnyId id;
  const std::uint64_t first = spread(number);
  std::memcpy(id.bytes.data(), &first, sizeof first);
  id.bytes.back() = static_cast<std::uint8_t>(kind);
  return id;
}
template <class AnyId>
bool is_hostile(const AnyId& id) {
  return id.bytes.back() == static_cast<std::uint8_t>(Kind::kHostile);
}

inline std::string two_bytes(std::uint32_t number) {
  return std::to_string(number / 256 % 256) + "." + std::to_string(number % 256);
}
// A home's, in a prefix of its own; every fifth is IPv6.
inline std::string home_ip(std::uint32_t number) {
  if (number % 5 > 0) return "20." + two_bytes(number) + ".5";
  return "2001:db8:" + std::to_string(number % 10'000) + "::5";
}
inline std::string office_ip(std::uint32_t number) {
  return "21." + two_bytes(number) + ".7";
}
// Where attackers are: one prefix.
inline std::string bad_prefix_ip(std::uint32_t number) {
  return "66.0.0." + std::to_string(1 + number % 200);
}
// Honest, and next door to them.
inline std::string neighbour_ip(std::uint32_t number) {
  return "66.0.0." + std::to_string(201 + number % 50);
}
// Four addresses in each of their prefixes, where they have many.
inline std::string many_prefixes_ip(std::uint64_t number, std::uint64_t prefixes) {
  return "67." + two_bytes(static_cast<std::uint32_t>(number % prefixes)) + "." +
         std::to_string(1 + number / prefixes % 4);
}

}  // namespace firn::tracker::test::abuse
