// firn-tracker-load ADDRESS: many parties that announce to one tracker, over connections that are
// kept, fresh, or some of each; and to a BitTorrent tracker for comparison. Prints one JSON object:
// rates, latencies, and what the tracker's process took. Not installed: scripts/bench-tracker runs
// it.
#include <poll.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "proto/base/address.h"
#include "proto/transport/descriptors.h"
#include "proto/transport/identity.h"
#include "tests/load/process_use.h"
#include "tests/tracker_load/crowd.h"
#include "tests/tracker_load/firn_party.h"
#include "tests/tracker_load/torrent_party.h"

namespace firn::tracker_load {
namespace {

using Json = nlohmann::json;
using load::ProcessUse;

constexpr std::uint64_t kRecordsPerKey = 1u << 23;
constexpr std::size_t kOtherDescriptors = 64;
constexpr std::size_t kConnectionsMax = 250'000;

struct Arguments {
  std::string tracker, protocol = "firn";
  std::size_t connections = 1000, identities = 10'000, in_flight = 4, threads = 1;
  double fresh_share = 0, rate = 0, connects_a_second = 1500, settle = 1, seconds = 10;
  double connect_seconds_max = 300;
  WorkloadOptions workload;
  int pid = 0;
  bool hashes = false;
};

struct Mark {
  TimeUs at = 0;
  std::optional<ProcessUse> tracker;
  std::uint64_t tcp_bytes = 0;
};

class Run {
 public:
  Run(const Arguments& arguments, FirnTarget target)
      : arguments_(arguments), workload_(arguments.workload), target_(std::move(target)) {
    kept_.in_flight = arguments.in_flight;
    kept_.asks_by_itself = arguments.rate == 0;
    fresh_ = kept_;
    fresh_.fresh = true;
    fresh_.in_flight = 1;
  }

  Status run() {
    before_ = mark();
    CrowdOptions options;
    const auto threads = static_cast<double>(arguments_.threads);
    options.connects_a_second = arguments_.connects_a_second / threads;
    options.announces_a_second = arguments_.rate / threads;
    tallies_.resize(arguments_.threads);
    for (std::size_t t = 0; t < arguments_.threads; ++t)
      crowds_.push_back(std::make_unique<Crowd>(options, parties_of(t), tallies_[t], phases_));
    std::vector<std::thread> threads_running;
    for (const auto& crowd : crowds_) threads_running.emplace_back([&crowd] { crowd->run(); });
    const bool ready = wait_until_ready();
    wait(arguments_.settle);
    phases_.measuring = true;
    from_ = mark();
    wait(arguments_.seconds);
    to_ = mark();
    phases_.measuring = false;
    phases_.over = true;
    for (std::thread& thread : threads_running) thread.join();
    if (ready) return Done{};
    return Error{ErrorCode::kUnreachable, "connect to the tracker",
                 "not all connections were there after " +
                     std::to_string(arguments_.connect_seconds_max) + " seconds"};
  }

  Json figures() const {
    Tally all;
    std::map<std::string, std::uint64_t> errors;
    for (const Tally& tally : tallies_) {
      all.announces += tally.announces;
      all.peers += tally.peers;
      all.slow_downs += tally.slow_downs;
      all.refusals += tally.refusals;
      all.handshakes += tally.handshakes;
      all.reply_bytes += tally.reply_bytes;
      all.open += tally.open;
      all.latencies.add(tally.latencies);
      for (const auto& [text, count] : tally.errors) errors[text] += count;
    }
    const double seconds = static_cast<double>(to_.at - from_.at) / 1e6;
    const auto announces = static_cast<double>(std::max<std::uint64_t>(all.announces, 1));
    Json found = {{"protocol", arguments_.protocol},
                  {"connections", arguments_.connections},
                  {"open", all.open},
                  {"seconds", seconds},
                  {"announces_per_s", static_cast<double>(all.announces) / seconds},
                  {"handshakes_per_s", static_cast<double>(all.handshakes) / seconds},
                  {"peers_per_reply", static_cast<double>(all.peers) / announces},
                  {"bytes_per_reply", static_cast<double>(all.reply_bytes) / announces},
                  {"slow_downs", all.slow_downs},
                  {"refusals", all.refusals},
                  {"latency_us",
                   {{"p50", all.latencies.part(0.5)},
                    {"p99", all.latencies.part(0.99)},
                    {"p999", all.latencies.part(0.999)}}},
                  {"errors", errors}};
    add_tracker(found, all);
    return found;
  }

