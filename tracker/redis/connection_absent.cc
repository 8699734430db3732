// A build without hiredis: there is no Redis.
#include "tracker/redis/connection.h"

namespace firn::tracker {
namespace {

Error absent() {
  return {ErrorCode::kBadInput, "use Redis",
          "this program was built without hiredis (Debian's libhiredis-dev)"};
}

}  // namespace

Status check_redis_options(const RedisOptions&) {
  return absent();
}

Result<std::unique_ptr<RedisConnection>> open_redis(const RedisOptions&) {
  return absent();
}

}  // namespace firn::tracker
