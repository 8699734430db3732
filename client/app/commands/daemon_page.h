// The daemon's HTTP door: open from its start with --http, else from when it is asked for the page.
#pragma once

#include <memory>
#include <string>

#include "client/app/console/events.h"
#include "client/app/page/page_server.h"

namespace firn::app {

// Main thread. `driver`, `methods` and `console` outlive it.
class DaemonPage {
 public:
  // `data`: the daemon's folder, where uploads go, and the token unless `options` name its file.
  DaemonPage(PageOptions options, const std::string& data, PeerDriver& driver,
             DaemonMethods& methods, Console& console);

  // Opens it where the options name an address. Errors: as open_page_server()'s.
  Status open();
  // `url` and `token`, after opening it on any free port of this machine alone if it is not open.
  Result<Json> tell();

 private:
  PageOptions options_;
  PeerDriver& driver_;
  DaemonMethods& methods_;
  Console& console_;
  std::unique_ptr<PageServer> server_;
};

}  // namespace firn::app
