#include "client/app/console/console.h"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/null_sink.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "client/app/console/columns.h"
#include "proto/base/plain_text.h"
#include "proto/content/content_secret.h"
#include "proto/program/log_sink.h"
#include "proto/program/standard_streams.h"

namespace firn::app {
namespace {

// As most terminals begin, where the system does not say.
Console::Room terminal_room() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0) size = {};
  return {size.ws_col == 0 ? 80u : size.ws_col, size.ws_row == 0 ? 24u : size.ws_row};
}

std::size_t terminal_columns() {
  return terminal_room().columns;
}

// Names of files need not be UTF-8 to the last byte; JSON must be.
std::string event_line(const Json& event) {
  return escaped_json(without_secrets(event.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

}  // namespace

Console::Console(const ConsoleOptions& options)
    : options_(options),
      stdout_terminal_(isatty(STDOUT_FILENO) == 1),
      display_(options.quiet
                   ? ProgressDisplay::Kind::kNone
                   : ProgressDisplay::kind_for(isatty(STDERR_FILENO) == 1, std::getenv("TERM"),
                                               std::getenv("NO_COLOR")),
               terminal_columns) {}

Console::~Console() {
  clear_progress();
  finish();
}

Result<std::unique_ptr<Console>> Console::open(const ConsoleOptions& options) {
  std::unique_ptr<Console> console(new Console(options));
  if (options.log_file.empty()) {
    console->log_ =
        std::make_shared<spdlog::logger>("firn", std::make_shared<spdlog::sinks::null_sink_mt>());
    return console;
  }
  auto file = LogFile::open(options.log_file);
  if (!file.ok()) return file.error();
  console->sink_ = std::make_shared<LogSink>(*std::move(file));
  console->log_ = std::make_shared<spdlog::logger>("firn", console->sink_);
  console->log_->set_level(spdlog::level::from_str(options.log_level));
  console->log_->set_error_handler(
      [raw = console.get()](const std::string& failure) { raw->log_failed(failure); });
  return console;
}

void Console::print(const std::vector<std::string>& lines) {
  clear_progress();
  for (const std::string& line : lines) {
    log_->info("{}", escaped(without_secrets(line)));  // a link may be secret
    put_out(escaped(line));
  }
  finish();
}

void Console::finish() {
  holding_ = false;
  for (const std::string& held : std::exchange(held_, {})) put_out(held);
}

void Console::event(const Json& event) {
  if (log_->should_log(spdlog::level::debug)) {
    Json logged = event;
    logged.erase("token");  // the page's
    log_->debug("{}", escaped_lines(event_line(logged)));
  }
  if (!options_.json) return;
  const std::string line = event_line(event);
  if (holding_) return held_.push_back(line);
  put_out(line);
}

void Console::show(const std::string& line) {
  log_->info("{}", escaped_lines(without_secrets(line)));
  put_error(escaped_lines(line));
}

void Console::debug(const std::string& text) {
  log_->debug("{}", escaped_lines(without_secrets(text)));
  if (options_.verbosity > 0 && !options_.quiet) say(text);
}

void Console::info(const std::string& text, const std::optional<ContentId>& content) {
  log_->info("{}", escaped_lines(without_secrets(text)));
  if (!options_.quiet) say(text);
  if (!options_.json) return;
  const Json plain = notice_event("info", text);
  event(content ? about(plain, *content) : plain);
}

void Console::warning(const std::string& text, const std::optional<ContentId>& content) {
  log_->warn("{}", escaped_lines(without_secrets(text)));
  if (!options_.quiet) say("warning: " + text);
  if (!options_.json) return;
  const Json plain = notice_event("warning", text);
  event(content ? about(plain, *content) : plain);
}

void Console::shared_info(const std::string& text, const ContentId& content) {
  if (first_to_say(text, content)) return info(text, content);
  log_->info("{}", escaped_lines(without_secrets(text)));
  event(about(notice_event("info", text), content));
}

void Console::shared_warning(const std::string& text, const ContentId& content) {
  if (first_to_say(text, content)) return warning(text, content);
  log_->warn("{}", escaped_lines(without_secrets(text)));
  event(about(notice_event("warning", text), content));
}

void Console::repeated_notice(const core::Notice& notice, const ContentId& content,
                              core::TimeUs now) {
  const auto text = repeated_.take(notice, content, now);
  if (!text) return;
  if (notice.kind == core::Notice::Kind::kWarning) return shared_warning(*text, content);
  shared_info(*text, content);
}

void Console::tell_passed_over(std::optional<core::TimeUs> now) {
  for (const auto& [notice, content] : repeated_.due(now))
    notice.kind == core::Notice::Kind::kWarning ? warning(notice.text, content)
                                                : info(notice.text, content);
}

void Console::error(const Error& failure, const std::optional<ContentId>& content) {
  error(error_code_name(failure.code), failure.message(), content);
}

void Console::error(const std::string& code, const std::string& text,
                    const std::optional<ContentId>& content) {
  log_->error("{}", escaped_lines(without_secrets(text)));
  say("firn: " + text);
  const Json plain = error_event(code, text);
  event(content ? about(plain, *content) : plain);
}

void Console::reopen_log() {
  if (!sink_) return info("SIGHUP: there is no --log to be opened anew");
  const Status opened = sink_->reopen();
  if (!opened.ok())
    return warning("SIGHUP: " + opened.error().message() + "; the log goes on where it was");
  log_failed_ = false;
  info("SIGHUP: the log is opened anew");
}

void Console::progress(const ProgressFigures& figures) {
  if (!shows_progress()) return;
  ProgressFigures shown = figures;
  shown.name = escaped(figures.name);
  shown.with_rank = verbose();
  show_progress(escaped(display_.in_place() ? progress_line(shown, terminal_columns() - 1)
                                            : plain_progress(shown)));
}

void Console::progress(const std::string& what, std::uint64_t done, std::uint64_t total) {
  if (!shows_progress()) return;
  const double percent =
      total == 0 ? 100.0 : 100.0 * static_cast<double>(done) / static_cast<double>(total);
  const std::string share = fmt::format(" {:.1f}%", percent);
  if (!display_.in_place()) return show_progress(escaped(what) + share);
  const std::size_t room = terminal_columns() - 1;
  show_progress(cut(escaped(what), room - std::min(room, share.size())) + share);
}

void Console::progress(const std::vector<std::string>& table, const std::string& summary) {
  if (!shows_progress()) return;
  if (!display_.redraws_lines())
    return show_progress(display_.in_place() ? cut(escaped(summary), terminal_columns() - 1)
                                             : escaped(summary));
  std::string text;
  for (const std::string& line : table) text += (text.empty() ? "" : "\n") + escaped(line);
  show_progress(text);
}

// The last column stays free: some terminals begin a new line behind it.
Console::Room Console::table_room() const {
  const Room room = terminal_room();
  return {room.columns - 1, room.lines - 1};
}

void Console::progress_change(const std::string& line) {
  log_->info("{}", escaped(without_secrets(line)));
  if (shows_progress() && !display_.redraws_lines()) say(line);
}

void Console::clear_progress() {
  std::fputs(display_.clear().c_str(), stderr);
  std::fflush(stderr);
}

void Console::put_out(const std::string& line) {
  std::fputs((line + "\n").c_str(), stdout);
  const Status told = flush_stdout();
  if (told.ok() || output_failed_ || (stdout_terminal_ && isatty(STDOUT_FILENO) == 0)) return;
  output_failed_ = true;
  if (told.error().code == ErrorCode::kCancelled) return;
  log_->error("{}", escaped_lines(without_secrets(told.error().message())));
  say("firn: " + told.error().message());
}

void Console::log_failed(const std::string& failure) {
  if (!std::exchange(log_failed_, true)) say("warning: " + failure + "; going on without the log");
}

void Console::say(const std::string& line) {
  put_error(escaped_lines(without_secrets(line)));
}

void Console::put_error(const std::string& line) {
  std::fputs(display_.say(line).c_str(), stderr);
  std::fflush(stderr);
}

void Console::show_progress(const std::string& escaped_text) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto now_us = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  const std::string text = display_.show(escaped_text, now_us);
  if (text.empty()) return;
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

bool Console::first_to_say(const std::string& text, const ContentId& content) {
  constexpr std::size_t kTextsMax = 1000;  // then older ones may be said again
  if (said_by_.size() == kTextsMax && !said_by_.contains(text)) said_by_.clear();
  return said_by_.try_emplace(text, content).first->second == content;
}

}  // namespace firn::app
