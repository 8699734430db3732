#include "client/app/session/progress_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/app/backends/accounting.h"
#include "client/app/console/quantities.h"
#include "client/content/entries_text.h"

namespace firn::app {

ProgressReport::ProgressReport(const SessionHost& host, const SessionPlan& plan,
                               const SessionOrigins& origins)
    : host_(host), plan_(plan), origins_(origins), began_at_(host.loop.now()) {}

void ProgressReport::started(const core::Report& report, const std::vector<bool>& chosen,
                             core::TimeUs now) {
  take_choice(report, chosen, now);
  stood_complete_ = report.bytes_wanted > 0 && report.bytes_verified == report.bytes_wanted;
  sample(report, now);
  host_.console.event(start_event(*plan_.manifest, report, host_.listen));
  say_start();
}

void ProgressReport::chosen(const core::Report& report, const std::vector<bool>& chosen,
                            core::TimeUs now) {
  take_choice(report, chosen, now);
  stood_complete_ = false;
  sample(report, now);
  host_.console.info(fmt::format("{}: wanted from now on: {}", plan_.name(), size_words()),
                     plan_.content_id);
}

void ProgressReport::take_choice(const core::Report& report, const std::vector<bool>& chosen,
                                 core::TimeUs now) {
  const Info& info = plan_.manifest->info;
  part_ = chosen.empty()
              ? ""
              : content::part_of_entries(content::chosen_entries(info, chosen).size(), info.files);
  rank_at_start_ = report.rank;
  stood_bytes_ = report.bytes_verified - std::min(report.bytes_verified, report.bytes_from_origins);
  chosen_at_ = now;
}

// Of what came twice, by a change of mind or as files were lost, only once.
Arrivals ProgressReport::arrivals() const {
  Arrivals arrivals;
  arrivals.origins = origins_.figures();
  arrivals.from_origins = last_.bytes_from_origins;
  const std::uint64_t not_from_peers = stood_bytes_ + last_.bytes_from_origins;
  arrivals.from_peers = last_.bytes_verified - std::min(last_.bytes_verified, not_from_peers);
  if (!plan_.manifest) return arrivals;
  const std::uint64_t block_bytes = plan_.manifest->info.shape.block_bytes;
  arrivals.redundant = last_.blocks_redundant * block_bytes;
  arrivals.refused = last_.blocks_refused * block_bytes;
  return arrivals;
}

std::string ProgressReport::size_words() const {
  return (part_.empty() ? "" : part_ + ", ") + format_bytes(last_.bytes_wanted);
}

void ProgressReport::say_start() const {
  const std::string name = plan_.name();
  const std::string size = (part_.empty() ? "" : part_ + ", ") + format_bytes(last_.bytes_wanted);
  const auto info = [this](const std::string& text) { host_.console.info(text, plan_.content_id); };
  if (plan_.serves()) {
    info(fmt::format("serving {} ({}) on {}", name, size, host_.listen));
  } else if (stood_complete_) {
    info(fmt::format("{} stands complete in {}", part_.empty() ? name : name + " (" + part_ + ")",
                     plan_.dir));
  } else if (last_.rank > 0) {
    const double percent =
        100.0 * static_cast<double>(last_.rank) / static_cast<double>(last_.rank_total);
    info(fmt::format("{}: going on at {:.1f}% of {} ({} verified)", name, percent, size,
                     format_bytes(last_.bytes_verified)));
    host_.console.debug(fmt::format("{}: rank {} of {}", name, last_.rank, last_.rank_total));
  } else {
    const bool here = plan_.dir == ".";
    info(fmt::format("{}: {} to {}", name, size,
                     plan_.to_stdout ? "standard output"
                     : here          ? "the current folder"
                                     : plan_.dir));
  }
}

void ProgressReport::say_end(core::TimeUs now) const {
  const Shape& shape = plan_.manifest->info.shape;
  const std::uint64_t came =
      std::min(last_.bytes_wanted, (last_.rank_total - rank_at_start_) * shape.block_bytes);
  const std::string sources = arrival_words(arrivals());
  const double took = std::max(0.1, 1e-6 * static_cast<double>(now - chosen_at_));
  host_.console.info(fmt::format("{}: {}complete and verified; {} came in {}, {} on average{}",
                                 plan_.name(), part_.empty() ? "" : part_ + " ", format_bytes(came),
                                 took < 60 ? fmt::format("{:.1f}s", took) : format_seconds(took),
                                 format_rate(static_cast<double>(came) / took),
                                 sources.empty() ? "" : "; " + sources),
                     plan_.content_id);
}

void ProgressReport::take(const core::Report& report) {
  last_ = report;
  counts_.take(arrivals(), last_.bytes_received, last_.bytes_sent, host_.counts);
}

void ProgressReport::sample(const core::Report& report, core::TimeUs now) {
  take(report);
  down_.sample(last_.bytes_received + last_.bytes_from_origins, now);
  up_.sample(last_.bytes_sent, now);
  const std::uint64_t k = plan_.manifest ? plan_.manifest->info.shape.block_bytes : 1;
  blocks_.sample(last_.blocks_innovative + last_.bytes_from_origins / k, now);
  note_damage();
  tell_complete_peers();
}

void ProgressReport::tell_complete_peers() {
  constexpr std::size_t kToldMax = 10'000;  // fresh keys cost nothing
  constexpr std::size_t kNamedMax = 4;
  std::size_t fresh = 0;
  std::string names;
  for (const core::NeighbourReport& peer : last_.neighbours) {
    if (!peer.complete || complete_peers_.size() == kToldMax) continue;
    if (!complete_peers_.insert(peer.id).second) continue;
    if (fresh++ < kNamedMax)
      names += (names.empty() ? "" : ", ") + peer.id.short_text() + " at " + peer.endpoint;
    host_.console.event(about({{"event", "peer_complete"},
                               {"peer", peer.id.text()},
                               {"address", peer.endpoint},
                               {"complete_peers", complete_peers_.size()}},
                              plan_.content_id));
  }
  if (fresh == 0) return;
  if (fresh > kNamedMax) names += fmt::format(" and {} more", fresh - kNamedMax);
  const std::size_t count = complete_peers_.size();
  host_.console.info(fmt::format("{}: {} {} everything; the latest: {}", plan_.name(), count,
                                 count == 1 ? "peer has" : "peers have", names),
                     plan_.content_id);
}

void ProgressReport::note_damage() {
  const bool was = !damage_.empty();
  const bool is = last_.complete && last_.generations_lost > 0;
  if (!was && !is) return;
  const std::uint32_t all = plan_.manifest->info.shape.generation_count();
  damage_ = is ? fmt::format("{} of {} generations are not served; the first: {}",
                             last_.generations_lost, all, last_.first_loss)
               : "";
  if (was == is) return;
  if (!is) host_.console.info(plan_.name() + ": all of it is served again", plan_.content_id);
  host_.console.event(about(damage_event(last_.generations_lost, all, damage_), plan_.content_id));
}

void ProgressReport::progressed(core::TimeUs now) const {
  host_.console.event(
      progress_event(plan_.content_id, seconds(now), last_, figures(last_.complete)));
}

void ProgressReport::completed(const core::Report& report, const ServingCounts::Figures& served,
                               core::TimeUs now) {
  take(report);
  Json complete = complete_event(*plan_.manifest, seconds(now), last_);
  complete.update(arrival_members(arrivals()));
  complete["stages"] = stages_json(host_.stages.times());
  complete["codec"] = codec_json(host_.coding.coder);
  complete["serving"] = serving_json(served);
  host_.console.event(complete);
  host_.console.clear_progress();  // other contents' comes again with the next report
  if (!stood_complete_) say_end(now);
}

void ProgressReport::left(const ServingCounts::Figures& served, core::TimeUs now) const {
  ProgressFigures at_rest = figures(last_.complete);
  at_rest.rest();
  host_.console.event(progress_event(plan_.content_id, seconds(now), last_, at_rest));
  const Json stages{{"event", "stages"},
                    {"stages", stages_json(host_.stages.times())},
                    {"codec", codec_json(host_.coding.coder)},
                    {"serving", serving_json(served)}};
  host_.console.event(about(stages, plan_.content_id));
  host_.console.debug("time went to: " + stages_line(host_.stages.times()));
}

ProgressFigures ProgressReport::figures(bool seeding) const {
  ProgressFigures figures;
  figures.name = plan_.name();
  figures.rank = last_.rank;
  figures.rank_total = last_.rank_total;
  figures.down_rate = down_.per_second();
  figures.up_rate = up_.per_second();
  figures.peers = last_.peers;
  figures.complete_peers = complete_peers_.size();
  figures.seeding = seeding;
  figures.bytes_sent = last_.bytes_sent;
  figures.damage = damage_;
  figures.arrivals = arrivals();
  figures.bytes_wanted = last_.bytes_wanted;
  // Received bytes include control messages, so the ETA counts blocks that are new.
  if (const std::uint64_t missing = last_.rank_total - last_.rank; missing > 0)
    figures.seconds_left = static_cast<double>(missing) / blocks_.per_second();
  return figures;
}

}  // namespace firn::app
