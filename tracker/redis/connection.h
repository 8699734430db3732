// A connection to Redis, by hiredis. Every call waits, for so long at most as the options say:
// the link's thread has it. The program ignores SIGPIPE, which hiredis would let end it.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "proto/base/result.h"
#include "tracker/redis/commands.h"
#include "tracker/redis/redis_address.h"

namespace firn::tracker {

struct RedisOptions {
  RedisAddress address;
  std::string ca_file;  // of TLS: certificates to believe; empty: the system's
  // For the connection, and for each time that Redis is to send or take something.
  std::chrono::milliseconds timeout{2000};
  std::string key_prefix = "firn:";
};

// Whether this build's hiredis can do what the options ask. Errors: kBadInput.
Status check_redis_options(const RedisOptions& options);

// One thread.
class RedisConnection {
 public:
  virtual ~RedisConnection() = default;
  // Sends the commands together; their replies. Errors: kUnreachable (then the connection is of no
  // more use).
  virtual Result<std::vector<Reply>> exchange(const std::vector<Command>& commands) = 0;
};

// Connected, known and in its database. Errors: kUnreachable; kProtocol (Redis refused);
// kWrongIdentity (its certificate); as check_redis_options.
Result<std::unique_ptr<RedisConnection>> open_redis(const RedisOptions& options);

}  // namespace firn::tracker
