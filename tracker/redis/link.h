// The thread that talks with Redis. A few times a second, and at once where more is to be said, it
// sends what the registries have given (Post) and brings them what has come. When Redis cannot be
// reached it says so once, goes on trying, and says when it can.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "tracker/redis/connection.h"
#include "tracker/redis/conversation.h"
#include "tracker/redis/post.h"

namespace firn::tracker {

struct LinkOptions {
  RedisOptions redis;
  std::string own;              // names this process among the trackers
  std::function<Time()> clock;  // that of the registries; any thread
  // What a person is told; on the link's thread.
  std::function<void(bool is_trouble, const std::string& text)> log;
};

class RedisLink {
 public:
  // `post` outlives it. Errors: kBusy (no thread).
  static Result<std::unique_ptr<RedisLink>> start(Post& post, LinkOptions options);
  // Sends what was given, if Redis answers; waits for it as long as the options let.
  ~RedisLink();
  RedisLink(const RedisLink&) = delete;
  RedisLink& operator=(const RedisLink&) = delete;

 private:
  RedisLink(Post& post, LinkOptions options);

  // The link's thread.
  void run();
  void connect();
  void turn();
  void say_last();
  void lose(const Error& error);
  void tell_when_reconciled();

  Post& post_;
  const LinkOptions options_;
  Conversation conversation_;
  std::unique_ptr<RedisConnection> connection_;
  bool is_usable_ = false;      // the registries know of the connection
  bool is_known_lost_ = false;  // said
  bool is_told_ = false;        // that this connection stands
  std::uint64_t rejected_told_ = 0;
  std::atomic<bool> stopping_{false};
  std::thread thread_;  // last: it uses the others
};

}  // namespace firn::tracker
