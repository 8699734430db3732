#include "client/app/page/status_pages.h"

#include <unistd.h>

#include <charconv>
#include <utility>

#include "client/app/daemon/rpc.h"
#include "client/app/page/map_markup.h"
#include "proto/program/output_file.h"
#include "proto/web/form.h"
#include "proto/web/live_update.h"
#include "proto/web/token.h"

namespace firn::app {
namespace {

using web::ExchangeId;
using web::Method;
using web::Request;
using web::Response;

constexpr std::size_t kKnownMax = 64;
constexpr std::chrono::milliseconds kFresh{500};
constexpr const char* kNotDone = "That was not done";
constexpr const char* kBusy = "there is too much to do; try again";

std::uint32_t number_in(const web::Fields& fields, const char* name) {
  const std::string* const text = web::find_field(fields, name);
  std::uint32_t number = 0;
  if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), number);
  return number;
}

Response json_response(std::string text) {
  Response response;
  response.status = text.empty() ? 204 : 200;
  response.content_type = "application/json";
  response.body = std::move(text);
  return response;
}

Response failure(int status, const std::string& title, const std::string& text) {
  Response response;
  response.status = status;
  response.body = failure_page(title, text);
  return response;
}

PageView view_of(const web::Fields& query, const std::string& content, bool may_change) {
  PageView view;
  view.path = content.empty() ? "/" : "/content/" + content;
  view.range = {number_in(query, "from"), number_in(query, "count")};
  view.page = number_in(query, content.empty() ? "page" : "peers");
  view.may_change = may_change;
  return view;
}

// What the list of contents shows.
Result<ContentFacts> list_facts(StatusSource& source) {
  ContentFacts facts;
  auto list = source.contents();
  if (!list.ok()) return list.error();
  facts.details = *std::move(list);
  DaemonMethods* const methods = source.methods();
  if (methods == nullptr) return facts;
  if (auto status = methods->status(); status.ok()) facts.daemon = *std::move(status);
  if (auto watches = methods->watches(); watches.ok()) facts.daemon.update(*watches);
  return facts;
}

}  // namespace

StatusPages::StatusPages(web::HttpServer& server, MainCalls& calls, StatusSource& source,
                         std::string folder)
    : server_(server),
      calls_(calls),
      source_(source),
      folder_(std::move(folder)),
      may_change_(source.methods() != nullptr),
      metrics_(server, calls, source) {}

std::size_t StatusPages::body_bytes_max(const Request& head) {
  if (!may_change_) return 0;
  return head.path == "/add" ? kManifestBytesMax : kRpcBytesMax;
}

void StatusPages::request(ExchangeId id, Request request) {
  constexpr std::string_view kContent = "/content/", kPlay = "/play/";
  if (request.method == Method::kPost && may_change_) {
    if (request.path == "/rpc") return call_rpc(id, std::move(request.body));
    if (request.path == "/add") return add(id, request);
    if (request.path == "/do") return change(id, request);
  } else if (MetricsAnswer::asked_by(request)) {
    return metrics_.give(id);
  } else if (request.method == Method::kGet) {
    if (request.path == "/events") return begin_stream(id, request);
    if (request.path == "/range") return tell_range(id, request);
    if (request.path.starts_with(kPlay) && may_change_)
      return play(id, std::string_view(request.path).substr(kPlay.size()), request.host);
    if (request.path == "/") return show(id, "", view_of(request.query, "", may_change_));
    if (request.path.starts_with(kContent)) {
      const std::string content = request.path.substr(kContent.size());
      return show(id, content, view_of(request.query, content, may_change_));
    }
  }
  server_.reply(id, failure(404, "Not found", "There is no page here."));
}

// --- what the main thread says ---

bool StatusPages::with_facts(const std::string& content, TakeFacts take) {
  const auto now = std::chrono::steady_clock::now();
  Known& known = known_[content];
  if (known.facts && now - known.at < kFresh) {
    const Facts facts = known.facts;  // `take` may ask for others
    take(facts);
    return true;
  }
  known.waiting.push_back(std::move(take));
  if (known.waiting.size() > 1) return true;
  const bool asked = calls_.call([this, content] {
    Facts facts;
    if (content.empty()) {
      facts = std::make_shared<const Result<ContentFacts>>(list_facts(source_));
    } else {
      facts = std::make_shared<const Result<ContentFacts>>(source_.content(content));
    }
    server_.post([this, content, facts] { keep(content, facts); });
  });
  if (!asked) known_.erase(content);
  return asked;
}

