// The HTTP door of a peer's program: its pages, and JSON-RPC where there are methods.
#pragma once

#include <memory>
#include <string>

#include "client/app/console/console.h"
#include "client/app/driver/peer_driver.h"
#include "proto/base/result.h"

namespace firn::app {

class DaemonMethods;  // daemon/rpc.h

struct PageOptions {
  std::string listen;      // HOST:PORT
  std::string token_file;  // empty: tokens for this process alone
  std::string folder;      // for manifests that are uploaded; with methods
};

// Open until it is destroyed, on the main thread.
class PageServer {
 public:
  virtual ~PageServer() = default;
  // Where a browser finds it, with a slash at the end, and the token that it asks for.
  virtual const std::string& url() const = 0;
  virtual const std::string& token() const = 0;
};

// Listens, and says where, with the token. `methods`: of a daemon, or null. All outlive the result.
// Errors: kBadInput (the address; this build has no HTTP), kExists (the port is in use), those of
// the token's file.
Result<std::unique_ptr<PageServer>> open_page_server(const PageOptions& options, PeerDriver& driver,
                                                     DaemonMethods* methods, Console& console);

// Open until it is destroyed, likewise.
class MetricsServer {
 public:
  virtual ~MetricsServer() = default;
};

// A door at `listen` for /metrics alone, without a token. Errors: as open_page_server()'s.
Result<std::unique_ptr<MetricsServer>> open_metrics_server(const std::string& listen,
                                                           PeerDriver& driver,
                                                           DaemonMethods* methods,
                                                           Console& console);

}  // namespace firn::app
