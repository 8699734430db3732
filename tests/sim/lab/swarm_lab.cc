// swarm_lab KEY=VALUE...: one run of a swarm of the production core in virtual time; its result as
// one line of JSON on stdout. scripts/swarm_lab/sim.py names scenarios and makes tables of them.
//
//   peers=12 seed_mbit=8 up=8[,16,...] (Mbit/s, in turn) down=0 delay_ms=10-50 (drawn per peer)
//   mib=32 n=64 k=16384 seed=1 join_ms=0 (between two peers) limit=20 (times the bound)
//   source_copies=0 (leaves after it has sent so many) leave_when_safe=0 (as firn share)
//   leave_s=-1 (after completing)
//   crash_s=0 crash_share=0.34 hidden=0 (share that accepts no connections) takers=0
//   share=1.05 alone=110 (bytes, see LabWire) neighbours=0 (0: the policy's) samples_ms=0
//   peers_out=0
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/sim/lab/bound.h"
#include "tests/sim/lab/lab.h"

namespace {

using namespace firn;
using namespace firn::sim;

class Arguments {
 public:
  Arguments(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      const std::string text = argv[i];
      const std::size_t at = text.find('=');
      if (at == std::string::npos) fail("not KEY=VALUE: " + text);
      given_[text.substr(0, at)] = text.substr(at + 1);
    }
  }
  std::string text(const std::string& key, const std::string& otherwise) {
    const auto it = given_.find(key);
    const std::string value = it == given_.end() ? otherwise : it->second;
    if (it != given_.end()) given_.erase(it);
    used_[key] = value;
    return value;
  }
  double number(const std::string& key, const std::string& otherwise) {
    const std::string value = text(key, otherwise);
    char* end = nullptr;
    const double parsed = std::strtod(value.c_str(), &end);
    if (value.empty() || *end != '\0') fail(key + " is no number: " + value);
    return parsed;
  }
  std::vector<double> list(const std::string& key, const std::string& otherwise, char between) {
    std::vector<double> result;
    std::string rest = text(key, otherwise);
    for (bool more = true; more;) {
      const std::size_t at = rest.find(between);
      more = at != std::string::npos;
      result.push_back(std::atof(rest.substr(0, at).c_str()));
      if (more) rest = rest.substr(at + 1);
    }
    return result;
  }
  // Once everything has been asked for.
  const std::map<std::string, std::string>& all() const {
    if (!given_.empty()) fail("unknown key: " + given_.begin()->first);
    return used_;
  }

 private:
  [[noreturn]] static void fail(const std::string& what) {
    std::fprintf(stderr, "swarm_lab: %s\n", what.c_str());
    std::exit(2);
  }
  std::map<std::string, std::string> given_, used_;
};

constexpr double kMbit = 1e6 / 8;

TimeUs micro(double seconds) {
  return static_cast<TimeUs>(seconds * 1e6);
}

void add_peers(Lab& lab, Arguments& arguments, codec::CoefficientStream& random) {
  const std::vector<double> ups = arguments.list("up", "8", ',');
  const std::vector<double> delays = arguments.list("delay_ms", "10-50", '-');
  const double down = arguments.number("down", "0") * kMbit;
  const auto delay = [&] {
    const double spread = std::max(delays.back() - delays.front(), 0.0) * 1000;
    return micro(delays.front() * 1e-3) + random.below(static_cast<std::uint32_t>(spread) + 1);
  };
  LabPeerSpec source;
  source.link = {arguments.number("seed_mbit", "8") * kMbit, 0, delay()};
  source.source = true;
  source.leaves_when_safe = arguments.number("leave_when_safe", "0") != 0;
  lab.add(source);
  const int peers = static_cast<int>(arguments.number("peers", "12"));
  const double crash = arguments.number("crash_s", "0");
  const double crash_share = arguments.number("crash_share", "0.34");
  const double hidden = arguments.number("hidden", "0");
  const double leave = arguments.number("leave_s", "-1");
  const double join = arguments.number("join_ms", "0") * 1e-3;
  const int takers = static_cast<int>(arguments.number("takers", "0"));
  for (int i = 0; i < peers; ++i) {
    LabPeerSpec spec;
    spec.link = {ups[static_cast<std::size_t>(i) % ups.size()] * kMbit, down, delay()};
    // Spread over the uplinks in turn: every 1/share-th peer.
    const auto chosen = [i](double share) {
      return static_cast<int>((i + 1) * share) > static_cast<int>(i * share);
    };
    spec.listens = !chosen(hidden);
    if (crash > 0 && chosen(crash_share)) spec.crashes = micro(crash);
    if (leave >= 0) spec.leaves_after = micro(leave);
    spec.takes_only = i < takers;
    spec.joins = micro(join * i);
    lab.add(spec);
  }
}

