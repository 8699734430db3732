// In place of transfers.cc where libcurl is not.
#include "client/app/origin/transfers.h"

namespace firn::app {

std::string transfers_library() {
  return "";
}

Result<std::shared_ptr<Transfers>> Transfers::start(TransfersOptions) {
  return Error{ErrorCode::kUnsupported, "fetch from an origin",
               "this build of Firn cannot: it was built without libcurl (Debian's "
               "libcurl4-openssl-dev; meson setup -Dcurl=enabled)"};
}

}  // namespace firn::app
