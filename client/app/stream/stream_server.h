// The HTTP door for players, with a thread and a port of its own: streams never wait for the main
// thread, and are no pages, which have low priority and another origin.
#pragma once

#include <memory>
#include <string>

#include "client/app/console/console.h"
#include "client/app/reading/reading_list.h"
#include "proto/base/result.h"

namespace firn::app {

// Open until it is destroyed.
class StreamServer {
 public:
  virtual ~StreamServer() = default;
  // For StreamAddress::server.
  virtual const std::string& url() const = 0;
  // The same for a browser that found another server of this machine as `host` (with port). Errors:
  // kBadInput (it is on another machine, and streams are for this one).
  virtual Result<std::string> url_for(const std::string& host) const = 0;
};

// Listens at HOST:PORT. Both outlive the result. Errors: kBadInput (the address; this build has no
// HTTP), kExists (the port is in use).
Result<std::unique_ptr<StreamServer>> open_stream_server(const std::string& listen,
                                                         const ReadingList& contents,
                                                         Console& console);

}  // namespace firn::app
