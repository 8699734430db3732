// The tracker's HTTP door: its pages behind a token, on a server of their own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "proto/base/result.h"
#include "tracker/server.h"

namespace firn::tracker {

class StatusDoor {
 public:
  virtual ~StatusDoor() = default;
  // With the port that it got.
  virtual std::string url() const = 0;
  // From now on it says that no more work is wanted (/ready). Any thread.
  virtual void drain() = 0;
};

struct StatusDoorOptions {
  std::string listen;      // HOST:PORT
  std::string token_file;  // made if missing
  Log log;                 // any thread
};

// Open until it is destroyed, which comes before `server` is. Errors: kBadInput (the address; this
// build has no HTTP), kExists (the port is in use), those of the token's file.
Result<std::unique_ptr<StatusDoor>> open_status_door(const StatusDoorOptions& options,
                                                     Server& server);

}  // namespace firn::tracker