void StatusPages::keep(const std::string& content, Facts facts) {
  if (known_.size() > kKnownMax) forget_facts();
  Known& known = known_[content];
  known.facts = facts;
  known.at = std::chrono::steady_clock::now();
  const auto waiting = std::exchange(known.waiting, {});
  if (!facts->ok()) known_.erase(content);
  for (const TakeFacts& take : waiting) take(facts);
}

// But what requests wait for, which the main thread has not said yet.
void StatusPages::forget_facts() {
  std::erase_if(known_, [](const auto& known) { return known.second.waiting.empty(); });
}

void StatusPages::tick() {
  if (ticks_++ % RateHistory::kSecondsBetween == 0)
    (void)calls_.call(
        [this] { server_.post([this, rates = source_.rates()] { history_.add(rates); }); });
  for (const auto& [id, stream] : streams_)
    (void)with_facts(stream.content, [this, id = id](const Facts& facts) { feed(id, facts); });
}

// --- pages ---

void StatusPages::show(ExchangeId id, const std::string& content, const PageView& view) {
  const auto take = [this, id, content, view](const Facts& facts) {
    if (!facts->ok()) {
      if (view.refused) return server_.reply(id, failure(422, kNotDone, view.refused->why));
      return server_.reply(id, failure(404, "Not found", facts->error().message()));
    }
    Response response;
    response.status = view.refused ? 422 : 200;
    const ContentFacts& known = facts->value();
    if (content.empty()) {
      response.body = contents_page(known, history_.all(), view);
    } else {
      const RankMap map = known.swarm ? rank_map(*known.swarm, view.range) : RankMap{};
      response.body = content_page(known, map, history_.of(content), view);
    }
    server_.reply(id, std::move(response));
  };
  if (!with_facts(content, take)) server_.reply(id, web::plain_response(503, kBusy));
}

void StatusPages::tell_range(ExchangeId id, const Request& request) {
  const std::string* const content = web::find_field(request.query, "content");
  const MapRange range{number_in(request.query, "from"), number_in(request.query, "count")};
  const auto take = [this, id, range](const Facts& facts) {
    if (!facts->ok()) return server_.reply(id, web::plain_response(404, facts->error().message()));
    const auto& swarm = facts->value().swarm;
    server_.reply(id, web::plain_response(
                          200, swarm ? range_words(*swarm, range) : "this content does not run"));
  };
  if (content == nullptr || content->empty())
    return server_.reply(id, web::plain_response(404, "there is no such content"));
  if (!with_facts(*content, take)) server_.reply(id, web::plain_response(503, kBusy));
}

void StatusPages::play(ExchangeId id, std::string_view what, const std::string& host) {
  const std::size_t slash = std::min(what.find('/'), what.size());
  const std::string content(what.substr(0, slash)),
      number(what.substr(std::min(slash + 1, what.size())));
  const bool called = calls_.call([this, id, content, number, host] {
    const auto url = source_.methods()->stream_url(content, number, host);
    server_.post([this, id, url] {
      server_.reply(
          id, url.ok() ? web::redirection(*url) : failure(404, "Not found", url.error().message()));
    });
  });
  if (!called) server_.reply(id, web::plain_response(503, kBusy));
}

void StatusPages::begin_stream(ExchangeId id, const Request& request) {
  if (streams_.size() >= kStreamsMax)
    return server_.reply(id, web::plain_response(503, "too many pages are live"));
  if (!request.head_only) {
    const std::string* const content = web::find_field(request.query, "content");
    Stream& stream = streams_[id];
    if (content != nullptr) stream.content = *content;
    stream.view = view_of(request.query, stream.content, may_change_);
  }
  Response response;
  response.content_type = "text/event-stream";
  response.stream = true;
  server_.reply(id, std::move(response));
}

