#include "tracker/redis/link.h"

#include <chrono>
#include <utility>

#include "proto/base/start_thread.h"

namespace firn::tracker {
namespace {

using namespace std::chrono_literals;

constexpr auto kTurn = 100ms;  // between turns where nothing hurries
constexpr auto kRetry = 1000ms;

}  // namespace

RedisLink::RedisLink(Post& post, LinkOptions options)
    : post_(post),
      options_(std::move(options)),
      conversation_(Keys(options_.redis.key_prefix), options_.own) {}

Result<std::unique_ptr<RedisLink>> RedisLink::start(Post& post, LinkOptions options) {
  std::unique_ptr<RedisLink> link(new RedisLink(post, std::move(options)));
  auto thread = start_thread("Redis", [one = link.get()] { one->run(); });
  if (!thread) return thread.error();
  link->thread_ = *std::move(thread);
  return link;
}

RedisLink::~RedisLink() {
  stopping_.store(true);
  post_.wake();
  if (thread_.joinable()) thread_.join();
}

void RedisLink::run() {
  while (!stopping_.load()) {
    if (!connection_) {
      connect();
    } else {
      turn();
    }
    if (!connection_) {
      post_.wait(kRetry);
    } else if (!conversation_.busy(post_.room())) {
      post_.wait(kTurn);
    }
  }
  say_last();
}

void RedisLink::connect() {
  auto opened = open_redis(options_.redis);
  if (!opened) return lose(opened.error());
  connection_ = std::move(opened).value();
  conversation_.begin();
  is_told_ = is_usable_ = false;
}

void RedisLink::turn() {
  conversation_.keep_for(post_.ttl());
  conversation_.post(post_.take());
  const auto replies = connection_->exchange(conversation_.next(options_.clock(), post_.room()));
  if (!replies) return lose(replies.error());
  const Time now = options_.clock();
  if (const Status taken = conversation_.take(*replies, now); !taken) return lose(taken.error());
  // From the first turn on: before it, Redis may still refuse what trackers do.
  if (!std::exchange(is_usable_, true)) post_.connected();
  post_.deliver(conversation_.received());
  post_.answered(now, conversation_.rejected());
  tell_when_reconciled();
}

// Everything that the registries gave before they ended.
void RedisLink::say_last() {
  if (!connection_) return;
  do {
    turn();
  } while (connection_ && conversation_.busy(false));
}

void RedisLink::lose(const Error& error) {
  connection_.reset();
  post_.lost(!is_known_lost_);
  if (std::exchange(is_known_lost_, true)) return;
  options_.log(true, error.message() + " (" + to_text(options_.redis.address) +
                         "); serving alone, trying again");
}

void RedisLink::tell_when_reconciled() {
  if (!is_told_ && conversation_.reconciled()) {
    is_told_ = true;
    is_known_lost_ = false;
    options_.log(false, "Redis at " + to_text(options_.redis.address) +
                            " is there; swarms are shared with other trackers");
  }
  if (conversation_.rejected() == rejected_told_) return;
  if (rejected_told_ == 0)
    options_.log(true, "Redis at " + to_text(options_.redis.address) +
                           " holds entries that no tracker wrote; they are passed over");
  rejected_told_ = conversation_.rejected();
}

}  // namespace firn::tracker
