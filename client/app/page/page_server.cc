#include "client/app/page/page_server.h"

#include <unistd.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "client/app/page/driver_status.h"
#include "client/app/page/main_calls.h"
#include "client/app/page/status_pages.h"
#include "proto/web/door.h"
#include "proto/web/token.h"

namespace firn::app {
namespace {

// The server ends before what its thread uses.
struct OpenPage final : PageServer {
  OpenPage(PeerDriver& driver, DaemonMethods* methods, const std::string& folder, std::string token,
           Console& console, std::unique_ptr<web::HttpServer> opened, std::string its_url)
      : url_(std::move(its_url)),
        token_(token),
        source(driver, methods),
        calls(driver.loop()),
        http(std::move(opened)),
        pages(*http, calls, source, folder),
        door("Firn", web::Access(std::move(token), http->listening()), *http, pages,
             [this, &console](const std::string& text) {
               (void)calls.call([&console, text] { console.warning(text); });
             }) {
    if (calls.works()) runs = http->run(door);
  }
  ~OpenPage() override { http.reset(); }
  const std::string& url() const override { return url_; }
  const std::string& token() const override { return token_; }

  const std::string url_, token_;
  DriverStatus source;
  MainCalls calls;
  std::unique_ptr<web::HttpServer> http;
  StatusPages pages;
  web::Door door;
  Status runs = Error{ErrorCode::kBusy, "open the page", "no descriptor is left for it"};
};

}  // namespace

Result<std::unique_ptr<PageServer>> open_page_server(const PageOptions& options, PeerDriver& driver,
                                                     DaemonMethods* methods, Console& console) {
  web::ServerOptions server;
  const auto listen = parse_address(options.listen);
  if (!listen.ok()) return listen.error();
  server.listen = *listen;
  auto token = options.token_file.empty() ? Result<std::string>(web::fresh_token())
                                          : web::load_or_make_token(options.token_file);
  if (!token.ok()) return token.error();
  auto http = web::HttpServer::open(server);
  if (!http.ok()) return http.error();
  const std::string url = (*http)->url();
  auto page = std::make_unique<OpenPage>(driver, methods, options.folder, *token, console,
                                         *std::move(http), url);
  if (!page->runs) return page->runs.error();
  if (page->http->for_others())
    console.warning("HTTP at " + url + " is not encrypted: others on the way can read the token");
  Json told = {{"event", "http"}, {"url", url}};
  if (options.token_file.empty()) told["token"] = *token;
  console.event(told);
  // What is no terminal may be a log that others read. A browser keeps what follows '#' to itself.
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  console.show(options.token_file.empty() || terminal
                   ? "page: " + url + "#token=" + *token
                   : "page: " + url + ", token in " + options.token_file);
  return std::unique_ptr<PageServer>(std::move(page));
}

}  // namespace firn::app
