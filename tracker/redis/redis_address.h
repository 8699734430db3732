// Where Redis is, and the user and password that a tracker gives it.
//
//   redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]      over TCP; port 6379, database 0
//   rediss://...                                          the same over TLS
//   unix://[[USER]:PASSWORD@]/PATH[?DATABASE]             a socket in the file system
//
// IPv6 in brackets; in user and password %XX stands for a byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proto/base/result.h"

namespace firn::tracker {

struct RedisAddress {
  bool tls = false;
  std::string host = {};  // empty: a socket at `path`
  std::uint16_t port = 6379;
  std::string path = {};
  std::uint32_t database = 0;
  std::string user = {}, password = {};  // empty: none
  bool operator==(const RedisAddress&) const = default;
};

// Errors: kBadInput, without the password.
Result<RedisAddress> parse_redis_address(std::string_view text);
// For people: without user and password.
std::string to_text(const RedisAddress& address);

}  // namespace firn::tracker
