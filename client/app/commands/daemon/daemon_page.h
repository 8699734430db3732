// The daemon's HTTP door: open from its start with --http, else from when it is asked for the page.
#pragma once

#include <memory>
#include <string>

#include "client/app/console/events.h"
#include "client/app/daemon/data_folder.h"
#include "client/app/page/page_server.h"

namespace firn::app {

// Main thread. All but the options outlive it.
class DaemonPage {
 public:
  // `folder`: where uploads go, the port, and the token unless `options` name its file.
  DaemonPage(PageOptions options, const DataFolder& folder, PeerDriver& driver,
             DaemonMethods& methods, Console& console);

  // Opens it where the options name an address. Errors: as open_page_server()'s.
  Status open();
  // `url` and `token`. If it is not open, it is opened for this machine alone, at the port that it
  // had last if that is free.
  Result<Json> tell();

 private:
  PageOptions options_;
  const DataFolder& folder_;
  PeerDriver& driver_;
  DaemonMethods& methods_;
  Console& console_;
  std::unique_ptr<PageServer> server_;
};

}  // namespace firn::app
