#include "client/app/commands/asking.h"

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "client/app/daemon/control_client.h"
#include "client/app/daemon/data_folder.h"
#include "client/app/runtime/event_loop.h"
#include "proto/base/plain_text.h"
#include "proto/program/usage.h"

namespace firn::app {
namespace {

constexpr std::chrono::seconds kBusyWait{3};
constexpr core::TimeUs kAskAgain = 100 * core::kMillisecond;

}  // namespace

void add_asking_options(CLI::App& command, AskOptions& options) {
  command
      .add_option("--socket", options.socket,
                  "where the daemon takes commands (default: as firn daemon)")
      ->option_text("PATH")
      ->check(not_empty());
  add_console_options(command, options.console);
}

std::string socket_of(const AskOptions& options) {
  return options.socket.empty() ? DataFolder::socket_to_ask(DataFolder::default_path())
                                : options.socket;
}

CLI::Option* add_content_option(CLI::App& command, std::string& content) {
  return command
      .add_option("CONTENT", content,
                  "a content id, the beginning of one, or a content's name (an id of 8 characters "
                  "or more goes first)")
      ->option_text("ID|NAME")
      ->check(not_empty());
}

Result<Json> ask(const AskOptions& options, const std::string& method, const Json& params) {
  const std::string socket = socket_of(options);
  Result<Json> answer = call_daemon(socket, method, params);
  const auto busy = [&] { return !answer.ok() && answer.error().code == ErrorCode::kBusy; };
  if (!busy()) return answer;
  const auto due = std::chrono::steady_clock::now() + kBusyWait;
  look_again(kAskAgain, [&] {
    answer = call_daemon(socket, method, params);
    return busy() && std::chrono::steady_clock::now() < due;
  });
  return answer;
}

void look_again(core::TimeUs interval, const std::function<bool()>& look) {
  EventLoop loop;
  loop.on_turn([&] { look() ? loop.wake_at(loop.now() + interval) : loop.stop(); });
  loop.wake();
  loop.run();
}

std::string absolute(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  // Of a relative path of which nothing is there yet, weakly_canonical() would make no absolute
  // one.
  const fs::path from_root = fs::absolute(path, error);
  if (error) return path;
  fs::path full = fs::weakly_canonical(from_root, error);
  if (error) full = from_root.lexically_normal();
  return (full.has_filename() ? full : full.parent_path()).string();
}

std::string cell(const Json& content, const char* name) {
  const auto found = content.find(name);
  if (found == content.end() || found->is_null()) return "-";
  return escaped(found->is_string() ? found->get<std::string>() : found->dump());
}

void tell_about(const std::string& event, const Json& result, Console& console) {
  Json told = {{"event", event}};
  if (result.is_object()) told.update(result);
  console.event(told);
}

}  // namespace firn::app
