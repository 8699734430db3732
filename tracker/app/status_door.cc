#include "tracker/app/status_door.h"

#include <mutex>
#include <utility>

#include "proto/web/door.h"
#include "proto/web/token.h"
#include "tracker/app/status_pages.h"

namespace firn::tracker {
namespace {

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

// A snapshot may come when the door is gone.
struct Gate {
  std::mutex mutex;
  bool open = true;  // under mutex
};

StatusPages::Ask asking(Server& server, std::shared_ptr<Gate> gate) {
  return [&server, gate = std::move(gate)](StatusPages::Take take) {
    server.look([gate, take = std::move(take)](const Snapshot& snapshot) {
      const std::lock_guard lock(gate->mutex);
      if (gate->open) take(snapshot);
    });
  };
}

struct OpenDoor final : StatusDoor {
  OpenDoor(Server& server, std::string token, const Log& log,
           std::unique_ptr<web::HttpServer> opened)
      : http(std::move(opened)),
        pages(*http, asking(server, gate)),
        door("Firn tracker", web::Access(std::move(token), http->listening()), *http, pages,
             [log](const std::string& text) { log(LogLevel::kWarning, text); }) {
    runs = http->run(door);
  }
  ~OpenDoor() override {
    {
      const std::lock_guard lock(gate->mutex);
      gate->open = false;
    }
    http.reset();
  }

  std::string url() const override { return http->url(); }

  void drain() override { pages.drain(); }

  const std::shared_ptr<Gate> gate = std::make_shared<Gate>();
  std::unique_ptr<web::HttpServer> http;  // ends before what its thread uses
  StatusPages pages;
  web::Door door;
  Status runs = Done{};
};

}  // namespace

Result<std::unique_ptr<StatusDoor>> open_status_door(const StatusDoorOptions& options,
                                                     Server& server) {
  const auto listen = parse_address(options.listen);
  if (!listen.ok()) return listen.error();
  auto token = web::load_or_make_token(options.token_file);
  if (!token.ok()) return token.error();
  auto http = web::HttpServer::open({.listen = *listen});
  if (!http.ok()) return http.error();
  auto door = std::make_unique<OpenDoor>(server, *std::move(token), options.log, *std::move(http));
  if (!door->runs) return door->runs.error();
  if (!is_loopback(listen->host))
    options.log(LogLevel::kWarning, "HTTP at " + door->url() +
                                        " is not encrypted: others on the way can read the token");
  return std::unique_ptr<StatusDoor>(std::move(door));
}

}  // namespace firn::tracker
