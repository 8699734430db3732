// firn medium read MEDIUM DIR
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "client/app/commands/medium/medium.h"
#include "client/app/commands/medium/medium_words.h"
#include "client/app/commands/options/content_source.h"
#include "client/app/commands/options/download_options.h"
#include "client/app/commands/options/medium_options.h"
#include "client/app/commands/transfer/stop_request.h"
#include "client/app/medium/medium_journal.h"
#include "client/app/medium/restoring.h"
#include "client/app/session/store_advice.h"
#include "client/content/entries_text.h"
#include "proto/content/link.h"
#include "proto/program/usage.h"

namespace firn::app {
namespace {

constexpr const char* kGoesOn = "what was read is kept, and the same command goes on";

// One reading, in steps; each says what failed.
class MediumReader {
 public:
  MediumReader(const MediumReadRequest& request, Console& console)
      : request_(request), console_(console) {}

  MediumRead run() {
    read_.code = steps();
    return std::move(read_);
  }

 private:
  ExitCode steps() {
    MediumSource source{request_.input, request_.dir, {}, request_.rates};
    if (!request_.expected.empty()) {
      const auto expected = read_source(request_.expected);
      if (!expected.ok()) return fail(console_, expected.error());
      source.expected = expected->content_id;
    }
    options_ = {request_.threads, show_progress(console_), StopRequest::poll()};
    bool keeps = false;
    const MediumEvents events{misfit_warning(request_.input, request_.rates.has_value(), console_),
                              [&keeps] { keeps = true; }};
    auto journal = read_medium_journal(source, options_, events);
    if (!journal.ok())
      return fail_or_stop(console_, journal.error(), keeps ? kGoesOn : "nothing was read");
    read_.label = journal->label();
    std::vector<MediumJournal> media;
    media.push_back(*std::move(journal));
    if (const Status added = add_earlier_journals(request_.dir, media); !added.ok())
      return fail(console_, added.error());
    return restore(media);
  }

  // The first of the media is the one that is read.
  ExitCode restore(std::span<const MediumJournal> media) {
    auto manifest = restore_manifest(media);
    if (!manifest.ok()) return fail(console_, manifest.error());
    read_.manifest = *std::move(manifest);
    RestoringOptions options;
    options.as = request_.as;
    options.overwrite = request_.overwrite;
    options.cancelled = StopRequest::poll();
    options.progress = [this](std::uint64_t done, std::uint64_t total) {
      if (options_.progress) options_.progress("decoding", done, total);
    };
    if (options.overwrite)
      console_.info(what_may_change(request_.dir,
                                    content::top_name(read_.manifest->info, request_.as), false),
                    read_.manifest->id);
    const auto restored = restore_content(*read_.manifest, media, request_.dir, options);
    if (!restored.ok()) return fail_or_stop(console_, restored.error(), kGoesOn);
    console_.clear_progress();
    report(media.first(1), *restored);
    return restored->complete ? ExitCode::kOk : ExitCode::kVerifyFailed;
  }

  void report(std::span<const MediumJournal> media, const Restored& restored) {
    const Manifest& manifest = *read_.manifest;
    console_.event(medium_read_event(manifest.id, media, restored));
    warn_of_false_rows(restored, manifest.id, console_);
    const std::string losses = losses_text(media);
    if (restored.complete) {
      console_.info(fmt::format("{}: {}, all as the manifest says; {}", manifest.info.name,
                                content::entries_text(manifest.info.files), losses),
                    manifest.id);
      return;
    }
    // The link of a private content has a secret, which its manifest does not tell.
    const std::string link =
        manifest.info.is_private ? "with its whole link" : to_text(Link{manifest.id, {}, {}, {}});
    console_.error(
        "corrupt",
        fmt::format("{}: {} of {} generations cannot be decoded, {} rows are missing; {}. What "
                    "was read is kept: another medium of this content, read into the same folder, "
                    "or firn get -o {}{} {} completes it",
                    manifest.info.name, restored.generations - restored.whole(),
                    restored.generations, restored.rows_missing, losses, request_.dir,
                    content::as_option(request_.as), link),
        manifest.id);
  }

  const MediumReadRequest& request_;
  Console& console_;
  ReadingOptions options_;
  MediumRead read_;
};

struct MediumReadArguments {
  MediumReadRequest request;
  RatesOptions rates;
  ConsoleOptions console;
};

ExitCode run(const MediumReadArguments& arguments, Console& console) {
  MediumReadRequest request = arguments.request;
  const auto rates = rates_of(arguments.rates);
  if (!rates.ok()) return fail(console, rates.error());
  request.rates = *rates;
  return read_medium(request, console).code;
}

}  // namespace

MediumRead read_medium(const MediumReadRequest& request, Console& console) {
  const StopRequest stop;
  return MediumReader(request, console).run();
}

void add_medium_read(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<MediumReadArguments>();
  arguments->request.threads = default_worker_count();
  CLI::App* command = app.add_subcommand("read", "get a content back from a medium");
  command->add_option("MEDIUM", arguments->request.input, "medium file")
      ->required()
      ->check(not_empty());
  command->add_option("DIR", arguments->request.dir, "folder for the content")
      ->required()
      ->check(not_empty());
  command->add_option("--expect", arguments->request.expected, "refuse a medium of another content")
      ->option_text("LINK|X.firn")
      ->configurable(false);
  add_as_option(*command, arguments->request.as, "name for the content in DIR, instead of its own");
  add_rates_options(*command, arguments->rates);
  command->add_flag("--overwrite", arguments->request.overwrite,
                    "replace files that are in the way");
  command->add_option("--threads", arguments->request.threads, "default: a thread for each core")
      ->check(between(1, 1024));
  add_console_options(*command, arguments->console);
  on_command(*command, arguments, chosen, run);
}

}  // namespace firn::app
