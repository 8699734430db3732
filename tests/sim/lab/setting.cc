#include "tests/sim/lab/setting.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>

#include "codec/random.h"
#include "tests/sim/lab/bound.h"

namespace firn::sim {

namespace {

TimeUs micro(double seconds) {
  return static_cast<TimeUs>(seconds * 1e6);
}

// What each of the first peers does.
std::vector<hostile::Deeds> deeds_of(Arguments& arguments) {
  const auto polluters = static_cast<std::size_t>(arguments.number("polluters", "0"));
  std::vector<hostile::Deeds> all(polluters, {.falsifies = arguments.number("pollutes", "1")});
  const std::string text = arguments.text("hostile", "");
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::size_t star = std::min(text.find('*', at), end);
    auto deeds = hostile::parse_deeds(text.substr(star + 1, end - star - 1));
    if (star == end || !deeds.ok()) arguments.fail("hostile is not COUNT*DEEDS,...: " + text);
    const auto count = static_cast<std::size_t>(std::atoi(text.c_str() + at));
    all.insert(all.end(), count, *deeds);
    at = end + 1;
  }
  return all;
}

std::vector<LabPart> parts_of(Arguments& arguments, const std::string& key) {
  std::vector<LabPart> parts;
  const std::string text = arguments.text(key, "0-1");
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    char* rest = nullptr;
    LabPart part{std::strtod(text.c_str() + at, &rest), 0};
    if (*rest == '-') part.to = std::strtod(rest + 1, &rest);
    if (rest != text.c_str() + end || part.from < 0 || part.to > 1 || part.size() <= 0)
      arguments.fail(key + " is not FROM-TO,...: " + text);
    parts.push_back(part);
    at = end + 1;
  }
  return parts;
}

std::vector<LabPeerSpec> peers_of(Arguments& arguments, codec::CoefficientStream& random) {
  std::vector<LabPeerSpec> specs;
  const std::vector<double> ups = arguments.list("up", "8", ',');
  const std::vector<double> delays = arguments.list("delay_ms", "10-50", '-');
  const std::vector<double> downs = arguments.list("down", "0", ',');
  const TimeUs queue = micro(arguments.number("queue_ms", "100") * 1e-3);
  const auto delay = [&] {
    const double spread = std::max(delays.back() - delays.front(), 0.0) * 1000;
    return micro(delays.front() * 1e-3) + random.below(static_cast<std::uint32_t>(spread) + 1);
  };
  LabPeerSpec source;
  source.link = {arguments.number("seed_mbit", "8") * kMbit, 0, delay()};
  source.source = true;
  source.origin = arguments.number("origin", "0") != 0;
  if (const double dies = arguments.number("origin_dies_s", "0"); dies > 0)
    source.dies = micro(dies);
  if (const double back = arguments.number("origin_back_s", "0"); back > 0)
    source.back_after = micro(back);
  source.leaves_when_safe = arguments.number("leave_when_safe", "0") != 0;
  specs.push_back(source);
  const int peers = static_cast<int>(arguments.number("peers", "12"));
  const double crash = arguments.number("crash_s", "0");
  const double crash_share = arguments.number("crash_share", "0.34");
  const double hidden = arguments.number("hidden", "0");
  const bool firewalled = arguments.number("firewalled", "0") != 0;
  const double leave = arguments.number("leave_s", "-1");
  const double join = arguments.number("join_ms", "0") * 1e-3;
  const int takers = static_cast<int>(arguments.number("takers", "0"));
  const std::vector<hostile::Deeds> deeds = deeds_of(arguments);
  const bool without = arguments.number("without_hostile", "0") != 0;
  const double taker_kib = arguments.number("taker_kib", "0");
  const std::string hostile_at = arguments.text("hostile_at", "apart");
  const std::vector<LabPart> wants = parts_of(arguments, "wants");
  const std::vector<LabPart> later = parts_of(arguments, "later");
  const double later_s = arguments.number("later_s", "0");
  const double film_rate = arguments.number("film_mbit", "0") * kMbit;
  const std::vector<double> film_from = arguments.list("film_from", "0", ',');
  const double ahead = arguments.number("ahead_s", "0");
  const bool hurries = arguments.number("hurries", "1") != 0;
  const double seek_peer = arguments.number("seek_peer", "0");
  const double seek_s = arguments.number("seek_s", "0");
  const double origin_from = arguments.number("origin_from_s", "0");
  const double seek_to = arguments.number("seek_to", "0.5");
  for (int i = 0; i < peers; ++i) {
    LabPeerSpec spec;
    const auto place = static_cast<std::size_t>(i);
    spec.link = {ups[place % ups.size()] * kMbit, downs[place % downs.size()] * kMbit, delay(),
                 queue};
    // Spread over the uplinks in turn: every 1/share-th peer.
    const auto chosen = [i](double share) {
      return static_cast<int>((i + 1) * share) > static_cast<int>(i * share);
    };
    spec.listens = firewalled || !chosen(hidden);
    spec.firewalled = firewalled && chosen(hidden);
    if (crash > 0 && chosen(crash_share)) spec.crashes = micro(crash);
    if (leave >= 0) spec.leaves_after = micro(leave);
    spec.takes_only = i < takers;
    spec.origin_from = micro(origin_from);
    if (place < deeds.size()) spec.deeds = deeds[place];
    if (taker_kib > 0) spec.up_limit = taker_kib * 1024;
    if (hostile_at == "lan") spec.ip = "192.168.7." + std::to_string(i + 2);
    if (hostile_at == "together" && spec.hostile()) spec.ip = "10.255.255.1";
    spec.joins = micro(join * i);
    spec.wants = wants[place % wants.size()];
    spec.wants_later = later[place % later.size()];
    if (later_s > 0) spec.changes_mind = micro(later_s);
    spec.film = {film_rate, film_from[place % film_from.size()], hurries, ahead};
    if (i + 1 == seek_peer) {
      spec.film.seeks = micro(seek_s);
      spec.film.seeks_to = seek_to;
    }
    if (!without || !spec.hostile()) specs.push_back(spec);
  }
  return specs;
}

