// firn daemon: one process that holds all contents, and takes commands on a Unix socket.
#include <nlohmann/json.hpp>

#include "client/app/commands/commands.h"
#include "client/app/commands/daemon_plans.h"
#include "client/app/commands/options.h"
#include "client/app/commands/own_addresses.h"
#include "client/app/commands/publishing_options.h"
#include "client/app/commands/running.h"
#include "client/app/daemon/content_list.h"
#include "client/app/daemon/control_socket.h"
#include "client/app/daemon/data_folder.h"
#include "client/app/page/page_server.h"
#include "proto/program/usage.h"

namespace firn::app {
namespace {

// How many contents --memory is shared out for. More may be active: those that wait or serve use
// little of their share.
constexpr std::size_t kMemoryShares = 8;

struct DaemonArguments {
  std::string socket;
  std::string data;
  SigningOptions signing;
  PageOptions page;
  std::string kernels;
  CodecOptions codec;
  NetworkOptions network;
  ConsoleOptions console;
};

void say_start(const PeerDriver& driver, const std::string& socket, const std::string& data,
               std::size_t contents, Console& console) {
  console.event({{"event", "daemon"},
                 {"socket", socket},
                 {"data", data},
                 {"listen", to_text(driver.listening())},
                 {"contents", contents}});
  console.info(std::to_string(contents) + (contents == 1 ? " content" : " contents") +
               ", peers at " + to_text(driver.listening()) + ", commands at " + socket);
}

// Null where none is asked for.
Result<std::unique_ptr<PageServer>> open_page(const DaemonArguments& arguments,
                                              const std::string& data, PeerDriver& driver,
                                              DaemonMethods& methods, Console& console) {
  if (arguments.page.listen.empty()) return std::unique_ptr<PageServer>();
  PageOptions options = arguments.page;
  options.folder = data;
  if (options.token_file.empty()) options.token_file = data + "/http-token";
  return open_page_server(options, driver, &methods, console);
}

ExitCode run(const DaemonArguments& arguments, Console& console) {
  if (const Status usable = use_kernels(arguments.kernels); !usable.ok())
    return fail(console, usable.error());
  auto options = driver_options(arguments.network, arguments.codec, kMemoryShares);
  if (!options.ok()) return fail(console, options.error());
  options->stays = true;
  const std::string data = arguments.data.empty() ? DataFolder::default_path() : arguments.data;
  const auto folder = DataFolder::take(data);
  if (!folder.ok()) return fail(console, folder.error());
  const auto store = ContentsStore::open(data + "/contents.sqlite");
  if (!store.ok()) return fail(console, store.error());
  const auto signer = Signer::for_serving(arguments.signing);
  if (!signer.ok()) return fail(console, signer.error());
  ExitCode code = ExitCode::kOk;
  const auto driver = start_driver(*options, console, code);
  if (!driver) return code;
  const auto list = ContentList::restore(
      {*driver, **store, console,
       [&](const KeptContent& kept) {
         return plan_kept(arguments.network, kept, *signer, driver->id(), console);
       },
       [&](bool with_tracker) {
         return link_addresses(arguments.network, driver->listening(), with_tracker);
       }},
      read_added);
  if (!list.ok()) return fail(console, list.error());
  const std::string path =
      arguments.socket.empty() ? DataFolder::default_socket(data) : arguments.socket;
  const auto socket = ControlSocket::open(
      driver->loop(), path, [&](std::string_view line) { return answer_rpc(line, **list); });
  if (!socket.ok()) return fail(console, socket.error());
  const auto page = open_page(arguments, data, *driver, **list, console);
  if (!page.ok()) {
    const ExitCode failed = fail(console, page.error());
    return page.error().code == ErrorCode::kExists ? ExitCode::kPortInUse : failed;
  }
  say_start(*driver, path, data, (*list)->size(), console);
  driver->on_turn([&](core::TimeUs) { return (*list)->turn(); });
  // A content's failure does not change the exit code; `list` shows it.
  (void)driver->run();
  return ExitCode::kOk;
}

}  // namespace

void add_daemon_command(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<DaemonArguments>();
  CLI::App* command = app.add_subcommand(
      "daemon", "hold all contents that add gives it, across restarts, until it is stopped");
  command
      ->add_option("--socket", arguments->socket,
                   "where it takes commands (default: $XDG_RUNTIME_DIR/firn.sock, else firn.sock "
                   "in its data folder)")
      ->option_text("PATH")
      ->check(not_empty());
  command
      ->add_option("--data", arguments->data,
                   "folder that keeps its list of contents (default: $XDG_STATE_HOME/firn, else "
                   "~/.local/state/firn)")
      ->option_text("DIR")
      ->check(not_empty());
  add_sign_option(*command, arguments->signing);
  command
      ->add_option("--http", arguments->page.listen,
                   "serve the page and JSON-RPC over HTTP there, with a token: localhost:8080")
      ->option_text("HOST:PORT")
      ->check(not_empty());
  command
      ->add_option("--token-file", arguments->page.token_file,
                   "file with the token for HTTP, made if missing (default: http-token in the data "
                   "folder)")
      ->option_text("FILE")
      ->check(not_empty());
  add_codec_options(*command, arguments->codec);
  add_kernels_option(*command, arguments->kernels);
  add_network_options(*command, arguments->network);
  add_console_options(*command, arguments->console);
  on_command(*command, arguments, chosen, run);
}

}  // namespace firn::app
