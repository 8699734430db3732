// The daemon's HTTP door for players, open from when it is first asked for.
#pragma once

#include <memory>
#include <string>

#include "client/app/console/events.h"
#include "client/app/daemon/data_folder.h"
#include "client/app/stream/stream_server.h"

namespace firn::app {

// Main thread. All but `listen` outlive it.
class DaemonStreams {
 public:
  // `listen`: HOST:PORT; empty: this machine alone, at the port that it had last if that is free.
  DaemonStreams(std::string listen, const DataFolder& folder, const ReadingList& contents,
                Console& console)
      : listen_(std::move(listen)), folder_(folder), contents_(contents), console_(console) {}

  // What docs/rpc.md says of `play`. Errors: kBusy (the content is not open), as
  // open_stream_server()'s.
  Result<Json> tell(const ContentId& content);
  // What DaemonMethods::stream_url() says. Errors: also kNotFound (no such file is chosen).
  Result<std::string> url(const ContentId& content, const std::string& number,
                          const std::string& host);

 private:
  struct Open {
    std::shared_ptr<ContentReading> reading;
    std::shared_ptr<const Manifest> manifest;
  };
  // The content, and the door.
  Result<Open> open(const ContentId& content);
  Status open();

  const std::string listen_;
  const DataFolder& folder_;
  const ReadingList& contents_;
  Console& console_;
  std::unique_ptr<StreamServer> server_;
};

}  // namespace firn::app
