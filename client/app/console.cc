#include "client/app/console.h"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/null_sink.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <cstdio>

namespace firn::app {
namespace {

std::size_t terminal_columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace

Console::Console(const ConsoleOptions& options)
    : options_(options), terminal_(isatty(STDERR_FILENO) == 1) {}

Console::~Console() {
  clear_progress();
  for (const std::string& held : held_) std::fputs((held + "\n").c_str(), stdout);
}

Result<std::unique_ptr<Console>> Console::open(const ConsoleOptions& options) {
  std::unique_ptr<Console> console(new Console(options));
  if (options.log_file.empty()) {
    console->log_ =
        std::make_shared<spdlog::logger>("firn", std::make_shared<spdlog::sinks::null_sink_mt>());
    return console;
  }
  try {
    console->log_ = std::make_shared<spdlog::logger>(
        "firn", std::make_shared<spdlog::sinks::basic_file_sink_mt>(options.log_file));
  } catch (const spdlog::spdlog_ex& failure) {
    return Error{ErrorCode::kIo, "open the log file " + options.log_file, failure.what()};
  }
  console->log_->set_level(spdlog::level::debug);
  console->log_->flush_on(spdlog::level::info);
  return console;
}

void Console::print(const std::string& line) {
  clear_progress();
  std::fputs((line + "\n").c_str(), stdout);
  holding_ = false;
  for (const std::string& held : held_) std::fputs((held + "\n").c_str(), stdout);
  held_.clear();
  std::fflush(stdout);
}

void Console::event(const Json& event) {
  // Names of files need not be UTF-8 to the last byte; JSON must be.
  const std::string line = event.dump(-1, ' ', false, Json::error_handler_t::replace);
  log_->debug("{}", line);
  if (!options_.json) return;
  if (holding_) return held_.push_back(line);
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

void Console::debug(const std::string& text) {
  log_->debug("{}", text);
  if (options_.verbosity > 0 && !options_.quiet) say(text);
}

void Console::info(const std::string& text, const std::optional<ContentId>& content) {
  log_->info("{}", text);
  if (!options_.quiet) say(text);
  if (!options_.json) return;
  const Json plain = notice_event("info", text);
  event(content ? about(plain, *content) : plain);
}

void Console::warning(const std::string& text, const std::optional<ContentId>& content) {
  log_->warn("{}", text);
  if (!options_.quiet) say("warning: " + text);
  if (!options_.json) return;
  const Json plain = notice_event("warning", text);
  event(content ? about(plain, *content) : plain);
}

void Console::error(const Error& failure, const std::optional<ContentId>& content) {
  error(error_code_name(failure.code), failure.message(), content);
}

void Console::error(const std::string& code, const std::string& text,
                    const std::optional<ContentId>& content) {
  log_->error("{}", text);
  say("firn: " + text);
  const Json plain = error_event(code, text);
  event(content ? about(plain, *content) : plain);
}

void Console::progress(const ProgressFigures& figures) {
  if (shows_progress()) draw(progress_line(figures, terminal_columns() - 1));
}

void Console::progress(const std::string& what, std::uint64_t done, std::uint64_t total) {
  if (!shows_progress()) return;
  const double percent =
      total == 0 ? 100.0 : 100.0 * static_cast<double>(done) / static_cast<double>(total);
  draw(fmt::format("{} {:.1f}%", what, percent));
}

void Console::clear_progress() {
  if (!bar_.empty()) draw("");
}

void Console::say(const std::string& line) {
  const std::string bar = bar_;
  clear_progress();
  std::fputs((line + "\n").c_str(), stderr);
  if (!bar.empty()) draw(bar);
}

void Console::draw(std::string line) {
  std::fputs(("\r\x1b[K" + line).c_str(), stderr);
  std::fflush(stderr);
  bar_ = std::move(line);
}

}  // namespace firn::app
