#include "client/app/driver/progress_ticker.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "client/app/session/peer_table.h"

namespace firn::app {
namespace {

constexpr core::TimeUs kProgressInterval = core::kSecond;

void add(ProgressFigures& sum, const ProgressFigures& one) {
  sum.rank += one.rank;
  sum.rank_total += one.rank_total;
  sum.down_rate += one.down_rate;
  sum.up_rate += one.up_rate;
  sum.peers += one.peers;
  sum.complete_peers += one.complete_peers;
  if (!one.seeding) sum.seconds_left = std::max(sum.seconds_left, one.seconds_left);
  sum.seeding &= one.seeding;
  sum.bytes_wanted += one.bytes_wanted;
  sum.name = one.name;
}

}  // namespace

void ProgressTicker::start(core::TimeUs now) {
  progress_at_ = now + kProgressInterval;
  await_peers(now);
}

void ProgressTicker::wake(core::TimeUs now, bool stopping) {
  if (now >= progress_at_) report(now, stopping);
  if (now >= peers_at_) show_peers(now);
}

core::TimeUs ProgressTicker::next_wake() const {
  return std::min(progress_at_, peers_at_);
}

void ProgressTicker::await_peers(core::TimeUs now) {
  peers_at_ = peers_interval_ > 0 ? now + peers_interval_ : core::kNever;
}

void ProgressTicker::show_peers(core::TimeUs now) {
  await_peers(now);
  for (const auto& session : sessions_.all()) show_peers_of(*session);
}

void ProgressTicker::show_peers_of(ContentSession& session) {
  const auto view = swarm_view(session);
  if (!view) return;
  for (const std::string& line : peer_table(session.plan().name(), view->peers))
    console_.show(line);
  console_.event(peers_event(session.plan().content_id, view->peers));
}

void ProgressTicker::tell_reasons() {
  const auto before = std::exchange(reasons_, {});
  for (const auto& session : sessions_.all()) {
    const auto view = swarm_view(*session);
    if (!view) continue;
    const ContentId& content = session->plan().content_id;
    for (const core::PeerStatus& peer : view->peers) {
      const Reasons now{peer.not_sent, peer.not_received};
      reasons_[{content, peer.id}] = now;
      const auto known = before.find({content, peer.id});
      if (now == (known != before.end() ? known->second : Reasons{})) continue;
      console_.debug(fmt::format("peer {} at {}: no blocks to it: {}; none from it: {}",
                                 peer.id.text(), peer.endpoint, why_not_words(peer.not_sent),
                                 why_not_words(peer.not_received)));
    }
  }
}

void ProgressTicker::report(core::TimeUs now, bool stopping) {
  progress_at_ = now + kProgressInterval;
  if (console_.verbose()) tell_reasons();
  console_.tell_passed_over(now);
  ProgressFigures all;
  all.seeding = true;
  all.seconds_left = 0;
  bool running = false;
  for (const auto& session : sessions_.all()) {
    session->report_progress(now);
    if (session->ended()) continue;
    // A download that is complete has said so.
    if (session->complete() && !session->plan().serves()) continue;
    running |= session->running();
    add(all, session->figures());
  }
  const std::size_t count = sessions_.all().size();
  if (count > 1) all.name = std::to_string(count) + " contents";
  if (running && !stopping) {
    console_.progress(all);
  } else if (std::ranges::all_of(sessions_.all(), [](const auto& s) { return s->complete(); })) {
    console_.clear_progress();
  }
}

}  // namespace firn::app
