// firn bench codec|gpu: how fast this machine codes.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <ctime>
#include <sstream>

#include "client/app/backends/backend_bench.h"
#include "client/app/backends/codec_choice.h"
#include "client/app/commands/commands.h"
#include "client/app/commands/options/options.h"
#include "client/app/commands/transfer/running.h"
#include "codec/bench/bench.h"
#include "codec/bench/report.h"
#include "codec/thread_pool.h"
#include "cuda_kernels/host/device_backend.h"
#include "proto/program/output_file.h"
#include "proto/program/usage.h"

namespace firn::app {
namespace {

struct BenchArguments {
  Run<BenchArguments> measure = nullptr;  // CPU or GPU
  bool quick = false;
  std::size_t repeats = 7;
  unsigned threads = default_worker_count();
  std::vector<std::string> shapes;  // N,K
  std::string output;
  std::string kernels;
  ConsoleOptions console;
};

Result<std::vector<codec::bench::Shape>> shapes_of(const BenchArguments& arguments) {
  std::vector<codec::bench::Shape> shapes;
  for (const std::string& text : arguments.shapes) {
    std::size_t n = 0, k = 0;
    int read = 0;
    const bool whole = std::sscanf(text.c_str(), "%zu,%zu%n", &n, &k, &read) == 2 &&
                       static_cast<std::size_t>(read) == text.size();
    if (!whole || n < 1 || n > 4096 || k < 1 || n * k > (std::size_t{64} << 20))
      return Error{ErrorCode::kBadInput, "shape '" + text + "'",
                   "write N,K: blocks in a generation (4096 at most), bytes in a block, of 64 MiB "
                   "together at most"};
    shapes.push_back({n, k});
  }
  return shapes;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char date[16] = {};
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  return date;
}

ExitCode finish(const BenchArguments& arguments, Console& console, const std::string& json) {
  if (arguments.output.empty()) return ExitCode::kOk;
  const Status written = OutputFile(arguments.output, kFiguresFile).write(json + "\n");
  return written.ok() ? ExitCode::kOk : fail(console, written.error());
}

ExitCode bench_codec(const BenchArguments& arguments, Console& console) {
  const auto shapes = shapes_of(arguments);
  if (!shapes.ok()) return fail(console, shapes.error());
  codec::bench::Options options;
  options.repeats = arguments.quick ? 3 : arguments.repeats;
  options.threads = arguments.threads;
  options.shapes = *shapes;
  if (arguments.quick && shapes->empty()) options.shapes = {{64, 16384}, {128, 4096}, {512, 16384}};
  if (!options.shapes.empty()) options.shapes_for_all = {options.shapes.back()};
  const auto report = codec::bench::run(
      options, [&](const std::string& what) { console.progress("measuring " + what, 0, 1); });
  console.clear_progress();
  const std::string json = to_json(report, cpu_name());
  if (console.json()) {
    console.event(Json{{"event", "bench"}, {"report", Json::parse(json)}});
  } else {
    std::vector<std::string> lines;
    std::istringstream table(to_table(report, cpu_name()));
    for (std::string line; std::getline(table, line);) lines.push_back(line);
    console.print(lines);
  }
  return finish(arguments, console, json);
}

Json row_of(const std::string& backend, const BackendRate& rate) {
  Json row{{"backend", backend},   {"what", rate.what},   {"n", rate.n},
           {"k", rate.k},          {"count", rate.count}, {"MB_per_s", rate.mb_per_second},
           {"spread", rate.spread}};
  if (!rate.error.empty()) row["error"] = rate.error;
  return row;
}

ExitCode bench_gpu(const BenchArguments& arguments, Console& console) {
  const auto given = shapes_of(arguments);
  if (!given.ok()) return fail(console, given.error());
  const auto choice = choose_codec(CodecMode::kGpu);
  if (!choice.ok()) return fail(console, choice.error());
  auto shapes = *given;
  if (shapes.empty()) shapes = {{64, 16384}, {128, 16384}, {512, 16384}, {1024, 16384}};
  const std::size_t repeats = arguments.quick ? 3 : arguments.repeats;

  codec::ThreadPool pool(arguments.threads);
  codec::CpuBackend cpu(pool, codec::kernels());
  Json rows = Json::array();
  if (!console.json())
    console.print(fmt::format("{:<24} {:<7} {:>5} {:>8} {:>6} {:>10} {:>7}", "", "", "n", "k",
                              "count", "MB/s", "spread"));
  const auto measure = [&](codec::Backend& backend, const std::string& name,
                           const codec::bench::Shape& shape) {
    const std::size_t generations = std::max<std::size_t>(1, (64 << 20) / (shape.n * shape.k));
    for (const BackendRate& rate :
         measure_backend(backend, shape.n, shape.k, 64, generations, repeats)) {
      rows.push_back(row_of(name, rate));
      if (console.json()) continue;
      console.print(fmt::format("{:<24} {:<7} {:>5} {:>8} {:>6} {:>10.0f} {:>6.1f}% {}", name,
                                rate.what, rate.n, rate.k, rate.count, rate.mb_per_second,
                                50 * rate.spread, rate.error));
    }
  };
  for (const codec::bench::Shape& shape : shapes) {
    for (const cuda::Device& device : choice->devices) {
      cuda::DeviceBackend gpu(device, {});
      measure(gpu, device.name, shape);
    }
    measure(cpu, fmt::format("CPU, {} threads", arguments.threads), shape);
  }
  const Json report{
      {"date", today()}, {"cpu", cpu_name()}, {"kernels", codec::kernels().name}, {"rates", rows}};
  if (console.json()) console.event(Json{{"event", "bench"}, {"report", report}});
  return finish(arguments, console, report.dump(1));
}

ExitCode run(const BenchArguments& arguments, Console& console) {
  Status usable = use_kernels(arguments.kernels);
  if (usable.ok() && !arguments.output.empty())
    usable = OutputFile(arguments.output, kFiguresFile).check();
  return usable.ok() ? arguments.measure(arguments, console) : fail(console, usable.error());
}

void add_one(CLI::App& bench, Chosen& chosen, const std::string& name,
             const std::string& description, Run<BenchArguments> measure) {
  auto arguments = std::make_shared<BenchArguments>();
  arguments->measure = measure;
  CLI::App* command = bench.add_subcommand(name, description);
  command->add_flag("--quick", arguments->quick, "few shapes and repeats");
  command->add_option("--repeats", arguments->repeats, "samples of each figure")
      ->option_text("N")
      ->check(between(1, 1000))
      ->capture_default_str();
  command->add_option("--threads", arguments->threads, "threads of the CPU")
      ->option_text("N")
      ->check(between(1, 1024))
      ->capture_default_str();
  command
      ->add_option("--shape", arguments->shapes,
                   "blocks in a generation and bytes in a block (repeatable)")
      ->option_text("N,K");
  command->add_option("-o,--output", arguments->output, "write the figures to FILE, as JSON")
      ->option_text("FILE")
      ->configurable(false)
      ->check(not_empty());
  add_kernels_option(*command, arguments->kernels);
  add_console_options(*command, arguments->console);
  on_command(*command, arguments, chosen, run);
}

}  // namespace

void add_bench_command(CLI::App& app, Chosen& chosen) {
  CLI::App* bench = app.add_subcommand("bench", "measure how fast this machine codes");
  bench->require_subcommand(1);
  add_one(*bench, chosen, "codec", "the CPU's kernels, beside the machine's limits", bench_codec);
  add_one(*bench, chosen, "gpu", "GPUs as a peer uses them, beside the CPU", bench_gpu);
}

}  // namespace firn::app
