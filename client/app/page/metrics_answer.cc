#include "client/app/page/metrics_answer.h"

#include <utility>

#include "client/app/page/metrics_text.h"

namespace firn::app {
namespace {

constexpr std::chrono::milliseconds kMetricsFresh{500};

}  // namespace

void MetricsAnswer::give(web::ExchangeId id) {
  if (known_ && std::chrono::steady_clock::now() - known_at_ < kMetricsFresh)
    return server_.reply(id, web::metrics_response(*known_));
  waiting_.push_back(id);
  if (waiting_.size() > 1) return;
  const bool asked =
      calls_.call([this] { server_.post([this, facts = source_.metrics()] { keep(facts); }); });
  if (asked) return;
  waiting_.clear();
  server_.reply(id, web::plain_response(503, "there is too much to do; try again"));
}

void MetricsAnswer::keep(const MetricsFacts& facts) {
  known_ = metrics_of(facts);
  known_at_ = std::chrono::steady_clock::now();
  for (const web::ExchangeId id : std::exchange(waiting_, {}))
    server_.reply(id, web::metrics_response(*known_));
}

void MetricsDoor::request(web::ExchangeId id, web::Request request) {
  if (!access_.meant_for_us(request))
    return server_.reply(id, web::plain_response(403, "the Host or Origin is not this server's"));
  if (!MetricsAnswer::asked_by(request))
    return server_.reply(id, web::plain_response(404, "there is nothing but /metrics"));
  answer_.give(id);
}

}  // namespace firn::app
