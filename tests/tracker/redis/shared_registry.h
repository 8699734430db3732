// A registry that shares with others over a Redis server, as a tracker has it.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "tests/tracker/redis/redis_server.h"
#include "tracker/redis/link.h"
#include "tracker/redis/registry_redis.h"
#include "tracker/registry_memory.h"

namespace firn::tracker::test {

inline Time steady_now() {
  return std::chrono::duration_cast<Time>(std::chrono::steady_clock::now().time_since_epoch());
}

class Shared {
 public:
  using Clock = std::function<Time()>;

  explicit Shared(const RedisOptions& redis, const RegistryLimits& limits = {},
                  Clock clock = steady_now)
      : clock_(std::move(clock)),
        post_(1),
        registry_(std::make_unique<MemoryRegistry>(limits), post_, 0, Time(-1)) {
    std::signal(SIGPIPE, SIG_IGN);  // as the program does
    static int number = 0;
    link_ = *RedisLink::start(post_, LinkOptions{redis, "test " + std::to_string(++number), clock_,
                                                 [this](bool, const std::string& text) {
                                                   const std::lock_guard lock(mutex_);
                                                   said_ += text + "\n";
                                                 }});
  }

  Registry& operator*() { return registry_; }
  RedisRegistry* operator->() { return &registry_; }

  AnnounceOutcome announce(std::uint32_t swarm, const Peer& one) {
    return registry_.announce(content(swarm), pack(one), clock_());
  }
  void leave(std::uint32_t swarm, std::uint32_t number) {
    registry_.expire(clock_() - kLifetime);
    registry_.leave(content(swarm), peer_id(number));
  }
  // What it does a few times a second.
  void turn() {
    registry_.expire(clock_() - kLifetime);
    REQUIRE(registry_.flush_some().ok());
  }
  // Everything that was said to the link.
  std::string said() const {
    const std::lock_guard lock(mutex_);
    return said_;
  }
  std::size_t said_count(const std::string& words) const {
    const std::string all = said();
    std::size_t count = 0;
    for (std::size_t at = all.find(words); at != std::string::npos; at = all.find(words, at + 1))
      ++count;
    return count;
  }
  bool wait_until_it_says(const std::string& words, std::size_t times = 1) {
    return wait([&] { return said_count(words) >= times; });
  }
  bool wait_until_it_stands(std::size_t times = 1) {
    return wait_until_it_says("is there; swarms are shared", times);
  }
  RedisState state() const { return post_.state(clock_()); }
  Post& post() { return post_; }

  // Takes turns until it holds; false: it does not, after a patience that no test is to need.
  template <typename Holds>
  bool wait(const Holds& holds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!holds()) {
      if (std::chrono::steady_clock::now() > end) return false;
      turn();
      std::this_thread::yield();
    }
    return true;
  }

  static constexpr Time kLifetime{150'000};

 private:
  const Clock clock_;
  mutable std::mutex mutex_;
  std::string said_;
  Post post_;
  RedisRegistry registry_;
  std::unique_ptr<RedisLink> link_;
};

}  // namespace firn::tracker::test
