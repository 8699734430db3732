#include "tracker/app/status_pages.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "proto/web/live_update.h"
#include "tracker/app/metrics_text.h"
#include "tracker/app/status_markup.h"

namespace firn::tracker {
namespace {

using web::ExchangeId;
using web::Request;
using web::Response;

constexpr std::chrono::milliseconds kFresh{900};  // a tick comes each second
constexpr int kRestFactor = 99;
constexpr std::size_t kWaitingMax = 256;

}  // namespace

StatusPages::StatusPages(web::HttpServer& server, Ask ask)
    : server_(server), ask_(std::move(ask)) {}

bool StatusPages::open_to_all(const Request& request) const {
  return request.method == web::Method::kGet &&
         (request.path == "/health" || request.path == "/ready");
}

void StatusPages::request(ExchangeId id, Request request) {
  static const std::map<std::string, Form> kForms = {
      {"/", Form::kPage}, {"/status", Form::kJson}, {"/metrics", Form::kMetrics}};
  const bool get = request.method == web::Method::kGet;
  if (get && request.path == "/events") return begin_stream(id);
  if (get && request.path == "/health") return server_.reply(id, web::plain_response(200, "alive"));
  if (get && request.path == "/ready") return server_.reply(id, readiness());
  const auto form = kForms.find(request.path);
  if (!get || form == kForms.end())
    return server_.reply(id, web::plain_response(404, "there is no page here"));
  if (known_ && Clock::now() < fresh_until_) return answer(id, form->second);
  if (waiting_.size() >= kWaitingMax)
    return server_.reply(id, web::plain_response(503, "there is too much to do; try again"));
  waiting_.emplace_back(id, form->second);
  refresh();
}

void StatusPages::begin_stream(ExchangeId id) {
  if (streams_.size() >= kStreamsMax)
    return server_.reply(id, web::plain_response(503, "too many pages are live"));
  streams_[id];
  Response response;
  response.content_type = "text/event-stream";
  response.stream = true;
  server_.reply(id, std::move(response));
}

// As of the last second: it is for programs that ask every few seconds.
Response StatusPages::readiness() const {
  if (draining_.load()) return web::plain_response(503, "it is stopping");
  if (!known_) return web::plain_response(503, "it is starting");
  if (known_->unwritten > 0) return web::plain_response(503, "its database cannot be written");
  return web::plain_response(200, "ready");
}

void StatusPages::refresh() {
  if (asked_) return;
  asked_ = true;
  asked_at_ = Clock::now();
  ask_([this](const Snapshot& snapshot) { server_.post([this, snapshot] { keep(snapshot); }); });
}

void StatusPages::keep(const Snapshot& snapshot) {
  const auto now = Clock::now();
  if (known_) {
    const double seconds = std::chrono::duration<double>(now - known_at_).count();
    const double count = static_cast<double>(snapshot.announce_count - known_->announce_count);
    // Nobody looked for a while: one value for all that time would be shown as if for a second.
    if (seconds > 2 * kRatesMax) rates_.clear();
    const auto steps = std::max<std::int64_t>(1, std::llround(seconds));
    for (std::int64_t i = 0; i < std::min<std::int64_t>(steps, kRatesMax); ++i)
      rates_.push_back(count / std::max(seconds, 0.001));
    while (rates_.size() > kRatesMax) rates_.pop_front();
  }
  known_ = snapshot;
  known_at_ = now;
  fresh_until_ = now + std::max<Clock::duration>(kFresh, kRestFactor * (now - asked_at_));
  asked_ = false;
  for (const auto& [id, form] : std::exchange(waiting_, {})) answer(id, form);
  feed();
}

void StatusPages::answer(ExchangeId id, Form form) {
  const StatusView view{*known_,
                        {rates_.begin(), rates_.end()},
                        kRatesMax,
                        std::chrono::duration_cast<std::chrono::seconds>(known_at_ - started_)};
  Response response;
  switch (form) {
    case Form::kPage:
      response.body = status_page(view);
      break;
    case Form::kJson:
      response.content_type = "application/json";
      response.body = status_json(view);
      break;
    case Form::kMetrics:
      response = web::metrics_response(metrics_of(view.now));
      break;
  }
  server_.reply(id, std::move(response));
}

void StatusPages::tick() {
  // Also without readers, so that the first one sees how it was.
  if (Clock::now() >= fresh_until_) refresh();
}

void StatusPages::feed() {
  const StatusView view{*known_,
                        {rates_.begin(), rates_.end()},
                        kRatesMax,
                        std::chrono::duration_cast<std::chrono::seconds>(known_at_ - started_)};
  const web::Regions regions = status_regions(view);
  for (auto& [id, sent] : streams_) {
    web::LiveUpdate update(sent);
    update.regions(regions);
    if (server_.push(id, update.text())) update.commit();
  }
}

}  // namespace firn::tracker
