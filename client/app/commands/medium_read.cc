// firn medium read MEDIUM DIR
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/app/commands/content_source.h"
#include "client/app/commands/medium.h"
#include "client/app/commands/medium_options.h"
#include "client/app/commands/stop_request.h"
#include "client/app/medium/medium_reading.h"
#include "client/app/medium/restoring.h"
#include "client/content/entries_text.h"
#include "client/store/posix_files.h"
#include "client/store/work_folder.h"
#include "proto/content/link.h"
#include "proto/program/usage.h"

namespace firn::app {
namespace {

constexpr const char* kGoesOn = "what was read is kept, and the same command goes on";

// The files of a reading below the folder: all that begin with `prefix`.
std::string journal_prefix(const ContentId& content) {
  return "medium-" + content.short_text() + "-";
}

void remove_journals(store::Files& files, const ContentId& content) {
  const std::string folder = store::WorkFolder::kParent;
  const auto names = files.list(folder);
  if (names.ok())
    for (const std::string& name : *names)
      if (name.starts_with(journal_prefix(content))) (void)files.remove(folder + "/" + name);
  (void)files.remove_folder(folder);
}

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
    const auto input = MediumInput::open(request_.input);
    if (!input.ok()) return fail(console_, input.error());
    options_ = {request_.threads, show_progress(console_), StopRequest::poll()};
    MediumReading reading(**input, options_);
    if (const ExitCode code = find(reading); code != ExitCode::kOk) return code;
    auto files = store::open_posix_files(request_.dir, true);
    if (!files.ok()) return fail(console_, files.error());
    const std::string folder = store::WorkFolder::kParent;
    if (const Status made = (*files)->make_folders(folder); !made.ok())
      return fail(console_, made.error());
    const auto print = reading.fingerprint();
    if (!print.ok()) return fail(console_, print.error());
    const std::string name =
        folder + "/" + journal_prefix(read_.label->content) + print->short_text();
    const auto lock = (*files)->lock(name + ".lock");
    if (!lock.ok()) return fail(console_, lock.error());
    if (!*lock)
      return fail(console_, {ErrorCode::kExists, "read " + request_.input,
                             "another process reads it into " + request_.dir});
    auto journal = RowJournal::open(**files, name + ".rows", *print, read_.label->payload_bytes());
    if (!journal.ok()) return fail(console_, journal.error());
    if (const Status done = reading.read_groups(**journal); !done.ok())
      return fail_or_stop(console_, done.error(), kGoesOn);
    const ExitCode code = restore(**journal);
    if (code == ExitCode::kOk) remove_journals(**files, read_.label->content);
    return code;
  }

  // Label, rates and groups.
  ExitCode find(MediumReading& reading) {
    const auto labels = reading.find_label(false);
    if (!labels.ok()) return fail_or_stop(console_, labels.error(), "nothing was read");
    read_.label = labels->label;
    const medium::Label& label = *read_.label;
    if (!request_.expected.empty()) {
      const auto source = read_source(request_.expected);
      if (!source.ok()) return fail(console_, source.error());
      if (source->content_id != label.content)
        return fail(console_, {ErrorCode::kBadInput, "read " + request_.input,
                               "this medium holds the content " + label.content.text() + ", not " +
                                   source->content_id.text()});
    }
    const medium::Rates assumed = request_.rates.value_or(label.planned);
    if (const Status used = reading.use(label, assumed); !used.ok())
      return fail(console_, used.error());
    if (const Status found = reading.find_groups(); !found.ok())
      return fail_or_stop(console_, found.error(), "nothing was read");
    const auto fitted = reading.fit();
    if (!fitted.ok()) return fail(console_, fitted.error());
    if (fitted->words == 0 || fitted->factor == 1) return ExitCode::kOk;
    console_.warning(fmt::format(
        "the bits fit a channel with {}; {} were {}. It is read as they fit",
        rates_text(fitted->rates), rates_text(assumed), request_.rates ? "told" : "planned"));
    const Status used = reading.use(label, fitted->rates);
    return used.ok() ? ExitCode::kOk : fail(console_, used.error());
  }

  ExitCode restore(const RowJournal& journal) {
    auto manifest = restore_manifest(*read_.label, journal);
    if (!manifest.ok()) return fail(console_, manifest.error());
    read_.manifest = *std::move(manifest);
    RestoringOptions options;
    options.overwrite = request_.overwrite;
    options.cancelled = StopRequest::poll();
    options.progress = [this](std::uint64_t done, std::uint64_t total) {
      if (options_.progress) options_.progress("decoding", done, total);
    };
    const auto restored =
        restore_content(*read_.manifest, *read_.label, journal, request_.dir, options);
    if (!restored.ok()) return fail_or_stop(console_, restored.error(), kGoesOn);
    console_.clear_progress();
    report(journal, *restored);
    return restored->complete ? ExitCode::kOk : ExitCode::kVerifyFailed;
  }

  void report(const RowJournal& journal, const Restored& restored) {
    const Manifest& manifest = *read_.manifest;
    const std::uint64_t written = read_.label->place_count;
    const std::uint64_t lost = written - std::min(written, journal.frames_read());
    console_.event({{"event", "medium_read"},
                    {"content_id", manifest.id.text()},
                    {"complete", restored.complete},
                    {"frames", written},
                    {"frames_lost", lost},
                    {"frames_failed", journal.frames_lost()},
                    {"generations", restored.generations},
                    {"generations_decoded", restored.decoded},
                    {"generations_had", restored.had},
                    {"rows_missing", restored.rows_missing},
                    {"rows_kept", restored.rows_kept}});
    const std::string losses =
        fmt::format("{} of {} frames lost ({:.2g} %)", lost, written,
                    100.0 * static_cast<double>(lost) / static_cast<double>(written));
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
                    "or firn get -o {} {} completes it",
                    manifest.info.name, restored.generations - restored.decoded - restored.had,
                    restored.generations, restored.rows_missing, losses, request_.dir, link),
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
      ->option_text("LINK|X.firn");
  add_rates_options(*command, arguments->rates);
  command->add_flag("--overwrite", arguments->request.overwrite,
                    "replace files that are in the way");
  command->add_option("--threads", arguments->request.threads, "default: a thread for each core")
      ->check(CLI::Range(1, 1024));
  add_console_options(*command, arguments->console);
  on_command(*command, arguments, chosen, run);
}

}  // namespace firn::app
