#include "client/app/commands/transfer/running.h"

#include <chrono>
#include <cstdio>
#include <mutex>

#include "proto/program/log_file.h"
#include "proto/program/standard_streams.h"

namespace firn::app {

namespace {

Result<std::unique_ptr<Console>> open_console(const ConsoleOptions& options,
                                              const std::vector<std::string>& sources) {
  if (!options.log_file.empty())
    for (const std::string& source : sources) {
      const Status apart = OutputFile(options.log_file, kLogOfFirn).check_apart(source);
      if (!apart.ok()) return apart.error();
    }
  return Console::open(options);
}

}  // namespace

ExitCode with_console(const ConsoleOptions& options, const std::function<ExitCode(Console&)>& body,
                      const std::vector<std::string>& sources) {
  auto console = open_console(options, sources);
  if (console.ok()) {
    const ExitCode code = body(**console);
    (*console)->finish();
    return code == ExitCode::kOk && (*console)->output_failed() ? ExitCode::kDisk : code;
  }
  ConsoleOptions without_log = options;
  without_log.log_file.clear();
  return fail(**Console::open(without_log), console.error());
}

ExitCode print_alone(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  const Status told = flush_stdout();
  if (told.ok()) return ExitCode::kOk;
  if (told.error().code != ErrorCode::kCancelled)
    std::fprintf(stderr, "firn: %s\n", told.error().message().c_str());
  return ExitCode::kDisk;
}

Status check_output(const OutputFile& output, const std::string& source) {
  Status apart = output.check_apart(source);
  return apart.ok() ? output.check() : apart;
}

ShowProgress show_progress(Console& console) {
  if (!console.shows_progress()) return {};
  using Clock = std::chrono::steady_clock;
  auto last = std::make_shared<Clock::time_point>();
  auto mutex = std::make_shared<std::mutex>();
  return [&console, last, mutex](const char* what, std::uint64_t done, std::uint64_t total) {
    const std::lock_guard lock(*mutex);
    const auto now = Clock::now();
    if (now - *last < std::chrono::milliseconds(100)) return;
    *last = now;
    console.progress(what, done, total);
  };
}

std::function<void(std::uint64_t, std::uint64_t)> show_progress(Console& console,
                                                                const std::string& what) {
  ShowProgress show = show_progress(console);
  if (!show) return {};
  return [show = std::move(show), what](std::uint64_t done, std::uint64_t total) {
    show(what.c_str(), done, total);
  };
}

ExitCode fail(Console& console, const Error& error) {
  console.error(error);
  return exit_code_of(error);
}

std::unique_ptr<PeerDriver> start_driver(const DriverOptions& options, Console& console,
                                         ExitCode& code) {
  auto driver = PeerDriver::start(options, console);
  if (driver.ok()) return *std::move(driver);
  code = fail(console, driver.error());
  if (driver.error().code == ErrorCode::kExists) code = ExitCode::kPortInUse;
  return nullptr;
}

}  // namespace firn::app
