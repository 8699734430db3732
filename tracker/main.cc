// firn-tracker: data folder, log, signals. Its options are in app/settings.h; what it serves, in
// server.h.
#include <signal.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "proto/base/address.h"
#include "proto/base/plain_text.h"
#include "proto/program/configuration.h"
#include "proto/program/hangup.h"
#include "proto/program/log_sink.h"
#include "proto/program/needless_signals.h"
#include "proto/program/process_words.h"
#include "proto/program/service_notice.h"
#include "proto/program/standard_streams.h"
#include "proto/program/usage.h"
#include "proto/program/user_folders.h"
#include "proto/transport/descriptors.h"
#include "proto/transport/identity.h"
#include "proto/transport/name_question.h"
#include "tracker/app/reload.h"
#include "tracker/app/settings.h"
#include "tracker/app/sharing.h"
#include "tracker/app/status_door.h"
#include "tracker/registry_sqlite.h"
#include "tracker/server.h"

namespace firn::tracker {
namespace {

enum ExitCode { kOk = 0, kInternalError = 1, kUsage = 2, kPortInUse = 3, kDisk = 4 };

int fail(ExitCode code, const std::string& message) {
  std::cerr << "firn-tracker: " << escaped_lines(message) << std::endl;
  return code;
}

// The signals that the program acts on; every thread has them blocked, so that wait() alone sees
// them.
class Signals {
 public:
  Signals() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    if (hangup() != Hangup::kIgnored) sigaddset(&signals_, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }
  int wait() const {
    int number = 0;
    while (sigwait(&signals_, &number) != 0) {
    }
    return number;
  }
  // The same, but for this time at most: 0 then.
  int wait_for(int seconds) const {
    const timespec most{seconds, 0};
    const int number = sigtimedwait(&signals_, nullptr, &most);
    return number > 0 ? number : 0;
  }

 private:
  sigset_t signals_;
};

struct Log {
  std::shared_ptr<LogSink> file;  // none: standard error
  std::shared_ptr<spdlog::logger> logger;

  // Where log and output both go to one terminal or journal, the latter says where it listens.
  void begin(const std::vector<std::string>& listening, const std::string& data) const {
    for (const std::string& one : file ? listening : std::vector<std::string>())
      logger->info("listening on {}", one);
    logger->info("data in {}", escaped(data));
  }

