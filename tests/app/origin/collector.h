// A transfer as a test sees it: what came, and how it ended.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "client/app/origin/transfers.h"

namespace firn::tests {

class Collector : public app::TransferSink {
 public:
  // Takes bytes as long as it then has at most `room`.
  explicit Collector(std::size_t room = SIZE_MAX) : room_(room) {}

  Status head(const app::OriginAnswer& answer) override {
    const std::lock_guard lock(mutex_);
    answer_ = answer;
    return head_answer_;
  }
  bool take(std::span<const std::uint8_t> bytes) override {
    const std::lock_guard lock(mutex_);
    pauses_ = bytes_.size() + bytes.size() > room_;
    changed_.notify_all();
    if (pauses_) return false;
    bytes_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return true;
  }
  void ended(const app::TransferEnd& end) override {
    const std::lock_guard lock(mutex_);
    end_ = end;
    ++ends_;
    changed_.notify_all();
  }

  void answer_heads_with(Status status) { head_answer_ = std::move(status); }
  void set_room(std::size_t room) {
    const std::lock_guard lock(mutex_);
    room_ = room;
  }
  void wait_for_pause() {
    wait([this] { return pauses_; });
  }
  const app::TransferEnd& wait_for_end() {
    wait([this] { return ends_ > 0; });
    return *end_;
  }
  // After the end.
  const std::string& bytes() const { return bytes_; }
  const std::optional<app::OriginAnswer>& answer() const { return answer_; }
  int ends() const { return ends_; }
  std::string message() const { return end_->status ? "" : end_->status.error().message(); }

 private:
  template <typename Event>
  void wait(Event event) {
    std::unique_lock lock(mutex_);
    const bool came = changed_.wait_for(lock, std::chrono::minutes(2), event);
    REQUIRE(came);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t room_;
  Status head_answer_ = Done{};
  std::optional<app::OriginAnswer> answer_;
  std::string bytes_;
  std::optional<app::TransferEnd> end_;
  int ends_ = 0;
  bool pauses_ = false;
};

// Proxies and certificates of the machine that runs the tests are none of theirs.
inline app::TransfersOptions no_environment() {
  app::TransfersOptions options;
  options.environment = [](const char*) { return std::string(); };
  return options;
}

inline std::shared_ptr<app::Transfers> started(app::TransfersOptions options = no_environment()) {
  auto transfers = app::Transfers::start(std::move(options));
  REQUIRE(transfers.ok());
  return *transfers;
}

inline app::OriginAccess by_hand() {
  app::OriginAccess access;
  access.by_hand = true;
  return access;
}

inline app::TransferRequest request_for(const std::string& url,
                                        app::OriginAccess access = by_hand()) {
  app::TransferRequest request;
  auto parsed = parse_origin(url);
  REQUIRE(parsed.ok());
  request.url = *parsed;
  request.access = std::make_shared<app::OriginAccess>(std::move(access));
  return request;
}

// The whole of one transfer.
inline std::shared_ptr<Collector> fetched(app::Transfers& transfers, app::TransferRequest request) {
  auto sink = std::make_shared<Collector>();
  transfers.begin(std::move(request), sink);
  sink->wait_for_end();
  return sink;
}

}  // namespace firn::tests
