// What a session shows of itself when it is asked, or when nothing comes.
#include <fmt/format.h>
#include <cmath>
#include <nlohmann/json.hpp>

#include "client/app/content_session.h"
#include "client/app/peer_table.h"
#include "client/app/quantities.h"

namespace firn::app {

void ContentSession::show_peers() const {
  if (!core_ || phase_ >= Phase::kLeaving) return;
  const std::vector<core::PeerStatus> peers = core_->peers();
  for (const std::string& line : peer_table(name(), peers)) host_.console.show(line);
  host_.console.event(peers_event(plan_.content_id, peers));
}

std::string ContentSession::why_it_waits(core::TimeUs now) const {
  return core_ ? reason_of(core_->standstill(), now).text : "";
}

// A store that is being opened shows its own progress, and a peer that serves waits for nobody.
bool ContentSession::awaits_progress() const {
  return core_ && plan_.mode == SessionPlan::Mode::kDownload && !complete_ && !stopping_ &&
         !timed_out_ && !spoiled_ && (phase_ == Phase::kWaiting || phase_ == Phase::kRunning);
}

void ContentSession::watch_progress(core::TimeUs now) {
  if (!awaits_progress()) return;
  const core::TimeUs progressed = core_->progressed_at();
  if (!patience_.due(progressed, now)) return;
  const Reason reason = reason_of(core_->standstill(), now);
  const double quiet = 1e-6 * static_cast<double>(now - progressed);
  if (patience_.review(reason, progressed, now)) {
    host_.console.event(about(standstill_event(reason.name, reason.text, quiet), plan_.content_id));
    host_.console.warning(fmt::format("{}: nothing has come for {}: {}", name(),
                                      format_seconds(std::floor(quiet)), reason.text),
                          plan_.content_id);
  }
  if (patience_.over(progressed, now)) give_up(reason);
}

// Leaves the swarm cleanly, and keeps what there is: the same command goes on with it.
void ContentSession::give_up(const Reason& reason) {
  timed_out_ = true;
  result_ = ExitCode::kNetwork;
  host_.console.error(
      "timeout",
      fmt::format("get {}: no progress for {}: {}; the same command goes on where it stopped",
                  name(), format_duration(plan_.timeout), reason.text),
      plan_.content_id);
  core_->stop(now());
  changed();
}

}  // namespace firn::app