nlohmann::json viewing_json(const LabPeerSpec& spec, const LabViewing& seen) {
  const auto seconds = [](TimeUs at) { return at < 0 ? -1.0 : static_cast<double>(at) * 1e-6; };
  return {{"from", spec.film.from},           {"start", seconds(seen.start)},
          {"seek", seconds(seen.seek)},       {"stalls", seen.stalls},
          {"stalled", seconds(seen.stalled)}, {"buffer", seen.buffer}};
}

nlohmann::json peer_json(const LabPeerSpec& spec, const LabPeerResult& r) {
  const auto seconds = [](TimeUs at) { return at < 0 ? -1.0 : static_cast<double>(at) * 1e-6; };
  return {{"up_mbit", spec.link.up / kMbit},
          {"source", spec.source},
          {"joined", seconds(spec.joins)},
          {"finished", seconds(r.completed)},
          {"gone", seconds(r.gone)},
          {"first_generation", seconds(r.first_generation)},
          {"wants", {spec.wish().from, spec.wish().to}},
          {"sent_bytes", r.bytes_sent},
          {"busy_seconds", r.busy_us * 1e-6},
          {"blocks_sent", r.blocks_sent},
          {"innovative", r.innovative},
          {"redundant", r.redundant},
          {"rows_max", r.rows_max},
          {"neighbours", r.neighbours}};
}

