#include "client/app/daemon/hooks.h"

#include <fmt/format.h>

namespace firn::app {
namespace {

// Linux takes 128 KiB for one variable; nobody reads that much.
constexpr std::size_t kErrorBytesMax = 4096;

}  // namespace

void Hooks::added(const HookSubject& content) {
  call("on_added", "added", commands_.on_added, content, {});
}

void Hooks::completed(const HookSubject& content) {
  call("on_complete", "complete", commands_.on_complete, content, {});
}

void Hooks::failed(const HookSubject& content, const std::string& why) {
  call("on_error", "error", commands_.on_error, content, why.substr(0, kErrorBytesMax));
}

void Hooks::call(const char* option, const char* event, const std::string& command,
                 const HookSubject& content, const std::string& why) {
  if (command.empty()) return;
  if (waiting_.size() >= kWaitingMax)
    return console_.error(
        option, "too many commands wait for others to end: it is not run for " + content.name,
        content.id);
  waiting_.push_back({option,
                      command,
                      content.id,
                      {{"FIRN_EVENT", event},
                       {"FIRN_CONTENT_ID", content.id.text()},
                       {"FIRN_NAME", content.name},
                       {"FIRN_DIR", content.folder},
                       {"FIRN_ERROR", why}}});
  run_next();
}

void Hooks::run_next() {
  while (running_ < kRunningMax && !waiting_.empty()) {
    const Call next = std::move(waiting_.front());
    waiting_.pop_front();
    const auto ended = [this, alive = std::weak_ptr(alive_), option = next.option,
                        command = next.command, id = next.id](int status) {
      if (alive.expired()) return;
      --running_;
      if (status != 0)
        console_.error(option, fmt::format("'{}' ended with {}", command, status), id);
      run_next();
    };
    const Status started = loop_.run_shell(next.command, next.environment, ended);
    if (started.ok()) {
      ++running_;
    } else {
      console_.error(started.error(), next.id);
    }
  }
}

}  // namespace firn::app
