#include "tracker/redis/tls.h"

namespace firn::tracker {

Status check_tls(const std::string&) {
  return Error{ErrorCode::kBadInput, "use rediss://",
               "this program was built with a hiredis that has no TLS (Debian 13's has it); reach "
               "Redis through a tunnel, or build with hiredis 1.0 or later"};
}

Status begin_tls(redisContext*, const std::string&, const std::string& ca_file) {
  return check_tls(ca_file);
}

}  // namespace firn::tracker
