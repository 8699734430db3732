// In place of page_server.cc where libwebsockets is not.
#include "client/app/page/page_server.h"

namespace firn::app {

Result<std::unique_ptr<PageServer>> open_page_server(const PageOptions& options, PeerDriver&,
                                                     DaemonMethods*, Console&) {
  return Error{ErrorCode::kBadInput, "listen for HTTP at " + options.listen,
               "this build of Firn has none: it was built without libwebsockets"};
}

}  // namespace firn::app
