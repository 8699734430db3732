// In place of page_server.cc where libwebsockets is not.
#include "client/app/page/page_server.h"

namespace firn::app {

namespace {

Error no_http(const std::string& listen) {
  return {ErrorCode::kBadInput, "listen for HTTP at " + listen,
          "this build of Firn has none: it was built without libwebsockets"};
}

}  // namespace

Result<std::unique_ptr<PageServer>> open_page_server(const PageOptions& options, PeerDriver&,
                                                     DaemonMethods*, Console&) {
  return no_http(options.listen);
}

Result<std::unique_ptr<MetricsServer>> open_metrics_server(const std::string& listen, PeerDriver&,
                                                           DaemonMethods*, Console&) {
  return no_http(listen);
}

}  // namespace firn::app
