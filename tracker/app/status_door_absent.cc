// In place of status_door.cc where libwebsockets is not.
#include "tracker/app/status_door.h"

namespace firn::tracker {

Result<std::unique_ptr<StatusDoor>> open_status_door(const StatusDoorOptions& options, Server&) {
  return Error{ErrorCode::kBadInput, "listen for HTTP at " + options.listen,
               "this build of Firn has none: it was built without libwebsockets"};
}

}  // namespace firn::tracker