 private:
  Mark mark() const {
    return {clock_us(), load::process_use(arguments_.pid), load::tcp_memory_bytes()};
  }

  // Of this thread, which does nothing else.
  static void wait(double seconds) {
    const TimeUs until = clock_us() + static_cast<TimeUs>(seconds * 1e6);
    for (TimeUs left; (left = until - clock_us()) > 0;) {
      timespec time{left / kSecond, left % kSecond * 1000};
      (void)::ppoll(nullptr, 0, &time, nullptr);
    }
  }

  bool wait_until_ready() const {
    const TimeUs until = clock_us() + static_cast<TimeUs>(arguments_.connect_seconds_max * 1e6);
    while (phases_.ready < arguments_.threads && clock_us() < until) wait(0.05);
    return phases_.ready == arguments_.threads;
  }

  // Every `threads`-th party, from the t-th on.
  std::vector<std::unique_ptr<Party>> parties_of(std::size_t t) {
    std::vector<std::unique_ptr<Party>> parties;
    const auto fresh = static_cast<std::size_t>(arguments_.fresh_share *
                                                static_cast<double>(arguments_.connections));
    for (std::size_t i = t; i < arguments_.connections; i += arguments_.threads) {
      const PartyOptions& options = i < fresh ? fresh_ : kept_;
      if (arguments_.protocol == "firn") {
        parties.push_back(std::make_unique<FirnParty>(target_, workload_, options, i, tallies_[t]));
      } else if (arguments_.protocol == "udp") {
        parties.push_back(
            std::make_unique<UdpParty>(target_.address, workload_, options, i, tallies_[t]));
      } else {
        parties.push_back(std::make_unique<HttpParty>(target_.address, workload_, i, tallies_[t]));
      }
    }
    return parties;
  }

  void add_tracker(Json& found, const Tally& all) const {
    if (!before_.tracker || !from_.tracker || !to_.tracker) return;
    const double cpu = to_.tracker->cpu_seconds - from_.tracker->cpu_seconds;
    const double seconds = static_cast<double>(to_.at - from_.at) / 1e6;
    const auto per_connection = [&](std::uint64_t to, std::uint64_t from) {
      return (static_cast<double>(to) - static_cast<double>(from)) /
             static_cast<double>(arguments_.connections);
    };
    found["tracker_cores"] = cpu / seconds;
    if (cpu > 0) {
      found["announces_per_cpu_s"] = static_cast<double>(all.announces) / cpu;
      found["handshakes_per_cpu_s"] = static_cast<double>(all.handshakes) / cpu;
    }
    found["tracker_resident_bytes"] = to_.tracker->resident_bytes;
    found["tracker_bytes_per_connection"] =
        per_connection(to_.tracker->resident_bytes, before_.tracker->resident_bytes);
    found["tcp_bytes_per_connection"] = per_connection(to_.tcp_bytes, before_.tcp_bytes);
  }

