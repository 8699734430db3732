// firn-load X.firn SEED --receivers N: many light receivers that take a content from one seed, each
// at a given rate. Prints one JSON object: what came to each receiver, how many seconds were short
// (seconds.h), and what the seed's process took. Not installed: scripts/bench-serving runs it.
//
// Each receiver has an identity and a source address of its own (127.0.0.0/8), so that the shares
// that networks have of a seed's places bound nothing here.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include "proto/base/address.h"
#include "proto/program/input_file.h"
#include "proto/transport/descriptors.h"
#include "tests/load/crowd.h"
#include "tests/load/process_use.h"

namespace firn::load {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kManifestBytesMax = 256u << 20;
constexpr std::size_t kReceiversMax = 20'000;
constexpr std::size_t kOtherDescriptors = 64;
constexpr TimeUs kMarkTime = kSecond / 10;  // after the measurement: what was used is read

struct Arguments {
  std::string manifest_file, seed, pace = "credit";
  std::size_t receivers = 100, threads = 1, sample = 20;
  double rate = 96'000, connects_a_second = 200, settle = 3, seconds = 20;
  double state_ms = 250;
  int receive_buffer = 8 << 10;
  std::uint32_t generations = 2;
  bool together = false;
  int seed_pid = 0;
};

// Of the loopback network each receiver has a /24 of its own.
std::string source_ip(std::size_t i) {
  return "127." + std::to_string(1 + i / 250) + "." + std::to_string(1 + i % 250) + ".1";
}

struct Marks {
  std::optional<ProcessUse> before, from, to;  // of the seed
  std::optional<ProcessUse> load_from, load_to;
  std::uint64_t tcp_before = 0, tcp_to = 0;
};

class Run {
 public:
  Run(const Arguments& arguments, Diet diet, const Target& target)
      : arguments_(arguments), diet_(std::move(diet)), target_(target) {}

  void run() {
    const TimeUs began = clock_us();
    const double ramp = static_cast<double>(arguments_.receivers) / arguments_.connects_a_second;
    diet_.measurement.from = began + micros(ramp + arguments_.settle);
    diet_.measurement.to = diet_.measurement.from + micros(arguments_.seconds);
    marks_.before = process_use(arguments_.seed_pid);
    marks_.tcp_before = tcp_memory_bytes();
    for (std::size_t t = 0; t < arguments_.threads; ++t)
      crowds_.push_back(std::make_unique<Crowd>(target_, fates_of(t, began)));
    crowds_[0]->at(diet_.measurement.from, [this] {
      marks_.from = process_use(arguments_.seed_pid);
      marks_.load_from = process_use(::getpid());
    });
    crowds_[0]->at(diet_.measurement.to, [this] {
      marks_.to = process_use(arguments_.seed_pid);
      marks_.load_to = process_use(::getpid());
      marks_.tcp_to = tcp_memory_bytes();
    });
    const TimeUs until = diet_.measurement.to + kMarkTime;
    std::vector<std::thread> threads;
    for (std::size_t t = 1; t < crowds_.size(); ++t)
      threads.emplace_back([this, t, until] { crowds_[t]->run(until); });
    crowds_[0]->run(until);
    for (std::thread& thread : threads) thread.join();
  }

  Json figures() const {
    const double k = diet_.manifest.info.shape.block_bytes;
    std::vector<double> rates;
    std::map<std::string, std::size_t> errors;
    std::uint64_t blocks = 0, redundant = 0, seconds = 0, short_seconds = 0;
    std::uint32_t checked = 0, longest = 0;
    std::size_t opened = 0, content = 0;
    for (const auto& crowd : crowds_) {
      for (const Fate& fate : crowd->fates()) {
        const Receiver& receiver = fate.link->receiver();
        opened += fate.opened ? 1 : 0;
        if (!fate.error.empty()) ++errors[fate.error];
        rates.push_back(static_cast<double>(receiver.seconds().blocks()) * k / arguments_.seconds);
        blocks += receiver.blocks();
        redundant += receiver.redundant();
        checked += receiver.generations_checked();
        seconds += receiver.seconds().whole_seconds();
        short_seconds += receiver.seconds().short_seconds();
        longest = std::max(longest, receiver.seconds().longest_shortage());
        content += receiver.seconds().longest_shortage() <= 1 ? 1 : 0;
      }
    }
    std::sort(rates.begin(), rates.end());
    const auto share = [&rates](double part) {
      return rates[static_cast<std::size_t>(part * static_cast<double>(rates.size() - 1))];
    };
    const double total = std::accumulate(rates.begin(), rates.end(), 0.0);
    Json found = {
        {"receivers", rates.size()},
        {"connected", opened},
        {"errors", errors},
        {"rate", arguments_.rate},
        {"rate_min", share(0)},
        {"rate_p1", share(0.01)},
        {"rate_median", share(0.5)},
        {"rate_total", total},
        {"blocks", blocks},
        {"redundant", redundant},
        {"generations_checked", checked},
        {"short_seconds_share",
         seconds == 0 ? 1.0 : static_cast<double>(short_seconds) / static_cast<double>(seconds)},
        {"longest_shortage_seconds", longest},
        {"receivers_never_short_for_two_seconds", content}};
    add_seed(found);
    return found;
  }

 private:
  static TimeUs micros(double seconds) { return static_cast<TimeUs>(seconds * 1e6); }

