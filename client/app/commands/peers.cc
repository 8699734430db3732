// firn peers CONTENT: the peers of one of the daemon's contents.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/app/commands/asking.h"
#include "client/app/commands/commands.h"
#include "client/app/commands/transfer/running.h"
#include "client/app/console/json_members.h"
#include "client/app/console/quantities.h"
#include "client/app/session/peer_table.h"

namespace firn::app {
namespace {

struct PeersArguments : AskOptions {
  std::string content;
};

constexpr const char* kPeersRow =
    "{:<9} {:<24} {:>7} {:>10} {:>10} {:>5} {:>12} {:>12}  {:<10} {:<16} {:<16} {}";

std::string bytes_of(const Json& peer, const char* name) {
  return format_bytes(static_cast<std::uint64_t>(number_of(peer, name)));
}

std::string row_of(const Json& peer) {
  const bool measured = cell(peer, "innovation") != "-";
  return fmt::format(kPeersRow, cell(peer, "peer").substr(0, 8), cell(peer, "endpoint"),
                     fmt::format("{:.1f}%", 100 * number_of(peer, "held")),
                     bytes_of(peer, "bytes_received"), bytes_of(peer, "bytes_sent"),
                     measured ? fmt::format("{:.0f}%", 100 * number_of(peer, "innovation")) : "-",
                     format_rate(number_of(peer, "down_rate")),
                     format_rate(number_of(peer, "up_rate")), cell(peer, "state"),
                     why_not_words(cell(peer, "not_sent")),
                     why_not_words(cell(peer, "not_received")), cell(peer, "agent"));
}

std::string ban_row(const Json& ban) {
  return fmt::format("{:<9} {:<24} banned for {}: {}", cell(ban, "peer").substr(0, 8),
                     cell(ban, "ip"), format_seconds(number_of(ban, "seconds_left")),
                     cell(ban, "why"));
}

ExitCode run(const PeersArguments& arguments, Console& console) {
  const auto answer = ask(arguments, "peers", {{"content", arguments.content}});
  if (!answer.ok()) return fail(console, answer.error());
  tell_about("peers", *answer, console);
  if (console.json()) return ExitCode::kOk;
  std::vector<std::string> rows = {fmt::format(kPeersRow, "peer", "address", "holds", "gave",
                                               "took", "new", "down", "up", "state", "none to it",
                                               "none from it", "agent")};
  const auto add = [&](const char* name, std::string (*row)(const Json&)) {
    if (const auto list = answer->find(name); list != answer->end())
      for (const Json& one : *list) rows.push_back(row(one));
  };
  add("peers", row_of);
  add("bans", ban_row);
  console.print(rows);
  return ExitCode::kOk;
}

}  // namespace

void add_peers_command(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<PeersArguments>();
  CLI::App* command =
      app.add_subcommand("peers", "list the peers of one of the daemon's contents, and the banned");
  add_content_option(*command, arguments->content)->required();
  add_asking_options(*command, *arguments);
  on_command(*command, arguments, chosen, run);
}

}  // namespace firn::app
