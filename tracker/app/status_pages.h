// The tracker's pages, as the door (proto/web/door.h) lets requests pass to them:
//
//   GET  /         swarms, peers, announces a second        GET  /status   the same as JSON
//   GET  /events   what changes of the page               GET  /metrics  for Prometheus
//   GET  /health   it answers                              GET  /ready    it wants work
//
// The server's thread. The tracker is asked for a snapshot once in a second, and rests 99 times as
// long as the last one took: it walks over all swarms.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "proto/web/door.h"
#include "tracker/snapshot.h"

namespace firn::tracker {

class StatusPages final : public web::Pages {
 public:
  static constexpr std::size_t kStreamsMax = 32;
  static constexpr std::size_t kRatesMax = 300;  // that are kept, one for each second

  using Take = std::function<void(const Snapshot&)>;
  // Asks for a snapshot; `take` is called once, on any thread, or never when the server ends.
  using Ask = std::function<void(Take take)>;

  // All outlive this object.
  StatusPages(web::HttpServer& server, Ask ask);

  std::size_t body_bytes_max(const web::Request&) override { return 0; }
  bool open_to_all(const web::Request& request) const override;
  void request(web::ExchangeId id, web::Request request) override;
  void over(web::ExchangeId id) override { streams_.erase(id); }
  void tick() override;
  // /ready says no from now on. Any thread.
  void drain() { draining_.store(true); }

 private:
  using Clock = std::chrono::steady_clock;

  void refresh();
  void keep(const Snapshot& snapshot);
  enum class Form { kPage, kJson, kMetrics };
  void answer(web::ExchangeId id, Form form);
  web::Response readiness() const;
  void begin_stream(web::ExchangeId id);
  void feed();

  web::HttpServer& server_;
  const Ask ask_;
  const Clock::time_point started_ = Clock::now();
  std::optional<Snapshot> known_;
  Clock::time_point asked_at_{}, known_at_{}, fresh_until_{};
  bool asked_ = false;
  std::atomic<bool> draining_{false};
  std::vector<std::pair<web::ExchangeId, Form>> waiting_;                  // for a snapshot
  std::map<web::ExchangeId, std::map<std::string, std::string>> streams_;  // with what was sent
  std::deque<double> rates_;
};

}  // namespace firn::tracker