  // Every `threads`-th receiver, from the t-th on.
  std::vector<Fate> fates_of(std::size_t t, TimeUs began) {
    const std::uint32_t count = diet_.manifest.info.shape.generation_count();
    std::vector<Fate> fates;
    for (std::size_t i = t; i < arguments_.receivers; i += arguments_.threads) {
      const auto first = arguments_.together ? 0 : static_cast<std::uint32_t>(i * 7 % count);
      Fate& fate = fates.emplace_back();
      fate.link = std::make_unique<Link>(diet_, first, i % arguments_.sample == 0);
      fate.source_ip = source_ip(i);
      fate.connects_at = began + micros(static_cast<double>(i) / arguments_.connects_a_second);
    }
    return fates;
  }

  void add_seed(Json& found) const {
    if (!marks_.before || !marks_.from || !marks_.to || !marks_.load_from || !marks_.load_to)
      return;
    const auto connections = static_cast<double>(arguments_.receivers);
    const auto grown = [](std::uint64_t to, std::uint64_t from) {
      return static_cast<double>(to) - static_cast<double>(from);
    };
    const auto cores = [this](const ProcessUse& from, const ProcessUse& to) {
      return (to.cpu_seconds - from.cpu_seconds) / arguments_.seconds;
    };
    found["seed_cores"] = cores(*marks_.from, *marks_.to);
    found["load_cores"] = cores(*marks_.load_from, *marks_.load_to);
    found["seed_resident_bytes"] = marks_.to->resident_bytes;
    found["seed_bytes_per_connection"] =
        grown(marks_.to->resident_bytes, marks_.before->resident_bytes) / connections;
    found["tcp_bytes_per_connection"] = grown(marks_.tcp_to, marks_.tcp_before) / connections;
  }

  const Arguments& arguments_;
  Diet diet_;
  const Target target_;
  std::vector<std::unique_ptr<Crowd>> crowds_;
  Marks marks_;
};

Result<Json> measure(const Arguments& arguments) {
  auto bytes = read_input_file(arguments.manifest_file, kManifestBytesMax);
  if (!bytes.ok()) return bytes.error();
  auto manifest = parse_manifest(*bytes);
  if (!manifest.ok()) return manifest.error();
  auto where = parse_address(arguments.seed);
  if (!where.ok()) return where.error();
  const auto address = proto::transport::numeric_address(where->host, where->port);
  if (!address) return Error{ErrorCode::kBadInput, arguments.seed, "not a numeric address"};
  proto::transport::raise_descriptor_limit(arguments.receivers + kOtherDescriptors);
  if (proto::transport::descriptor_limit() < arguments.receivers + kOtherDescriptors) {
    return Error{ErrorCode::kBadInput, "connect " + std::to_string(arguments.receivers) + " times",
                 "this process may have only " +
                     std::to_string(proto::transport::descriptor_limit()) +
                     " descriptors; raise the hard limit (ulimit -Hn)"};
  }
  Diet diet;
  diet.manifest = *std::move(manifest);
  diet.rate = arguments.rate;
  diet.state_interval = static_cast<TimeUs>(arguments.state_ms * 1000);
  diet.generations =
      std::min(arguments.generations, diet.manifest.info.shape.generation_count() / 2);
  if (arguments.pace == "socket") diet.receive_buffer_bytes = arguments.receive_buffer;
  if (diet.generations == 0)
    return Error{ErrorCode::kBadInput, arguments.manifest_file, "it has too few generations"};
  Run run(arguments, std::move(diet), {*address, where->id});
  run.run();
  return run.figures();
}

}  // namespace
}  // namespace firn::load

int main(int argc, char** argv) {
  using namespace firn::load;
  std::signal(SIGPIPE, SIG_IGN);
  Arguments a;
  CLI::App app("Many light receivers of one seed, for measurements.", "firn-load");
  app.add_option("MANIFEST", a.manifest_file, "X.firn")->required();
  app.add_option("SEED", a.seed, "its address, 127.0.0.1:PORT; also ID@ADDRESS")->required();
  app.add_option("--receivers", a.receivers)->check(CLI::Range(std::size_t{1}, kReceiversMax));
  app.add_option("--rate", a.rate, "bytes of payload a second that each takes")
      ->check(CLI::Range(1e3, 1e9));
  app.add_option("--pace", a.pace, "by credit, or by reading the socket slowly")
      ->check(CLI::IsMember({"credit", "socket"}));
  app.add_option("--receive-buffer", a.receive_buffer, "bytes, of a socket that is read slowly")
      ->check(CLI::Range(1 << 10, 16 << 20));
  app.add_option("--state-ms", a.state_ms, "between two States")->check(CLI::Range(10.0, 1000.0));
  app.add_option("--generations", a.generations, "wanted at a time")->check(CLI::Range(1, 1000));
  app.add_flag("--together", a.together, "all begin with the same generation");
  app.add_option("--sample", a.sample, "of N receivers one checks what it decodes")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--connects", a.connects_a_second, "a second")->check(CLI::Range(1.0, 1e5));
  app.add_option("--settle", a.settle, "seconds before the measurement")
      ->check(CLI::Range(0.0, 600.0));
  app.add_option("--seconds", a.seconds, "of the measurement")->check(CLI::Range(1.0, 3600.0));
  app.add_option("--threads", a.threads)->check(CLI::Range(1, 256));
  app.add_option("--seed-pid", a.seed_pid, "the seed's process, to be measured");
  CLI11_PARSE(app, argc, argv);
  const auto found = measure(a);
  if (!found.ok()) {
    std::cerr << "firn-load: " << found.error().message() << "\n";
    return 1;
  }
  std::cout << found->dump(2) << "\n";
  return 0;
}