// Only what has changed since it was sent last; a reader that has not taken that yet gets nothing.
void StatusPages::feed(ExchangeId id, const Facts& facts) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  Stream& stream = found->second;
  web::LiveUpdate update(stream.sent);
  if (!facts->ok()) {
    update.fail(facts->error().message());
  } else if (stream.content.empty()) {
    update.regions(contents_regions(facts->value(), history_.all(), stream.view));
  } else {
    const ContentFacts& known = facts->value();
    const RankMap map = known.swarm ? rank_map(*known.swarm, stream.view.range) : RankMap{};
    update.regions(content_regions(known, map, history_.of(stream.content), stream.view));
  }
  if (server_.push(id, update.text())) update.commit();
}

// --- what changes something ---

void StatusPages::call_rpc(ExchangeId id, std::string body) {
  const bool called = calls_.call([this, id, body = std::move(body)] {
    server_.post([this, id, answer = answer_rpc(body, *source_.methods())] {
      forget_facts();
      server_.reply(id, json_response(answer));
    });
  });
  if (!called) server_.reply(id, web::plain_response(503, kBusy));
}

void StatusPages::call_and_return(ExchangeId id, Posted posted) {
  const std::string file = posted.forget_file;
  const bool called = calls_.call([this, id, posted = std::move(posted)] {
    const std::string line = posted.call.rpc.dump(-1, ' ', false, Json::error_handler_t::replace);
    server_.post([this, id, posted, text = answer_rpc(line, *source_.methods())] {
      if (!posted.forget_file.empty()) ::unlink(posted.forget_file.c_str());
      forget_facts();
      const Json answer = Json::parse(text, nullptr, false);
      if (answer.is_object() && answer.contains("result"))
        return server_.reply(id, web::redirection(posted.call.back));
      const std::string why = answer.is_object() && answer.contains("error")
                                  ? answer["error"].value("message", "")
                                  : "";
      refuse(id, {posted.action, why, posted.fields});
    });
  });
  if (called) return;
  if (!file.empty()) ::unlink(file.c_str());
  server_.reply(id, web::plain_response(503, kBusy));
}

void StatusPages::refuse(ExchangeId id, Refusal refused) {
  const std::string content = page_of_form(refused.fields);
  PageView view = view_of({}, content, may_change_);
  view.refused = std::move(refused);
  show(id, content, view);
}

void StatusPages::add(ExchangeId id, const Request& request) {
  auto fields = web::parse_form(request);
  if (!fields) return server_.reply(id, failure(400, kNotDone, "It is no form of these pages."));
  const auto value = [&fields](const char* name) {
    const std::string* const found = web::find_field(*fields, name);
    return found == nullptr ? std::string() : *found;
  };
  std::string source = value("source"), uploaded;
  if (const std::string manifest = value("manifest"); !manifest.empty() && source.empty()) {
    uploaded = folder_ + "/upload-" + web::fresh_token() + ".firn";
    const auto written = OutputFile(uploaded, kManifestFile).write_new_private(manifest);
    if (!written.ok()) return server_.reply(id, failure(500, kNotDone, written.error().message()));
    source = uploaded;
  }
  Json params = {{"source", source}, {"serve", value("serve") == "on"}};
  for (const char* const name : {"folder", "as"})
    if (const std::string text = value(name); !text.empty()) params[name] = text;
  std::erase_if(*fields, [](const auto& field) { return field.first == "manifest"; });
  call_and_return(
      id, {{{{"jsonrpc", "2.0"}, {"id", 1}, {"method", "add"}, {"params", std::move(params)}}, "/"},
           "add",
           *std::move(fields),
           uploaded});
}

void StatusPages::change(ExchangeId id, const Request& request) {
  auto fields = web::parse_form(request);
  if (!fields) return server_.reply(id, failure(400, kNotDone, "It is no form of these pages."));
  const std::string* const named = web::find_field(*fields, "action");
  std::string action = named == nullptr ? "" : *named;
  auto call = form_call(*fields);
  if (!call.ok())
    return refuse(id, {std::move(action), call.error().message(), *std::move(fields)});
  call_and_return(id, {*std::move(call), std::move(action), *std::move(fields), ""});
}

}  // namespace firn::app
