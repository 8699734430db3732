#include "client/app/page/page_server.h"

#include <unistd.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "client/app/page/driver_status.h"
#include "client/app/page/main_calls.h"
#include "client/app/page/metrics_answer.h"
#include "client/app/page/status_pages.h"
#include "proto/web/door.h"
#include "proto/web/token.h"

namespace firn::app {
namespace {

// The server ends before what its thread uses.
struct OpenPage final : PageServer {
  OpenPage(PeerDriver& driver, DaemonMethods* methods, const std::string& folder, std::string token,
           std::string read_token, Console& console, std::unique_ptr<web::HttpServer> opened,
           std::string its_url)
      : url_(std::move(its_url)),
        token_(token),
        source(driver, methods),
        calls(driver.loop()),
        http(std::move(opened)),
        pages(*http, calls, source, folder),
        door("Firn", web::Access(std::move(token), http->listening(), std::move(read_token)), *http,
             pages, [this, &console](const std::string& text) {
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

struct OpenMetrics final : MetricsServer {
  OpenMetrics(PeerDriver& driver, DaemonMethods* methods, std::unique_ptr<web::HttpServer> opened)
      : source(driver, methods),
        calls(driver.loop()),
        http(std::move(opened)),
        door(*http, calls, source) {
    if (calls.works()) runs = http->run(door);
  }
  ~OpenMetrics() override { http.reset(); }

  DriverStatus source;
  MainCalls calls;
  std::unique_ptr<web::HttpServer> http;
  MetricsDoor door;
  Status runs = Error{ErrorCode::kBusy, "open the metrics", "no descriptor is left for them"};
};

Result<std::unique_ptr<web::HttpServer>> open_http(const std::string& listen) {
  const auto address = parse_address(listen);
  if (!address.ok()) return address.error();
  return web::HttpServer::open({.listen = *address});
}

Result<std::string> token_of(const std::string& file) {
  return file.empty() ? Result<std::string>(web::fresh_token()) : web::load_or_make_token(file);
}

}  // namespace

Result<std::unique_ptr<PageServer>> open_page_server(const PageOptions& options, PeerDriver& driver,
                                                     DaemonMethods* methods, Console& console) {
  const bool kept = !options.token_file.empty();
  auto token = token_of(options.token_file);
  if (!token.ok()) return token.error();
  auto read_token = token_of(kept ? options.token_file + ".metrics" : "");
  if (!read_token.ok()) return read_token.error();
  auto http = open_http(options.listen);
  if (!http.ok()) return http.error();
  const std::string url = (*http)->url();
  auto page = std::make_unique<OpenPage>(driver, methods, options.folder, *token, *read_token,
                                         console, *std::move(http), url);
  if (!page->runs) return page->runs.error();
  if (page->http->for_others())
    console.warning("HTTP at " + url + " is not encrypted: others on the way can read the token");
  Json told = {{"event", "http"}, {"url", url}};
  if (!kept) told.update({{"token", *token}, {"metrics_token", *read_token}});
  console.event(told);
  // What is no terminal may be a log that others read. A browser keeps what follows '#' to itself.
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  console.show(!kept || terminal ? "page: " + url + "#token=" + *token
                                 : "page: " + url + ", token in " + options.token_file);
  return std::unique_ptr<PageServer>(std::move(page));
}

Result<std::unique_ptr<MetricsServer>> open_metrics_server(const std::string& listen,
                                                           PeerDriver& driver,
                                                           DaemonMethods* methods,
                                                           Console& console) {
  auto http = open_http(listen);
  if (!http.ok()) return http.error();
  const std::string url = (*http)->url() + "metrics";
  auto server = std::make_unique<OpenMetrics>(driver, methods, *std::move(http));
  if (!server->runs) return server->runs.error();
  console.event({{"event", "metrics"}, {"url", url}});
  console.show("metrics: " + url);
  return std::unique_ptr<MetricsServer>(std::move(server));
}

}  // namespace firn::app