  const Arguments& arguments_;
  const Workload workload_;
  const FirnTarget target_;
  PartyOptions kept_, fresh_;
  std::vector<Tally> tallies_;
  Phases phases_;
  std::vector<std::unique_ptr<Crowd>> crowds_;
  Mark before_, from_, to_;
};

Result<Json> measure(const Arguments& arguments) {
  const auto where = parse_address(arguments.tracker);
  if (!where.ok()) return where.error();
  const auto address = proto::transport::numeric_address(where->host, where->port);
  if (!address) return Error{ErrorCode::kBadInput, arguments.tracker, "not a numeric address"};
  const std::size_t descriptors = arguments.connections + kOtherDescriptors;
  proto::transport::raise_descriptor_limit(descriptors);
  if (proto::transport::descriptor_limit() < descriptors)
    return Error{
        ErrorCode::kBadInput, "connect " + std::to_string(arguments.connections) + " times",
        "this process may have only " + std::to_string(proto::transport::descriptor_limit()) +
            " descriptors; raise the hard limit (ulimit -Hn)"};
  FirnTarget target{*address, where->id, {}};
  const std::size_t identities = arguments.protocol == "firn" ? arguments.identities : 0;
  for (std::size_t i = 0; i < std::min(identities, arguments.connections); ++i) {
    const auto identity = proto::transport::Identity::generate();
    if (!identity.ok()) return identity.error();
    auto context = proto::transport::TlsContext::make(*identity, kRecordsPerKey);
    if (!context.ok()) return context.error();
    target.contexts.push_back(*std::move(context));
  }
  Run run(arguments, std::move(target));
  if (const Status ran = run.run(); !ran.ok()) {
    std::cerr << "firn-tracker-load: " << ran.error().message() << "\n";
  }
  return run.figures();
}

// As opentracker reads them: 40 hexadecimal digits a line.
void print_hashes(const WorkloadOptions& options) {
  const Workload workload(options);
  for (std::uint32_t content = 0; content < options.contents; ++content) {
    for (std::size_t i = 0; i < kTorrentHashBytes; ++i)
      std::printf("%02x", unsigned{workload.id_of(content).bytes[i]});
    std::printf("\n");
  }
}

void add_options(CLI::App& app, Arguments& a) {
  app.add_option("TRACKER", a.tracker, "its address, 127.0.0.1:PORT; also ID@ADDRESS");
  app.add_flag("--hashes", a.hashes, "print what a BitTorrent tracker's whitelist needs, and end");
  app.add_option("--protocol", a.protocol)->check(CLI::IsMember({"firn", "udp", "http"}));
  app.add_option("--connections", a.connections)
      ->check(CLI::Range(std::size_t{1}, kConnectionsMax));
  app.add_option("--fresh", a.fresh_share, "share of them that is made anew for each announce")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--in-flight", a.in_flight, "announces on a connection at a time")
      ->check(CLI::Range(1, 64));
  app.add_option("--rate", a.rate, "announces a second in all; 0: each follows a reply");
  app.add_option("--identities", a.identities, "keys, which connections share in turn")
      ->check(CLI::Range(1, 100'000));
  app.add_option("--threads", a.threads)->check(CLI::Range(1, 256));
  app.add_option("--contents", a.workload.contents)->check(CLI::Range(1, 10'000'000));
  app.add_option("--zipf", a.workload.zipf, "exponent of the sizes of swarms")
      ->check(CLI::Range(0.0, 4.0));
  app.add_option("--contents-each", a.workload.contents_of_party)->check(CLI::Range(1, 10'000));
  app.add_option("--peers", a.workload.peers_wanted)->check(CLI::Range(0, 200));
  app.add_option("--connects", a.connects_a_second, "a second")->check(CLI::Range(1.0, 1e6));
  app.add_option("--settle", a.settle, "seconds before the measurement")
      ->check(CLI::Range(0.0, 600.0));
  app.add_option("--seconds", a.seconds, "of the measurement")->check(CLI::Range(0.1, 36000.0));
  app.add_option("--pid", a.pid, "the tracker's process, to be measured");
}

}  // namespace
}  // namespace firn::tracker_load

int main(int argc, char** argv) {
  using namespace firn::tracker_load;
  std::signal(SIGPIPE, SIG_IGN);
  Arguments arguments;
  CLI::App app("Many parties that announce to one tracker, for measurements.", "firn-tracker-load");
  add_options(app, arguments);
  CLI11_PARSE(app, argc, argv);
  if (arguments.hashes) {
    print_hashes(arguments.workload);
    return 0;
  }
  const auto found = measure(arguments);
  if (!found.ok()) {
    std::cerr << "firn-tracker-load: " << found.error().message() << "\n";
    return 1;
  }
  std::cout << found->dump(2) << "\n";
  return 0;
}
