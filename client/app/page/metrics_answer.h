// GET /metrics: asks the main thread, and answers. What it said is kept for half a second, so that
// many who ask cost it no more than one.
//
// The server's thread.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "client/app/page/main_calls.h"
#include "client/app/page/status_source.h"
#include "proto/web/access.h"
#include "proto/web/http_server.h"
#include "proto/web/metrics_text.h"

namespace firn::app {

class MetricsAnswer {
 public:
  // All outlive this object; `source` is used on the main thread, through `calls`.
  MetricsAnswer(web::HttpServer& server, MainCalls& calls, StatusSource& source)
      : server_(server), calls_(calls), source_(source) {}

  static bool asked_by(const web::Request& request) {
    return request.method == web::Method::kGet && request.path == "/metrics";
  }
  void give(web::ExchangeId id);

 private:
  void keep(const MetricsFacts& facts);

  web::HttpServer& server_;
  MainCalls& calls_;
  StatusSource& source_;
  std::optional<web::MetricsText> known_;
  std::chrono::steady_clock::time_point known_at_{};
  std::vector<web::ExchangeId> waiting_;
};

// A door that needs no token, and behind which is nothing else.
class MetricsDoor final : public web::HttpHandler {
 public:
  MetricsDoor(web::HttpServer& server, MainCalls& calls, StatusSource& source)
      : server_(server), access_("", server.listening()), answer_(server, calls, source) {}

  bool get_only() const override { return true; }
  std::size_t body_bytes_max(const web::Request&) override { return 0; }
  void request(web::ExchangeId id, web::Request request) override;
  void over(web::ExchangeId) override {}
  void tick() override {}

 private:
  web::HttpServer& server_;
  const web::Access access_;  // for Host and Origin alone
  MetricsAnswer answer_;
};

}  // namespace firn::app
