// A server of the product's pages over a state that is made up (made_up.h), for tests in a browser:
//
//   page_stage [kinds | none] [OTHERS]
//
// Says where it listens as the daemon does, and ends with SIGTERM.

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

#include "client/app/page/main_calls.h"
#include "client/app/page/status_pages.h"
#include "client/app/runtime/event_loop.h"
#include "proto/web/door.h"
#include "proto/web/http_server.h"
#include "proto/web/token.h"
#include "tests/app/page/made_up.h"

using namespace firn;
using namespace firn::app;

int main(int count, char** words) {
  const bool kinds = count < 2 || std::string(words[1]) == "kinds";
  MadeUp source(kinds, count < 3 ? 0 : static_cast<std::size_t>(std::atoi(words[2])));
  EventLoop loop;
  MainCalls calls(loop);
  web::ServerOptions options;
  options.listen.host = "localhost";
  auto opened = web::HttpServer::open(options);
  if (!opened.ok()) {
    std::cerr << opened.error().message() << "\n";
    return EXIT_FAILURE;
  }
  auto http = *std::move(opened);
  const std::string token = web::fresh_token();
  StatusPages pages(*http, calls, source, std::filesystem::temp_directory_path());
  web::Door door("Firn", web::Access(token, http->listening()), *http, pages,
                 [](const std::string&) {});
  loop.on_signal([&loop](int) { loop.stop(); });
  FIRN_CHECK(http->run(door).ok());
  std::cout << Json{{"event", "http"}, {"url", http->url()}, {"token", token}}.dump() << std::endl;
  loop.run();
  http.reset();
}
