// What is shown of all sessions at intervals: their progress each second, the table of peers as
// often as the user asked for, and with -v what keeps blocks from going to a peer and from coming,
// whenever that changes.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "client/app/console/console.h"
#include "client/app/driver/session_list.h"
#include "client/core/base/types.h"

namespace firn::app {

// Main thread.
class ProgressTicker {
 public:
  // `peers_interval` 0: no tables but those of show_peers().
  ProgressTicker(const SessionList& sessions, Console& console, core::TimeUs peers_interval)
      : sessions_(sessions), console_(console), peers_interval_(peers_interval) {}

  void start(core::TimeUs now);
  // Shows what is due. `stopping`: the bar is left as it is.
  void wake(core::TimeUs now, bool stopping);
  core::TimeUs next_wake() const;
  // At once; the next interval begins.
  void show_peers(core::TimeUs now);

 private:
  void await_peers(core::TimeUs now);
  // The table of its peers, on stderr, and a peers event.
  void show_peers_of(ContentSession& session);
  void report(core::TimeUs now, bool stopping);
  void tell_reasons();

  const SessionList& sessions_;
  Console& console_;
  const core::TimeUs peers_interval_;
  core::TimeUs progress_at_ = 0;
  core::TimeUs peers_at_ = core::kNever;
  // As told last, of the peers that were connected then.
  using Reasons = std::pair<std::optional<core::WhyNot>, std::optional<core::WhyNot>>;
  std::map<std::pair<ContentId, PeerId>, Reasons> reasons_;
};

}  // namespace firn::app
