// The commands that a daemon runs when something has happened to a content. They get what they need
// in their environment; nothing waits for them, and what they end with is said and changes nothing.
//
// Bounds: kRunningMax run at once, kWaitingMax wait for that; more are dropped, which is said.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/app/console/console.h"
#include "client/app/runtime/event_loop.h"
#include "proto/base/ids.h"

namespace firn::app {

// Empty: none.
struct HookCommands {
  std::string on_added;
  std::string on_complete;
  std::string on_error;
};

// What a command is told of its content.
struct HookSubject {
  ContentId id;
  std::string name;
  std::string folder;
};

// Main thread.
class Hooks {
 public:
  static constexpr std::size_t kRunningMax = 4;
  static constexpr std::size_t kWaitingMax = 1000;

  // Both outlive it.
  Hooks(EventLoop& loop, Console& console) : loop_(loop), console_(console) {}
  Hooks(const Hooks&) = delete;
  Hooks& operator=(const Hooks&) = delete;

  // From now on.
  void set(HookCommands commands) { commands_ = std::move(commands); }

  void added(const HookSubject& content);
  void completed(const HookSubject& content);
  // `why` without secrets.
  void failed(const HookSubject& content, const std::string& why);

 private:
  struct Call {
    std::string option;  // that named it, for messages
    std::string command;
    ContentId id;
    std::vector<std::pair<std::string, std::string>> environment;
  };
  void call(const char* option, const char* event, const std::string& command,
            const HookSubject& content, const std::string& why);
  void run_next();

  EventLoop& loop_;
  Console& console_;
  HookCommands commands_;
  std::deque<Call> waiting_;
  std::size_t running_ = 0;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>();  // commands may outlive this
};

}  // namespace firn::app
