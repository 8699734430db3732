// TLS of a connection to Redis: Redis proves that it is the host that the address names. tls.cc
// where hiredis has it (1.0 and later, as hiredis_ssl), else tls_absent.cc.
#pragma once

#include <string>

#include "proto/base/result.h"

struct redisContext;

namespace firn::tracker {

// Errors: kBadInput (this build has no TLS for Redis; the file holds no certificates).
Status check_tls(const std::string& ca_file);
// Of a context that is connected and waits. Errors: kWrongIdentity, kUnreachable, as check_tls.
Status begin_tls(redisContext* context, const std::string& host, const std::string& ca_file);

}  // namespace firn::tracker
