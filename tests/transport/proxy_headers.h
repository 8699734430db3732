// PROXY headers of version 2, as a proxy writes them.
#pragma once

#include <cstdint>
#include <vector>

namespace firn::proto::transport::test {

// `version_command`, `family_transport`: bytes 13 and 14; then `rest` with its length.
inline std::vector<std::uint8_t> proxy_header(std::uint8_t version_command,
                                              std::uint8_t family_transport,
                                              const std::vector<std::uint8_t>& rest) {
  std::vector<std::uint8_t> header = {0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d,
                                      0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a};
  header.push_back(version_command);
  header.push_back(family_transport);
  header.push_back(static_cast<std::uint8_t>(rest.size() >> 8));
  header.push_back(static_cast<std::uint8_t>(rest.size()));
  header.insert(header.end(), rest.begin(), rest.end());
  return header;
}

// 192.0.2.33 port 4097 to 198.51.100.4 port 4711.
inline const std::vector<std::uint8_t> kIpv4Addresses = {192, 0, 2,    33,   198,  51,
                                                         100, 4, 0x10, 0x01, 0x12, 0x67};
// 2001:db8::33 port 4097 to 2001:db8::4 port 4711.
inline const std::vector<std::uint8_t> kIpv6Addresses = {
    0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,    0x33, 0x20, 0x01,
    0x0d, 0xb8, 0,    0,    0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0x10, 0x01, 0x12, 0x67};

}  // namespace firn::proto::transport::test
