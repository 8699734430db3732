#include "tests/tracker/abuse/day.h"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "tests/tracker/abuse/heap_count.h"

namespace firn::tracker::test::abuse {
namespace {

using namespace std::chrono_literals;

constexpr Time kCycle = 2h, kSample = 1min, kAfterwards = 1h;

HostOptions host_options(double scale) {
  const auto scaled = [scale](auto& value) {
    value =
        static_cast<std::remove_reference_t<decltype(value)>>(static_cast<double>(value) * scale);
  };
  HostOptions options;
  scaled(options.places);
  options.request_us = static_cast<std::int64_t>(static_cast<double>(options.request_us) / scale);
  options.handshake_us =
      static_cast<std::int64_t>(static_cast<double>(options.handshake_us) / scale);
  RegistryLimits& limits = options.limits;
  limits.peer_count_max = 200'000;
  limits.manifest_count_max = 10'000;
  limits.manifest_bytes_total_max = 32 << 20;
  limits.peer_places_spare = 16'384;
  scaled(limits.content_count_max);
  scaled(limits.peer_count_max);
  scaled(limits.peers_per_content_max);
  scaled(limits.manifest_count_max);
  scaled(limits.manifest_bytes_total_max);
  scaled(limits.peer_places_spare);
  CoreOptions& core = options.core;
  core.upload_bytes_total_max = 32 << 20;
  core.upload_bytes_per_prefix_max = 16 << 20;
  scaled(core.upload_bytes_total_max);
  scaled(core.upload_bytes_per_prefix_max);
  for (Rate* rate :
       {&core.connection_rate, &core.network_rate, &core.announce_rate, &core.prefix_rate}) {
    scaled(rate->per_second);
    scaled(rate->burst);
  }
  return options;
}

CrowdOptions crowd_options(double scale) {
  CrowdOptions options;
  const auto scaled = [scale](std::size_t& value) {
    value = static_cast<std::size_t>(static_cast<double>(value) * scale);
  };
  scaled(options.homes);
  scaled(options.offices);
  scaled(options.swarms);
  return options;
}

// One after the other in each cycle.
class Attacks {
 public:
  Attacks(const DayOptions& options, const Crowd& crowd, Host& host)
      : options_(options), crowd_(crowd), host_(host), specs_(all_attacks(options.scale)) {
    std::mt19937_64 random(options.seed);
    std::shuffle(specs_.begin(), specs_.end(), random);
    for (const AttackSpec& spec : specs_) lines_.push_back({spec.name, {}, {}, 0});
  }

  // `passed`: since the attacks began.
  void step(Time passed) {
    const Time in_cycle = passed % kCycle;
    for (std::size_t i = 0; i < specs_.size(); ++i) {
      const Time begins = kCycle * i / specs_.size();
      // From the end of a cycle some last into the next.
      const bool on = (in_cycle + kCycle - begins) % kCycle < specs_[i].lasts && passed >= begins;
      if (on && !under_way_[i]) begin(i, passed);
      if (!on && under_way_[i]) end(i);
      if (under_way_[i]) under_way_[i]->attack.step();
    }
  }
  void end_all() {
    for (std::size_t i = 0; i < specs_.size(); ++i)
      if (under_way_[i]) end(i);
  }
  void sampled(std::size_t bytes) {
    for (std::size_t i = 0; i < specs_.size(); ++i)
      if (under_way_[i]) lines_[i].bytes_most = std::max(lines_[i].bytes_most, bytes);
  }
  const std::vector<Day::Line>& lines() const { return lines_; }

 private:
  struct UnderWay {
    Attack attack;
    Honesty before;
  };

  void begin(std::size_t i, Time passed) {
    const auto seed = options_.seed * 1'000'003 + static_cast<std::uint64_t>(passed.count()) + i;
    under_way_[i].emplace(UnderWay{{specs_[i], crowd_.contents(), seed, host_}, crowd_.honesty()});
  }
  void end(std::size_t i) {
    UnderWay& over = *under_way_[i];
    over.attack.end();
    lines_[i].honest += crowd_.honesty() - over.before;
    lines_[i].counts += over.attack.counts();
    under_way_[i].reset();
  }

  const DayOptions& options_;
  const Crowd& crowd_;
  Host& host_;
  std::vector<AttackSpec> specs_;
  std::vector<Day::Line> lines_;
  std::vector<std::optional<UnderWay>> under_way_ =
      std::vector<std::optional<UnderWay>>(specs_.size());
};

void raise(Host::Fill& most, const Host::Fill& now) {
  const auto raised = [](auto& value, auto other) { value = std::max(value, other); };
  raised(most.connections, now.connections);
  raised(most.clients, now.clients);
  raised(most.swarms, now.swarms);
  raised(most.largest_swarm, now.largest_swarm);
  raised(most.peers, now.peers);
  raised(most.manifests, now.manifests);
  raised(most.manifest_bytes, now.manifest_bytes);
  raised(most.core.networks, now.core.networks);
  raised(most.core.prefixes, now.core.prefixes);
  raised(most.core.uploading_prefixes, now.core.uploading_prefixes);
  raised(most.core.upload_bytes, now.core.upload_bytes);
}

std::size_t hostile_peers(const Registry& registry) {
  std::size_t count = 0;
  for (const ContentId& content : registry.contents()) {
    registry.for_each_peer(content, [&count](const SeenPeer& seen) {
      count += is_hostile(seen.peer.endpoint.id) ? 1 : 0;
    });
  }
  return count;
}

}  // namespace

Day simulate(const DayOptions& options) {
  Day day;
  Host host(host_options(options.scale), options.seed);
  Crowd crowd(crowd_options(options.scale), options.seed, host);
  Attacks attacks(options, crowd, host);
  const Time begin = host.now();
  const auto sample = [&] {
    const Host::Fill fill = host.fill();
    if (day.overfull.empty()) day.overfull = host.overfull(fill);
    raise(day.most, fill);
    day.bytes_most = std::max(day.bytes_most, counted_bytes());
    attacks.sampled(counted_bytes());
  };
  for (Time passed = Host::kStep; passed <= options.lasts; passed += Host::kStep) {
    host.step();
    attacks.step(passed);
    crowd.step();
    ++day.steps;
    day.strained_steps += host.strained() ? 1 : 0;
    if (passed % kSample == 0ms) sample();
    if (passed % kCycle == 0ms) day.bytes.push_back(counted_bytes());
  }
  attacks.end_all();
  day.attacks = attacks.lines();
  day.honest = crowd.honesty();
  while (host.now() - begin < options.lasts + kAfterwards) {
    host.step();
    crowd.step();
  }
  day.quiet = crowd.honesty() - day.honest;
  day.neighbours = crowd.of_neighbours();
  day.manifests = crowd.manifests();
  day.bytes_after = counted_bytes();
  day.hostile_after = hostile_peers(host.registry());
  day.after = host.fill();
  return day;
}

}  // namespace firn::tracker::test::abuse
