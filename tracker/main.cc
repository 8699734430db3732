// firn-tracker: command line, data folder, log, signals. What it serves is in server.h.
#include <signal.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <random>
#include <string>

#include "proto/address.h"
#include "proto/transport/descriptors.h"
#include "proto/transport/identity.h"
#include "tracker/registry_sqlite.h"
#include "tracker/server.h"

namespace firn::tracker {
namespace {

enum ExitCode { kOk = 0, kInternalError = 1, kUsage = 2, kPortInUse = 3, kNoDataFolder = 4 };

constexpr const char* kFooter =
    "ADDR is HOST:PORT, IPv6 in brackets; an empty host or * listens on all addresses.\n"
    "The first line on standard output is `listening on ID@HOST:PORT`.\n\n"
    "Exit codes: 0 stopped by SIGINT or SIGTERM, 1 internal error, 2 wrong usage,\n"
    "3 port in use, 4 data folder not usable.";

struct Settings {
  std::string listen = "*:4711";
  std::string data;
  std::string identity;
  std::string log_file;
  std::uint32_t interval_seconds = 60;
  std::uint32_t peer_ttl_seconds = 0;  // 0: 2.5 intervals
  std::uint64_t manifests_mib = 1024;
  bool verbose = false;
};

int fail(ExitCode code, const std::string& message) {
  std::cerr << "firn-tracker: " << message << std::endl;
  return code;
}

// Stops with one of these signals; every thread has them blocked, so that wait() alone sees them.
class StopSignals {
 public:
  StopSignals() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }
  int wait() const {
    int number = 0;
    while (sigwait(&signals_, &number) != 0) {
    }
    return number;
  }

 private:
  sigset_t signals_;
};

Result<std::shared_ptr<spdlog::logger>> make_logger(const Settings& settings) {
  spdlog::sink_ptr sink;
  try {
    if (settings.log_file.empty()) {
      sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    } else {
      sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(settings.log_file);
    }
  } catch (const spdlog::spdlog_ex& error) {
    return Error{ErrorCode::kIo, "open the log " + settings.log_file, error.what()};
  }
  auto logger = std::make_shared<spdlog::logger>("firn-tracker", sink);
  logger->set_level(settings.verbose ? spdlog::level::debug : spdlog::level::info);
  logger->flush_on(spdlog::level::info);
  return logger;
}

ServerOptions server_options(const Settings& settings,
                             const std::shared_ptr<spdlog::logger>& logger) {
  ServerOptions options;
  options.core.interval = std::chrono::seconds(settings.interval_seconds);
  const double ttl =
      settings.peer_ttl_seconds != 0 ? settings.peer_ttl_seconds : 2.5 * settings.interval_seconds;
  options.core.peer_ttl = std::chrono::seconds(static_cast<std::int64_t>(std::ceil(ttl)));
  options.seed = std::random_device()();
  options.log = [logger](LogLevel level, const std::string& text) {
    switch (level) {
      case LogLevel::kDebug:
        return logger->debug("{}", text);
      case LogLevel::kInfo:
        return logger->info("{}", text);
      case LogLevel::kWarning:
        return logger->warn("{}", text);
    }
  };
  return options;
}

int run(const Settings& settings) {
  const StopSignals signals;  // before any thread starts

  const auto where = parse_address(settings.listen);
  if (!where) return fail(kUsage, "--listen: " + where.error().message());
  const auto logger = make_logger(settings);
  if (!logger) return fail(kUsage, logger.error().message());

  const std::filesystem::path data = settings.data;
  std::error_code made;
  std::filesystem::create_directories(data, made);
  if (made)
    return fail(kNoDataFolder, "create the folder " + settings.data + ": " + made.message());

  const bool own_identity = settings.identity.empty();
  const auto identity = proto::transport::Identity::load_or_create(
      own_identity ? (data / "identity.pem").string() : settings.identity);
  if (!identity) return fail(own_identity ? kNoDataFolder : kUsage, identity.error().message());

  RegistryLimits limits;
  limits.manifest_bytes_total_max = settings.manifests_mib << 20;
  const auto now =
      std::chrono::duration_cast<Time>(std::chrono::steady_clock::now().time_since_epoch());
  const auto registry = SqliteRegistry::open((data / "tracker.sqlite").string(), now, limits);
  if (!registry) return fail(kNoDataFolder, registry.error().message());

  const auto server = Server::start(*identity, **registry, server_options(settings, *logger));
  if (!server) return fail(kInternalError, server.error().message());
  const auto listening = (*server)->listen(*where);
  if (!listening) {
    const bool in_use = listening.error().code == ErrorCode::kExists;
    return fail(in_use ? kPortInUse : kUsage, listening.error().message());
  }
  std::cout << "listening on " << to_text(*listening) << std::endl;
  (*logger)->info("listening on {}, data in {}", to_text(*listening), settings.data);

  const int number = signals.wait();
  (*logger)->info("stopping: {}", strsignal(number));
  return kOk;
}

}  // namespace
}  // namespace firn::tracker

int main(int argc, char** argv) {
  firn::tracker::Settings settings;
  CLI::App app("Tells the peers of each content about one another, and hosts manifests.",
               "firn-tracker");
  app.footer(firn::tracker::kFooter);
  app.add_option("--listen", settings.listen, "where to accept connections")
      ->type_name("ADDR")
      ->capture_default_str();
  app.add_option("--data", settings.data, "folder for database and identity; made if missing")
      ->type_name("DIR")
      ->required();
  app.add_option("--identity", settings.identity,
                 "key that gives the tracker its ID (default: DIR/identity.pem; made if missing)")
      ->type_name("FILE");
  app.add_option("--interval", settings.interval_seconds, "seconds between announces of a peer")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
  app.add_option("--peer-ttl", settings.peer_ttl_seconds,
                 "seconds after which a silent peer is forgotten (default: 2.5 intervals)")
      ->check(CLI::Range(1, 864000));
  app.add_option("--manifests", settings.manifests_mib,
                 "MiB of manifests to host; those longest unused go first")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_flag("-v,--verbose", settings.verbose, "log more");
  app.add_option("--log", settings.log_file, "write the log to FILE instead of standard error")
      ->type_name("FILE");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? firn::tracker::kOk : firn::tracker::kUsage;
  }
  firn::proto::transport::raise_descriptor_limit();
  return firn::tracker::run(settings);
}
