// The pages of a peer, as the door (proto/web/door.h) lets requests pass to them: what they ask of
// the main thread, and what they answer.
//
//   GET  /                contents             GET /events          what changes of a page
//   GET  /content/ID      one content          GET /range           generations of it, in words
//   POST /add  /do        a form of a page     POST /rpc            JSON-RPC (docs/rpc.md)
//   GET  /metrics         for Prometheus, also with the second token
//   GET  /play/ID/NUMBER  to a file's stream, or without NUMBER to a playlist
//
// The server's thread. What the main thread has said is kept for half a second, so that many
// readers cost it no more than one.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client/app/page/content_markup.h"
#include "client/app/page/form_calls.h"
#include "client/app/page/main_calls.h"
#include "client/app/page/metrics_answer.h"
#include "client/app/page/rate_history.h"
#include "proto/web/door.h"

namespace firn::app {

class StatusPages final : public web::Pages {
 public:
  static constexpr std::size_t kRpcBytesMax = 64 << 10;
  static constexpr std::size_t kManifestBytesMax = 16 << 20;  // that may be uploaded
  static constexpr std::size_t kStreamsMax = 32;

  // `folder`: for manifests that are uploaded, gone after they were read; empty where nothing can
  // be changed. All outlive this object; `source` is used on the main thread, through `calls`.
  StatusPages(web::HttpServer& server, MainCalls& calls, StatusSource& source, std::string folder);

  std::size_t body_bytes_max(const web::Request& head) override;
  bool open_to_readers(const web::Request& request) const override {
    return MetricsAnswer::asked_by(request);
  }
  void request(web::ExchangeId id, web::Request request) override;
  void over(web::ExchangeId id) override { streams_.erase(id); }
  void tick() override;

 private:
  using Facts = std::shared_ptr<const Result<ContentFacts>>;
  using TakeFacts = std::function<void(const Facts&)>;
  // Of a content, or, under "", of the list.
  struct Known {
    Facts facts;  // null: they have been asked for
    std::chrono::steady_clock::time_point at;
    std::vector<TakeFacts> waiting;
  };
  struct Stream {
    std::string content;  // empty: the list
    PageView view;
    std::map<std::string, std::string> sent;  // regions
  };

  // Calls `take` at once, or when the main thread has answered; false: it has too much to do.
  bool with_facts(const std::string& content, TakeFacts take);
  void keep(const std::string& content, Facts facts);
  void forget_facts();
  void show(web::ExchangeId id, const std::string& content, const PageView& view);
  // What a range of generations is, in words.
  void tell_range(web::ExchangeId id, const web::Request& request);
  // To the stream of what follows "/play/", on another port of `host`: the token stands in no page.
  void play(web::ExchangeId id, std::string_view what, const std::string& host);
  void begin_stream(web::ExchangeId id, const web::Request& request);
  void feed(web::ExchangeId id, const Facts& facts);
  void call_rpc(web::ExchangeId id, std::string body);
  void add(web::ExchangeId id, const web::Request& request);
  void change(web::ExchangeId id, const web::Request& request);
  // What a form asks for: where a browser goes afterwards, and what it had sent.
  struct Posted {
    FormCall call;
    std::string action;
    web::Fields fields;
    std::string forget_file;  // that was uploaded; empty: none
  };
  void call_and_return(web::ExchangeId id, Posted posted);
  // Shows the form's page again, with the reason and what was typed.
  void refuse(web::ExchangeId id, Refusal refused);

  web::HttpServer& server_;
  MainCalls& calls_;
  StatusSource& source_;
  const std::string folder_;
  const bool may_change_;
  std::map<std::string, Known> known_;
  std::map<web::ExchangeId, Stream> streams_;
  RateHistory history_;
  MetricsAnswer metrics_;
  int ticks_ = 0;
};

}  // namespace firn::app