  // Begins the file anew under its name, as after another program moved it away.
  void reopen() const {
    if (!file) return logger->info("SIGHUP: there is no --log to be opened anew");
    const Status opened = file->reopen();
    if (opened) return logger->info("SIGHUP: the log is opened anew");
    logger->warn("SIGHUP: {}; the log goes on where it was", opened.error().message());
  }
};

Result<Log> open_log(const Settings& settings) {
  Log log;
  spdlog::sink_ptr sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  if (!settings.log_file.empty()) {
    auto file = LogFile::open(settings.log_file);
    if (!file) return file.error();
    sink = log.file = std::make_shared<LogSink>(std::move(file).value());
  }
  log.logger = std::make_shared<spdlog::logger>("firn-tracker", sink);
  log.logger->set_level(spdlog::level::from_str(settings.log_level));
  log.logger->flush_on(spdlog::level::info);
  return log;
}

// Peers can be served all the same where the service manager does not listen.
void tell_manager(const char* state, spdlog::logger& logger) {
  if (const Status told = tell_service_manager(state); !told)
    logger.warn("{}", escaped_lines(told.error().message()));
}

std::uint64_t random_seed() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

ServerOptions server_options(const Settings& settings, ServedLists lists,
                             std::vector<AddressRange> proxies,
                             const std::shared_ptr<spdlog::logger>& logger) {
  ServerOptions options;
  options.transport.proxies = std::move(proxies);
  static_cast<CoreRules&>(options.core) = core_rules(settings, std::move(lists));
  options.seed = random_seed();
  options.transport.connection_count_max = settings.connections;
  options.transport.proven_give_way = true;  // a peer calls again for its next announce
  options.transport.idle_timeout = idle_timeout(settings);
  options.log_requests = logger->should_log(spdlog::level::debug);
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

// Null: none is wanted.
Result<std::unique_ptr<StatusDoor>> open_page(const Settings& settings, Server& server,
                                              const std::shared_ptr<spdlog::logger>& logger) {
  if (settings.status.empty()) return std::unique_ptr<StatusDoor>();
  StatusDoorOptions options;
  options.listen = settings.status;
  options.token_file =
      settings.token_file.empty() ? settings.data + "/http-token" : settings.token_file;
  options.log = [logger](LogLevel, const std::string& text) {
    logger->warn("{}", escaped_lines(text));
  };
  auto door = open_status_door(options, server);
  if (door.ok()) logger->info("page: {}, token in {}", (*door)->url(), escaped(options.token_file));
  return door;
}

int page_failure(const Error& error) {
  if (error.code == ErrorCode::kExists) return fail(kPortInUse, "--status: " + error.message());
  return fail(error.code == ErrorCode::kBadInput ? kUsage : kDisk, "--status: " + error.message());
}

// --help or --version. That the reader of a pipe has gone is no news.
int print(const CLI::App& app, const CLI::ParseError& asked) {
  std::ostringstream text;
  app.exit(asked, text);
  std::fputs(text.str().c_str(), stdout);
  const Status told = flush_stdout();
  if (told) return kOk;
  return told.error().code == ErrorCode::kCancelled ? kDisk : fail(kDisk, told.error().message());
}

// Of an option, or of a file that one names.
int option_failure(const Error& error) {
  return fail(error.code == ErrorCode::kBadInput ? kUsage : kDisk, error.message());
}

// Errors: kBadInput (the system allows fewer).
Status make_room_for(std::size_t connections) {
  if (connections <= Settings().connections) return Done{};
  return proto::transport::make_room_for_connections(
      connections, "--connections " + std::to_string(connections));
}

// The program's options as its command line and its configuration give them.
struct Program {
  int argc = 0;
  const char* const* argv = nullptr;
  Settings settings = {};
  Reload in_force = Reload({});
};

// Errors: as read_settings; kBadInput (options that do not go together).
Status read_again(const Program& program, CommandLine& fresh) {
  Configuration ignored;
  const CommandWords words(fresh.app, program.argc, program.argv);
  const auto given = read_settings(fresh.app, words, kConfigNames, ignored);
  if (!given) return given.error();
  try {
    fresh.parse(words, *given);
  } catch (const CLI::ParseError& error) {
    return Error{ErrorCode::kBadInput, "read the configuration", error.what()};
  }
  return Done{};
}

// SIGHUP: configuration and lists again. A fault in one of them leaves all as it was.
void reload(Program& program, Server& server, spdlog::logger& logger) {
  const auto refuse = [&logger](const Error& error) {
    logger.warn("SIGHUP: {}; nothing is changed", escaped_lines(error.message()));
  };
  CommandLine fresh;
  if (const Status read = read_again(program, fresh); !read) return refuse(read.error());
  fresh.settings.limits = program.settings.limits;  // changes with the next start alone
  auto lists = served_lists(fresh.settings);
  if (!lists) return refuse(lists.error());
  std::vector<std::string> told;
  if (lists->publishers)
    told.push_back(fmt::format("{} publishers listed", lists->publishers->size()));
  if (lists->contents) told.push_back(fmt::format("{} contents listed", lists->contents->size()));
  told.push_back(text_of(program.in_force.take(values_of(fresh.app))));
  program.settings.drain_seconds = fresh.settings.drain_seconds;
  const auto level = spdlog::level::from_str(fresh.settings.log_level);
  server.change({core_rules(fresh.settings, *std::move(lists)), level <= spdlog::level::debug});
  for (const std::string& line : told) logger.info("SIGHUP: {}", line);  // it is in force
  logger.set_level(level);
}

Time steady_now() {
  return std::chrono::duration_cast<Time>(std::chrono::steady_clock::now().time_since_epoch());
}

// One for each I/O thread.
Result<Registries> open_registries(const Settings& settings, const std::filesystem::path& data,
                                   Sharing& sharing) {
  RegistryLimits limits = settings.limits;
  limits.manifest_bytes_total_max = settings.manifests_mib << 20;
  const Time now = steady_now();
  auto opened = SqliteRegistry::open_shards((data / "tracker.sqlite").string(), now, limits,
                                            settings.io_threads, random_seed());
  if (!opened) return opened.error();
  Registries below;
  for (auto& registry : *opened) below.push_back(std::move(registry));
  return sharing.wrap(std::move(below), now);
}

// After a signal: drains until the time is over, or another one comes. `page`: null where there is
// none.
void wind_up(int number, const Settings& settings, const Signals& signals, Server& server,
             StatusDoor* page, spdlog::logger& logger) {
  tell_manager("STOPPING=1", logger);
  if (settings.drain_seconds > 0) {
    logger.info("draining for {} s: {}", settings.drain_seconds, strsignal(number));
    server.drain();
    if (page != nullptr) page->drain();
    (void)signals.wait_for(settings.drain_seconds);
  }
  logger.info("stopping: {}", strsignal(number));
}

// The addresses that it got, as texts. Errors: as Server::listen.
Result<std::vector<std::string>> listen_at(const std::vector<Address>& where, Server& server) {
  std::vector<std::string> texts;
  for (const Address& one : where) {
    const auto bound = server.listen(one);
    if (!bound) return bound.error();
    texts.push_back(to_text(*bound));
  }
  return texts;
}

std::vector<Registry*> shards_of(const Registries& registries) {
  std::vector<Registry*> shards;
  for (const auto& registry : registries) shards.push_back(registry.get());
  return shards;
}

Status begin_sharing(Sharing& sharing, const std::shared_ptr<spdlog::logger>& logger) {
  return sharing.begin(steady_now, [logger](bool is_trouble, const std::string& text) {
    logger->log(is_trouble ? spdlog::level::warn : spdlog::level::info, "{}", escaped_lines(text));
  });
}

int run(Program& program) {
  const Settings& settings = program.settings;
  const auto where = addresses_of(settings);
  if (!where) return fail(kUsage, "--listen: " + where.error().message());
  const auto proxies = proxies_of(settings);
  if (!proxies) return fail(kUsage, "--proxy-protocol: " + proxies.error().message());

  auto lists = served_lists(settings);
  if (!lists) return option_failure(lists.error());
  const std::filesystem::path data = settings.data;
  if (const Status made = make_private_folder(settings.data); !made)
    return fail(kDisk, made.error().message());

  const auto identity = proto::transport::Identity::load_or_create(
      settings.identity.empty() ? (data / "identity.pem").string() : settings.identity);
  if (!identity) return fail(kDisk, identity.error().message());

  if (const Status room = make_room_for(settings.connections); !room)
    return fail(kUsage, room.error().message());

  auto sharing = Sharing::of(settings);
  if (!sharing) return option_failure(sharing.error());
  const auto registries = open_registries(settings, data, *sharing);
  if (!registries) return fail(kDisk, registries.error().message());
  // After key and database, so that their names are taken. A FIFO waits here for its reader, and a
  // signal ends that.
  const auto log = open_log(settings);
  if (!log) return fail(kDisk, log.error().message());
  spdlog::logger& logger = *log->logger;
  const Signals signals;  // before any thread starts

  const auto server =
      Server::start(*identity, shards_of(*registries),
                    server_options(settings, *std::move(lists), *proxies, log->logger));
  if (!server) return fail(kInternalError, server.error().message());
  const auto listening = listen_at(*where, **server);
  if (!listening)
    return fail(listening.error().code == ErrorCode::kExists ? kPortInUse : kUsage,
                listening.error().message());
  if (const Status shares = begin_sharing(*sharing, log->logger); !shares)
    return fail(kInternalError, shares.error().message());
  const auto page = open_page(settings, **server, log->logger);
  if (!page) return page_failure(page.error());
  for (const std::string& one : *listening) std::printf("listening on %s\n", one.c_str());
  // Without that line no peer can be told where the tracker listens.
  if (const Status told = flush_stdout(); !told) return fail(kDisk, told.error().message());
  log->begin(*listening, settings.data);
  tell_manager("READY=1", logger);

  int number = signals.wait();
  for (; number == SIGHUP && hangup() == Hangup::kReopens; number = signals.wait()) {
    log->reopen();
    reload(program, **server, logger);
  }
  if (number == SIGHUP) leave_closed_terminal();
  wind_up(number, settings, signals, **server, page->get(), logger);
  return kOk;
}

}  // namespace
}  // namespace firn::tracker

int main(int argc, char** argv) {
  firn::open_missing_streams();
  firn::keep_hangup_waiting();
  const char* const* const given_words = firn::take_process_words(argc, argv);
  firn::tracker::CommandLine command;
  firn::Configuration configuration;
  const firn::CommandWords words(command.app, argc, given_words);
  const auto given =
      firn::read_settings(command.app, words, firn::tracker::kConfigNames, configuration);
  if (!given)
    return firn::tracker::fail(given.error().code == firn::ErrorCode::kBadInput
                                   ? firn::tracker::kUsage
                                   : firn::tracker::kDisk,
                               given.error().message());
  for (const firn::ConfigSource& source : configuration.sources())
    if (!source.trouble.empty())
      std::cerr << "firn-tracker: warning: " << source.trouble << "; going on without it\n";
  try {
    command.parse(words, *given);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) {
      std::cerr << firn::usage_error(words, error) << std::endl;
      return firn::tracker::kUsage;
    }
    return firn::tracker::print(command.app, error);
  }
  firn::ignore_needless_signals();
  firn::proto::transport::raise_descriptor_limit();
  const firn::Status starts = firn::proto::transport::have_descriptors_to_start();
  if (!starts) return firn::tracker::fail(firn::tracker::kDisk, starts.error().message());
  firn::tracker::Program program{argc, given_words, command.settings,
                                 firn::tracker::Reload(firn::tracker::values_of(command.app))};
  return firn::proto::transport::end_process(firn::tracker::run(program));
}
