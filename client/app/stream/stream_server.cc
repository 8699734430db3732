#include "client/app/stream/stream_server.h"

#include <utility>

#include "client/app/stream/stream_handler.h"
#include "proto/web/access.h"
#include "proto/web/http_server.h"

namespace firn::app {
namespace {

// A reader holds 1 MiB at most, and a player opens few connections.
constexpr std::size_t kConnectionsMax = 64;

// The server ends before what its thread uses.
struct OpenStreams final : StreamServer {
  OpenStreams(std::unique_ptr<web::HttpServer> opened, const ReadingList& contents)
      : url_(opened->url()), http(std::move(opened)), handler(*http, contents) {}
  ~OpenStreams() override { http.reset(); }
  const std::string& url() const override { return url_; }
  Result<std::string> url_for(const std::string& host) const override;

  const std::string url_;
  std::unique_ptr<web::HttpServer> http;
  StreamHandler handler;
};

// The token goes nowhere but to this server: what is 127.0.0.1 there is not so on another machine.
Result<std::string> OpenStreams::url_for(const std::string& host) const {
  const std::string name = web::host_of(host);
  if (web::is_loopback(name)) return url_;
  if (!http->for_others())
    return Error{ErrorCode::kBadInput, "play on another machine",
                 "streams are for players of this machine alone: start the daemon with --streams "
                 "HOST:PORT, and HOST an address of it that others reach"};
  const Address& listening = http->listening();
  if (!listening.host.empty()) return url_;
  return "http://" + to_text({{}, name, listening.port}) + "/";
}

}  // namespace

Result<std::unique_ptr<StreamServer>> open_stream_server(const std::string& listen,
                                                         const ReadingList& contents,
                                                         Console& console) {
  const auto address = parse_address(listen);
  if (!address.ok()) return address.error();
  auto http = web::HttpServer::open(
      {.listen = *address, .connections_max = kConnectionsMax, .niceness = 0});
  if (!http.ok()) return http.error();
  auto streams = std::make_unique<OpenStreams>(*std::move(http), contents);
  if (const Status runs = streams->http->run(streams->handler); !runs.ok()) return runs.error();
  if (streams->http->for_others())
    console.warning("streams at " + streams->url_ +
                    " are not encrypted: others on the way can read files and tokens");
  return std::unique_ptr<StreamServer>(std::move(streams));
}

}  // namespace firn::app