nlohmann::json peer_json(const LabPeerSpec& spec, const LabPeerResult& r) {
  const auto seconds = [](TimeUs at) { return at < 0 ? -1.0 : static_cast<double>(at) * 1e-6; };
  return {{"up_mbit", spec.link.up / kMbit}, {"source", spec.source},
          {"joined", seconds(spec.joins)},   {"finished", seconds(r.completed)},
          {"gone", seconds(r.gone)},         {"first_generation", seconds(r.first_generation)},
          {"sent_bytes", r.bytes_sent},      {"busy_seconds", r.busy_us * 1e-6},
          {"blocks_sent", r.blocks_sent},    {"innovative", r.innovative},
          {"redundant", r.redundant},        {"rows_max", r.rows_max},
          {"neighbours", r.neighbours}};
}

nlohmann::json summary(const Lab& lab, double bound) {
  double last = 0, mean = 0, finished = 0, sent = 0, control = 0, first = 0, busy = 0, spoke = 0;
  double innovative = 0, redundant = 0, rows = 0;
  for (std::size_t i = 0; i < lab.size(); ++i) {
    const LabPeerResult r = lab.result(i);
    sent += r.bytes_sent;
    control += r.control_bytes;
    if (lab.spec(i).source) continue;
    innovative += static_cast<double>(r.innovative);
    redundant += static_cast<double>(r.redundant);
    rows = std::max(rows, static_cast<double>(r.rows_max));
    if (r.completed < 0) continue;
    const double at = static_cast<double>(r.completed) * 1e-6;
    finished += 1;
    last = std::max(last, at);
    mean += at;
    busy += r.busy_us / static_cast<double>(r.completed);
    if (r.first_generation >= 0) {
      first += static_cast<double>(r.first_generation - lab.spec(i).joins) * 1e-6;
      spoke += 1;
    }
  }
  const double blocks = static_cast<double>(lab.blocks_in_content());
  return {{"bound_seconds", bound},
          {"finished", finished},
          {"last_seconds", last},
          {"ratio", last / bound},
          {"mean_ratio", finished > 0 ? mean / finished / bound : 0},
          {"redundant_share", redundant / std::max(innovative + redundant, 1.0)},
          {"seed_copies", static_cast<double>(lab.result(0).blocks_sent) / blocks},
          {"wire_share", sent / (lab.content_bytes() * std::max(finished, 1.0))},
          {"control_share", control / std::max(sent, 1.0)},
          {"first_generation_seconds", spoke > 0 ? first / spoke : -1},
          {"rows_share_max", rows / blocks},
          {"busy_share", finished > 0 ? busy / finished : 0},
          {"source_left_seconds",
           lab.source_left() < 0 ? -1 : static_cast<double>(lab.source_left()) * 1e-6}};
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments(argc, argv);
  const auto began = std::chrono::steady_clock::now();
  const auto n = static_cast<std::uint32_t>(arguments.number("n", "64"));
  const auto k = static_cast<std::uint32_t>(arguments.number("k", "16384"));
  const double bytes = arguments.number("mib", "32") * (1 << 20);
  const auto generations = static_cast<std::uint32_t>(std::max(bytes / n / k, 1.0));
  const auto seed = static_cast<std::uint64_t>(arguments.number("seed", "1"));
  Lab lab(generations, n, k, seed);
  lab.set_wire({arguments.number("share", "1.05"), arguments.number("alone", "110")});
  lab.set_source_copies(arguments.number("source_copies", "0"));
  lab.sample_every(micro(arguments.number("samples_ms", "0") * 1e-3));
  lab.options().neighbours_wanted = static_cast<std::uint32_t>(arguments.number("neighbours", "0"));
  codec::CoefficientStream random(seed, 0x6c696e6b);
  add_peers(lab, arguments, random);
  const double limit = arguments.number("limit", "20");
  const bool peers_out = arguments.number("peers_out", "0") != 0;
  const auto& used = arguments.all();
  const double about = fluid_bound(lab);
  const bool done = lab.run(micro(about * limit));

  nlohmann::json out = {{"options", used}, {"done", done}};
  out["result"] = summary(lab, fluid_bound(lab));
  if (peers_out) {
    for (std::size_t i = 0; i < lab.size(); ++i) {
      out["peers"].push_back(peer_json(lab.spec(i), lab.result(i)));
    }
  }
  for (const Lab::Sample& s : lab.samples()) {
    out["samples"].push_back({s.seconds, s.mean, s.least});
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double cpu = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                     1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  out["cost"] = {{"cpu_seconds", cpu},
                 {"seconds", took.count()},
                 {"events", lab.events()},
                 {"memory_mib", static_cast<double>(usage.ru_maxrss) / 1024}};
  std::printf("%s\n", out.dump().c_str());
  return done ? 0 : 1;
}
