#include "tracker/origin.h"

#include <arpa/inet.h>

#include <cstring>
#include <span>

#include "proto/base/result.h"

namespace firn::tracker {
namespace {

std::uint64_t number_of(std::span<const std::uint8_t> bytes) {
  std::uint64_t number = 0;
  for (const std::uint8_t byte : bytes) number = number << 8 | byte;
  return number;
}

}  // namespace

Origin::Origin(const proto::PackedEndpoint& endpoint)
    : network_(endpoint.v6 ? number_of(std::span(endpoint.ip).first<8>())
                           : kIpv4 | number_of(std::span(endpoint.ip).first<4>())) {}

// network_of() leaves IPv4 addresses as they are written.
Origin::Origin(const Where& where) : network_(0) {
  std::uint8_t bytes[8] = {};
  if (where.prefix.size() == 3) {
    FIRN_CHECK(::inet_pton(AF_INET, where.network.c_str(), bytes) == 1);
    network_ = kIpv4 | number_of(std::span(bytes).first<4>());
  } else {
    FIRN_CHECK(where.prefix.size() == 6 && where.network.size() == sizeof bytes);
    std::memcpy(bytes, where.network.data(), sizeof bytes);
    network_ = number_of(bytes);
  }
}

}  // namespace firn::tracker
