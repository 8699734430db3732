// firn play LINK|X.firn|CONTENT: play what comes, while it comes.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "client/app/commands/asking.h"
#include "client/app/commands/commands.h"
#include "client/app/commands/options/content_source.h"
#include "client/app/commands/options/download_options.h"
#include "client/app/commands/options/options.h"
#include "client/app/commands/options/publishing_options.h"
#include "client/app/commands/transfer/find_manifest.h"
#include "client/app/commands/transfer/planning.h"
#include "client/app/commands/transfer/playing.h"
#include "client/app/commands/transfer/running.h"
#include "client/app/stream/stream_server.h"
#include "proto/program/usage.h"

namespace firn::app {
namespace {

struct PlayArguments : AskOptions {
  std::string source;
  std::string dir = ".";
  content::FileChoice files;
  std::string with;
  std::string publisher;
  std::string kernels;
  CodecOptions codec;
  NetworkOptions network;
};

// What is fetched unless the user says: of several files those that a player takes.
content::FileChoice choice_to_play(const Info& info, const content::FileChoice& said) {
  if (!said.empty() || info.single_file) return said;
  std::vector<std::size_t> played = played_files(info, [](std::size_t) { return true; });
  std::ranges::sort(played);
  std::string numbers;
  for (std::size_t i = 0; i < played.size();) {
    std::size_t end = i + 1;
    while (end < played.size() && played[end] == played[end - 1] + 1) ++end;
    fmt::format_to(std::back_inserter(numbers), "{}{}", numbers.empty() ? "" : ",", played[i] + 1);
    if (end > i + 1) fmt::format_to(std::back_inserter(numbers), "-{}", played[end - 1] + 1);
    i = end;
  }
  content::FileChoice choice;
  // Of more files than a rule has room for all are fetched.
  (void)choice.add({content::FileRule::Kind::kSelect, numbers});
  return choice;
}

Result<SessionPlan> plan_to_play(const PlayArguments& arguments, ContentSource source) {
  auto files = choice_to_play(source.manifest->info, arguments.files);
  auto plan =
      session_plan(std::move(source), arguments.network, arguments.publisher, arguments.dir);
  if (!plan.ok()) return plan;
  plan->mode = SessionPlan::Mode::kDownload;
  plan->files = std::move(files);
  plan->core.seeding = {.kind = core::SeedPolicy::Kind::kForever};  // until the player ends
  return plan;
}

Playing what_plays(const StreamServer& server, const ReadingList& contents, const ContentId& id,
                   const ContentReading& reading, const Info& info) {
  const StreamAddress at{server.url(), id, contents.token(id)};
  const auto files = played_files(info, [&](std::size_t i) { return reading.chosen(i); });
  return {entries_of(info, files, at), at.playlist()};
}

ExitCode play_link(const PlayArguments& arguments, ContentSource source, Console& console) {
  if (const Status usable = use_kernels(arguments.kernels); !usable.ok())
    return fail(console, usable.error());
  ExitCode code = find_manifest(arguments.network, source, console);
  if (code != ExitCode::kOk) return code;
  const auto options = driver_options(arguments.network, arguments.codec, 1);
  if (!options.ok()) return fail(console, options.error());
  auto plan = plan_to_play(arguments, std::move(source));
  if (!plan.ok()) return fail(console, plan.error());
  const auto driver = start_driver(*options, console, code);
  if (!driver) return code;
  const ReadingList& contents = driver->readings();
  const auto server = open_stream_server("localhost:0", contents, console);
  if (!server.ok()) return fail(console, server.error());
  const ContentSession& session = driver->add(*std::move(plan));
  const ContentId id = session.plan().content_id;
  Player player(driver->loop(), console, arguments.with);
  bool begun = false;
  driver->on_turn([&](core::TimeUs) {
    const auto reading = begun ? nullptr : contents.find(id);
    const auto manifest = reading ? reading->manifest() : nullptr;
    if (manifest == nullptr) return core::kNever;
    begun = true;
    const Playing playing = what_plays(**server, contents, id, *reading, manifest->info);
    if (const Status began = player.begin(playing, [&] { driver->stop(); }); !began.ok()) {
      code = fail(console, began.error());
      driver->stop();
    }
    return core::kNever;
  });
  const ExitCode ran = driver->run();
  if (begun)
    console.info(session.complete()
                     ? session.plan().name() + " is complete in " + arguments.dir
                     : "not all of " + session.plan().name() +
                           " has come: the same command goes on where it stopped, as "
                           "does firn get with the same files");
  if (code != ExitCode::kOk) return code;
  const bool stopped = ran == ExitCode::kOk || ran == ExitCode::kInterrupted;
  return stopped && player.has_ended() ? player.code() : ran;
}

// Of a content that the daemon has.
ExitCode play_told(const PlayArguments& arguments, const Json& told, Console& console) {
  if (!arguments.files.empty())
    return fail(console, {ErrorCode::kBadInput, "play " + arguments.source,
                          "it is a content of the daemon: `firn files " + arguments.source +
                              "` with --file, --skip or --select-file chooses its files"});
  Playing playing{{}, cell(told, "playlist")};
  for (const Json& file : told.value("files", Json::array()))
    if (file.value("played", false))
      playing.entries.push_back({cell(file, "path"), cell(file, "url")});
  // The server's own playlist has all of them.
  if (told.value("left_out", 0) > 0)
    playing.entries = {{cell(told, "name"), cell(told, "playlist")}};
  EventLoop loop;
  loop.on_turn([] {});
  loop.on_signal([&loop](int) { loop.stop(); });
  Player player(loop, console, arguments.with);
  if (const Status began = player.begin(playing, [&loop] { loop.stop(); }); !began.ok())
    return fail(console, began.error());
  if (arguments.with.empty()) return ExitCode::kOk;
  loop.run();
  return player.has_ended() ? player.code() : ExitCode::kInterrupted;
}

ExitCode run(const PlayArguments& arguments, Console& console) {
  if (arguments.dir == "-")
    return fail(console,
                {ErrorCode::kBadInput, "play -o -",
                 "a player gets no standard output; `firn get LINK -o -` writes a file there"});
  // A name may be the text of a link that lacks its "firn:".
  auto source = read_source(arguments.source, arguments.dir);
  std::error_code ignored;
  const auto there = std::filesystem::status(arguments.source, ignored);
  if (!arguments.source.starts_with("firn:") &&
      (!std::filesystem::exists(there) || std::filesystem::is_directory(there))) {
    const auto told = ask(arguments, "play", {{"content", arguments.source}});
    if (told.ok()) return play_told(arguments, *told, console);
    const bool unknown =
        told.error().code == ErrorCode::kNotFound || told.error().code == ErrorCode::kUnreachable;
    if (!unknown || !source.ok()) return fail(console, told.error());
  }
  if (!source.ok()) return fail(console, source.error());
  return play_link(arguments, *std::move(source), console);
}

}  // namespace

void add_play_command(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<PlayArguments>();
  CLI::App* command = app.add_subcommand(
      "play", "download, and give a player the files while they come; also of the daemon");
  command
      ->add_option("SOURCE", arguments->source,
                   "link, X.link file that holds one, manifest file, or the id or name of one of "
                   "the daemon's contents")
      ->option_text("LINK|X.firn|CONTENT")
      ->required()
      ->check(not_empty());
  command
      ->add_option("--with", arguments->with,
                   "player to start, a shell command such as 'mpv --fs': the name of a playlist "
                   "is put behind it; default: print the URL, and serve until interrupted (of "
                   "the daemon's contents: the daemon serves)")
      ->option_text("COMMAND")
      ->check(not_empty());
  command
      ->add_option("-o,--output", arguments->dir,
                   "folder to put the content into (default: the current folder)")
      ->option_text("DIR")
      ->configurable(false)
      ->check(not_empty());
  add_choice_options(*command, arguments->files);
  add_publisher_option(*command, arguments->publisher);
  add_codec_options(*command, arguments->codec);
  add_kernels_option(*command, arguments->kernels);
  add_network_options(*command, arguments->network);
  add_asking_options(*command, *arguments);
  on_command(*command, arguments, chosen, run);
}

}  // namespace firn::app
