// In place of stream_server.cc where libwebsockets is not.
#include "client/app/stream/stream_server.h"

namespace firn::app {

Result<std::unique_ptr<StreamServer>> open_stream_server(const std::string& listen,
                                                         const ReadingList&, Console&) {
  return Error{ErrorCode::kBadInput, "listen for HTTP at " + listen,
               "this build of Firn has none: it was built without libwebsockets"};
}

}  // namespace firn::app
