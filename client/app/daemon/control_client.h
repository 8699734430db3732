// What a command of `firn` asks of a running daemon.
#pragma once

#include <string>

#include "client/app/console/events.h"
#include "proto/base/result.h"

namespace firn::app {

// Calls `method` of the daemon that listens at `socket`, and waits for its answer: the result.
// Errors: kUnreachable (none listens there, or it does not answer), kProtocol (what listens there
// is no daemon of Firn's), and what the daemon answers.
Result<Json> call_daemon(const std::string& socket, const std::string& method, const Json& params);

}  // namespace firn::app
