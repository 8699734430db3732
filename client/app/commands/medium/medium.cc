// firn medium plan|write|sim|read|scrub|inspect: a content on a medium that loses, gains and flips
// bits (docs/medium.md).
#include "client/app/commands/medium/medium.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/app/commands/commands.h"
#include "client/app/commands/options/bytes_option.h"
#include "client/app/commands/options/content_source.h"
#include "client/app/commands/options/medium_options.h"
#include "client/app/commands/transfer/running.h"
#include "client/app/commands/transfer/stop_request.h"
#include "client/app/console/quantities.h"
#include "client/app/medium/medium_reading.h"
#include "codec/random.h"
#include "codec/sync/channel.h"
#include "proto/program/usage.h"

namespace firn::app {
namespace {

struct MediumPlanArguments {
  std::uint64_t bytes = 0;
  std::string source;
  PlanOptions plan;
  unsigned threads = default_worker_count();
  ConsoleOptions console;
};

ExitCode run(const MediumPlanArguments& arguments, Console& console) {
  auto request = plan_request(arguments.plan);
  if (!request.ok()) return fail(console, request.error());
  request->content_bytes = arguments.bytes;
  if (!arguments.source.empty()) {
    const auto manifest = read_manifest_file(arguments.source);
    if (!manifest.ok()) return fail(console, manifest.error());
    request->shape = manifest->info.shape;
    request->content_bytes = manifest->info.shape.content_bytes;
    request->manifest_bytes = static_cast<std::uint32_t>(manifest->file_bytes.size());
  }
  const auto plan = medium::make_plan(*request);
  if (!plan.ok()) return fail(console, plan.error());
  const auto times = estimate_times(*plan, arguments.threads);
  if (!times.ok()) return fail(console, times.error());
  show_plan(*plan, *times, console);
  return ExitCode::kOk;
}

void add_plan(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<MediumPlanArguments>();
  CLI::App* command = app.add_subcommand("plan", "how a content would be put on a medium");
  auto* size = add_bytes_option(*command, "--size", arguments->bytes, "bytes of the content");
  auto* manifest = command->add_option("--manifest", arguments->source, "manifest of the content")
                       ->option_text("X.firn")
                       ->configurable(false);
  size->configurable(false)->excludes(manifest);
  add_plan_options(*command, arguments->plan);
  command
      ->add_option("--threads", arguments->threads,
                   "that the time of reading is told for; default: a thread for each core")
      ->check(between(1, 1024));
  add_console_options(*command, arguments->console);
  on_command(*command, arguments, chosen, run);
}

struct MediumSimArguments {
  std::string input, output;
  RatesOptions rates;
  std::uint64_t seed = 1;
  ConsoleOptions console;
};

// Bits that pass the channel at a time.
constexpr std::int64_t kSimBits = 4 << 20;

ExitCode run(const MediumSimArguments& arguments, Console& console) {
  const auto rates = rates_of(arguments.rates);
  if (!rates.ok()) return fail(console, rates.error());
  if (!*rates)
    return fail(console, {ErrorCode::kBadInput, "pass a medium through a channel",
                          "say what it does to the bits: --rate, or --insertions, --deletions, "
                          "--flips"});
  const auto input = MediumInput::open(arguments.input);
  if (!input.ok()) return fail(console, input.error());
  auto output = MediumOutput::open(arguments.output);
  if (!output.ok()) return fail(console, output.error());
  const codec::sync::Channel channel{(*rates)->insertion, (*rates)->deletion,
                                     (*rates)->substitution};
  codec::CoefficientStream random(arguments.seed, 0);
  const StopRequest stop;
  const auto progress = show_progress(console);
  for (std::int64_t at = 0; at < (*input)->bits(); at += kSimBits) {
    if (StopRequest::requested())
      return fail_or_stop(console, {ErrorCode::kCancelled, "", ""}, "nothing was written");
    if (progress)
      progress("channel", static_cast<std::uint64_t>(at) / 8,
               static_cast<std::uint64_t>((*input)->bits()) / 8);
    const auto bits = (*input)->read(at, at + kSimBits);
    if (!bits.ok()) return fail(console, bits.error());
    const Status put = (*output)->put(codec::sync::transmit(*bits, channel, random));
    if (!put.ok()) return fail(console, put.error());
  }
  if (const Status done = (*output)->finish(); !done.ok()) return fail(console, done.error());
  console.clear_progress();
  console.event({{"event", "medium_sim"},
                 {"bits", (*input)->bits()},
                 {"received_bytes", (*output)->bytes()}});
  console.info(fmt::format("{}: {}", arguments.output, rates_text(**rates)));
  return ExitCode::kOk;
}

void add_sim(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<MediumSimArguments>();
  CLI::App* command = app.add_subcommand(
      "sim", "what a channel that loses, gains and flips bits makes of a medium");
  command->add_option("MEDIUM", arguments->input, "medium file")->required()->check(not_empty());
  command->add_option("-o,--output", arguments->output, "where to write what is received")
      ->option_text("FILE")
      ->configurable(false)
      ->required()
      ->check(not_empty());
  add_rates_options(*command, arguments->rates);
  command->add_option("--seed", arguments->seed, "the same seed loses the same bits; default 1")
      ->configurable(false);
  add_console_options(*command, arguments->console);
  on_command(*command, arguments, chosen, run);
}

struct MediumInspectArguments {
  std::string input;
  unsigned threads = default_worker_count();
  ConsoleOptions console;
};

// Groups that are decoded to see how the medium reads.
constexpr std::size_t kSampleGroups = 8;

ExitCode run(const MediumInspectArguments& arguments, Console& console) {
  const auto input = MediumInput::open(arguments.input);
  if (!input.ok()) return fail(console, input.error());
  const StopRequest stop;
  const ReadingOptions options{arguments.threads, show_progress(console), StopRequest::poll()};
  const auto stopped = [&](const Error& error) {
    return fail_or_stop(console, error, "nothing was decided");
  };
  MediumReading reading(**input, options);
  const auto labels = reading.find_label(true);
  if (!labels.ok()) return stopped(labels.error());
  const medium::Label& label = labels->label;
  if (const Status used = reading.use(label, label.planned); !used.ok())
    return stopped(used.error());
  if (const Status found = reading.find_groups(); !found.ok()) return stopped(found.error());
  const auto fitted = reading.fit();
  if (!fitted.ok()) return stopped(fitted.error());
  if (const Status used = reading.use(label, fitted->rates); !used.ok())
    return stopped(used.error());
  const auto groups = reading.sample(kSampleGroups);
  if (!groups.ok()) return stopped(groups.error());
  std::uint64_t frames = 0, lost = 0;
  for (const auto& group : *groups) {
    frames += group.frames.size();
    lost += group.lost;
  }
  console.clear_progress();
  console.event({{"event", "medium"},
                 {"content_id", label.content.text()},
                 {"frames", label.place_count},
                 {"groups", label.group_count()},
                 {"groups_found", reading.group_count()},
                 {"labels", labels->read},
                 {"labels_of_others", labels->foreign},
                 {"sample_frames", frames + lost},
                 {"sample_lost", lost},
                 {"planned_insertions", label.planned.insertion},
                 {"planned_deletions", label.planned.deletion},
                 {"planned_flips", label.planned.substitution},
                 {"fitted_factor", fitted->factor}});
  const auto row = [&](const char* what, const std::string& text) {
    if (!console.json()) console.print(fmt::format("{:<14} {}", what, text));
  };
  row("content id", label.content.text());
  row("planned for", rates_text(label.planned));
  row("bits fit", rates_text(fitted->rates));
  row("labels", fmt::format("{} read of {} found", labels->read, labels->marks));
  row("groups",
      fmt::format("{} marks found, {} written", reading.group_count(), label.group_count()));
  row("frames", fmt::format("{} written; of a sample of {} there are {} lost", label.place_count,
                            frames + lost, lost));
  return ExitCode::kOk;
}

void add_inspect(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<MediumInspectArguments>();
  CLI::App* command = app.add_subcommand("inspect", "what a medium holds, and how it reads");
  command->add_option("MEDIUM", arguments->input, "medium file")->required()->check(not_empty());
  command->add_option("--threads", arguments->threads, "default: a thread for each core")
      ->check(between(1, 1024));
  add_console_options(*command, arguments->console);
  on_command(*command, arguments, chosen, run);
}

}  // namespace

void add_medium_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("medium", "keep a content on a medium that loses, gains and flips bits");
  command->require_subcommand(1);
  add_plan(*command, chosen);
  add_medium_write(*command, chosen);
  add_sim(*command, chosen);
  add_medium_read(*command, chosen);
  add_medium_scrub(*command, chosen);
  add_inspect(*command, chosen);
}

}  // namespace firn::app
