// firn info LINK|X.firn: what a content is.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/app/commands/commands.h"
#include "client/app/commands/content_source.h"
#include "client/app/commands/options.h"
#include "client/app/commands/running.h"
#include "client/app/quantities.h"
#include "proto/limits.h"

namespace firn::app {
namespace {

// How long somebody named in a link has to answer with the manifest.
constexpr core::TimeUs kFetchTime = 10 * core::kSecond;

struct InfoArguments {
  std::string source;
  NetworkOptions network;
  ConsoleOptions console;
};

Json json_of(const ContentSource& source) {
  Json info = {{"event", "info"}, {"content_id", source.content_id.text()}};
  for (const char* kind : {"trackers", "peers"}) {
    Json addresses = Json::array();
    for (const Address& address : kind[0] == 't' ? source.trackers : source.peers)
      addresses.push_back(to_text(address));
    info[kind] = std::move(addresses);
  }
  info["manifest"] = source.manifest.has_value();
  if (!source.manifest) return info;
  const Info& about = source.manifest->info;
  info["name"] = about.name;
  info["single_file"] = about.single_file;
  info["bytes"] = about.shape.content_bytes;
  info["generations"] = about.shape.generation_count();
  info["generation_size"] = about.shape.generation_size;
  info["block_bytes"] = about.shape.block_bytes;
  Json files = Json::array();
  for (const FileEntry& file : about.files) {
    files.push_back({{"path", file.path},
                     {"bytes", file.bytes},
                     {"mode", fmt::format("{:04o}", file.mode)},
                     {"modified_ns", file.modified_ns},
                     {"directory", file.directory}});
  }
  info["files"] = std::move(files);
  return info;
}

void print_table(const ContentSource& source, Console& console) {
  const auto row = [&](const std::string& what, const std::string& text) {
    console.print(fmt::format("{:<12} {}", what, text));
  };
  row("content id", source.content_id.text());
  for (const Address& tracker : source.trackers) row("tracker", to_text(tracker));
  for (const Address& peer : source.peers) row("peer", to_text(peer));
  if (!source.manifest) return;
  const Info& info = source.manifest->info;
  const Shape& shape = info.shape;
  row("name", info.name);
  row("size", fmt::format("{} ({} bytes)", format_bytes(shape.content_bytes), shape.content_bytes));
  row("shape", fmt::format("{} generations of {} blocks of {}", shape.generation_count(),
                           shape.generation_size, format_bytes(shape.block_bytes)));
  row("manifest", format_bytes(source.manifest->file_bytes.size()));
  if (info.single_file) return;
  row("files", std::to_string(info.files.size()));
  for (const FileEntry& file : info.files)
    console.print(fmt::format("  {:>12}  {}{}", file.directory ? "-" : format_bytes(file.bytes),
                              file.path, file.directory ? "/" : ""));
}

// Asks the link's trackers and peers; the manifest if one of them had it in time.
Result<std::optional<Manifest>> fetch(const InfoArguments& arguments, const ContentSource& source,
                                      Console& console, ExitCode& code) {
  auto core = core_options(arguments.network, source.trackers, source.peers);
  if (!core.ok()) return core.error();
  auto options = driver_options(arguments.network, {.codec = "cpu"}, 1);
  if (!options.ok()) return options.error();
  if (core->trackers.empty() && core->peers.empty()) return std::optional<Manifest>();
  const auto driver = start_driver(*options, console, code);
  if (!driver) return std::optional<Manifest>();
  SessionPlan plan;
  plan.mode = SessionPlan::Mode::kManifestOnly;
  plan.content_id = source.content_id;
  plan.core = *std::move(core);
  ContentSession& session = driver->add(std::move(plan));
  core::TimeUs due = core::kNever;
  driver->on_turn([&](core::TimeUs now) {
    if (due == core::kNever) due = now + kFetchTime;
    if (now < due) return due;
    session.stop();
    return core::kNever;
  });
  code = driver->run();
  return session.manifest();
}

ExitCode run(const InfoArguments& arguments, Console& console) {
  auto source = read_source(arguments.source);
  if (!source.ok()) return fail(console, source.error());
  ExitCode code = ExitCode::kOk;
  const bool ask = !source->manifest;
  if (ask) {
    auto manifest = fetch(arguments, *source, console, code);
    if (!manifest.ok()) return fail(console, manifest.error());
    source->manifest = *std::move(manifest);
  }
  if (console.json()) {
    console.event(json_of(*source));
  } else {
    print_table(*source, console);
  }
  if (!ask || source->manifest) return ExitCode::kOk;
  if (code == ExitCode::kWrongIdentity || code == ExitCode::kPortInUse) return code;
  console.error("unreachable", "nobody named in the link answered with the manifest",
                source->content_id);
  return ExitCode::kNetwork;
}

}  // namespace

void add_info_command(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<InfoArguments>();
  CLI::App* command = app.add_subcommand("info", "show what a link or manifest file says");
  command->add_option("SOURCE", arguments->source, "link or manifest file")
      ->option_text("LINK|X.firn")
      ->required();
  add_network_options(*command, arguments->network);
  add_console_options(*command, arguments->console);
  command->callback([arguments, &chosen] {
    chosen = [arguments] {
      return with_console(arguments->console,
                          [&](Console& console) { return run(*arguments, console); });
    };
  });
}

}  // namespace firn::app