nlohmann::json summary(const LabRun& run) {
  const double bound = fluid_bound(run);
  double last = 0, mean = 0, finished = 0, sent = 0, control = 0, first = 0, busy = 0, spoke = 0;
  double passed_on = 0, falsely = 0, banned = 0;
  double innovative = 0, redundant = 0, rows = 0;
  double start = -1, stalls = 0, stalled = 0;
  for (std::size_t i = 0; i < run.specs.size(); ++i) {
    const LabPeerResult& r = run.results[i];
    sent += r.bytes_sent;
    control += r.control_bytes;
    if (run.specs[i].source && !run.specs[i].hostile()) banned += r.honest_banned;
    if (run.specs[i].source || run.specs[i].hostile()) continue;
    passed_on += static_cast<double>(r.false_sent);
    falsely += static_cast<double>(r.decoded_falsely);
    banned += r.honest_banned;
    start = std::max(start, static_cast<double>(r.viewing.start) * 1e-6);
    stalls += r.viewing.stalls;
    stalled += static_cast<double>(r.viewing.stalled) * 1e-6;
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
      first += static_cast<double>(r.first_generation - run.specs[i].joins) * 1e-6;
      spoke += 1;
    }
  }
  const double blocks = static_cast<double>(run.blocks_in_content);
  return {{"bound_seconds", bound},
          {"finished", finished},
          {"last_seconds", last},
          {"ratio", last / bound},
          {"mean_ratio", finished > 0 ? mean / finished / bound : 0},
          {"redundant_share", redundant / std::max(innovative + redundant, 1.0)},
          {"seed_copies", static_cast<double>(run.results[0].blocks_sent) / blocks},
          {"wire_share", sent / (run.content_bytes * std::max(finished, 1.0))},
          {"control_share", control / std::max(sent, 1.0)},
          {"first_generation_seconds", spoke > 0 ? first / spoke : -1},
          {"rows_share_max", rows / blocks},
          {"false_passed_on", passed_on},
          {"decoded_falsely", falsely},
          {"honest_banned", banned},
          {"busy_share", finished > 0 ? busy / finished : 0},
          {"start_last_seconds", start},
          {"stalls", stalls},
          {"stalled_seconds", stalled},
          {"source_left_seconds",
           run.source_left < 0 ? -1 : static_cast<double>(run.source_left) * 1e-6}};
}

nlohmann::json cost(double seconds, std::uint64_t events) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double cpu = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                     1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  return {{"cpu_seconds", cpu},
          {"seconds", seconds},
          {"events", events},
          {"memory_mib", static_cast<double>(usage.ru_maxrss) / 1024}};
}

}  // namespace

Setting setting_of(Arguments& arguments) {
  Setting setting;
  setting.n = static_cast<std::uint32_t>(arguments.number("n", "64"));
  setting.k = static_cast<std::uint32_t>(arguments.number("k", "16384"));
  const double bytes = arguments.number("mib", "32") * (1 << 20);
  setting.generations = static_cast<std::uint32_t>(std::max(bytes / setting.n / setting.k, 1.0));
  setting.seed = static_cast<std::uint64_t>(arguments.number("seed", "1"));
  setting.wire = {arguments.number("share", "1.05"), arguments.number("acks", "0"),
                  arguments.number("alone", "110")};
  const double authority = arguments.number("authority", "1");
  setting.authority = authority > 0   ? Authority::kThere
                      : authority < 0 ? Authority::kAway
                                      : Authority::kNone;
  setting.source_copies = arguments.number("source_copies", "0");
  setting.honest_copies = arguments.number("honest_copies", "0");
  setting.neighbours = static_cast<std::uint32_t>(arguments.number("neighbours", "0"));
  setting.mixture_rows = static_cast<std::uint32_t>(arguments.number("mixture_rows", "0"));
  setting.limit = arguments.number("limit", "20");
  setting.peers_out = arguments.number("peers_out", "0") != 0;
  codec::CoefficientStream random(setting.seed, 0x6c696e6b);
  setting.peers = peers_of(arguments, random);
  return setting;
}

nlohmann::json report(const Arguments& arguments, const Setting& setting, const LabRun& run,
                      bool done, double seconds, std::uint64_t events) {
  nlohmann::json out = {{"options", arguments.all()}, {"done", done}};
  out["result"] = summary(run);
  for (std::size_t i = 0; setting.peers_out && i < run.specs.size(); ++i) {
    out["peers"].push_back(peer_json(run.specs[i], run.results[i]));
    if (run.specs[i].film.rate > 0)
      out["peers"].back()["viewing"] = viewing_json(run.specs[i], run.results[i].viewing);
  }
  out["cost"] = cost(seconds, events);
  return out;
}

}  // namespace firn::sim
