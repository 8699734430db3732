// What SIGHUP changes of a running daemon: options of its configuration that can change are
// applied, the others are named. A configuration with a fault changes nothing.
#pragma once

#include <functional>
#include <vector>

#include "client/app/console/console.h"
#include "proto/base/result.h"
#include "proto/program/configuration.h"

namespace firn::app {

// Main thread.
class DaemonReload {
 public:
  // Reads the configuration, and applies what can change; what it says of the daemon. Errors: of
  // reading; nothing has been applied then.
  using ReadAndApply = std::function<Result<std::vector<Setting>>()>;

  // `known`: what the configuration said at the start. `console` outlives it.
  DaemonReload(Console& console, std::vector<Setting> known, ReadAndApply read_and_apply)
      : console_(console), known_(std::move(known)), read_and_apply_(std::move(read_and_apply)) {}

  void run();

 private:
  Console& console_;
  std::vector<Setting> known_;
  const ReadAndApply read_and_apply_;
};

}  // namespace firn::app
