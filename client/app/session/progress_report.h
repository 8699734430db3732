// What a session tells of its progress: lines for people, events for programs, figures for the
// progress bar.
#pragma once

#include <set>

#include "client/app/coding/serving_counts.h"
#include "client/app/console/progress_bar.h"
#include "client/app/session/counter_rate.h"
#include "client/app/session/session_host.h"
#include "client/app/session/session_origins.h"
#include "client/app/session/session_plan.h"
#include "client/app/session/transfer_counts.h"
#include "client/core/base/types.h"
#include "client/core/view/report.h"

namespace firn::app {

// Main thread.
class ProgressReport {
 public:
  // Time counts from now on.
  ProgressReport(const SessionHost& host, const SessionPlan& plan, const SessionOrigins& origins);

  // The core has started. `chosen`: the files that are wanted; empty: all.
  void started(const core::Report& report, const std::vector<bool>& chosen, core::TimeUs now);
  // Other files are wanted from now on.
  void chosen(const core::Report& report, const std::vector<bool>& chosen, core::TimeUs now);
  // How things stand; about once a second, for the rates. With the neighbours, if
  // wants_neighbours(). Tells if that is new: the content is complete and has lost generations, or
  // has them again.
  void sample(const core::Report& report, core::TimeUs now);
  bool wants_neighbours() const { return plan_.serves(); }
  // A progress event, from the last sample.
  void progressed(core::TimeUs now) const;
  void completed(const core::Report& report, const ServingCounts::Figures& served,
                 core::TimeUs now);
  // The core's last report.
  void leaving(const core::Report& report) { take(report); }
  // The last events of a session that had opened its store.
  void left(const ServingCounts::Figures& served, core::TimeUs now) const;

  ProgressFigures figures(bool seeding) const;
  const TransferCounts& counts() const { return counts_.counts(); }

 private:
  void take(const core::Report& report);
  void take_choice(const core::Report& report, const std::vector<bool>& chosen, core::TimeUs now);
  Arrivals arrivals() const;
  std::string size_words() const;
  void say_start() const;
  void say_end(core::TimeUs now) const;
  void note_damage();
  void tell_complete_peers();
  double seconds(core::TimeUs now) const { return 1e-6 * static_cast<double>(now - began_at_); }

  const SessionHost& host_;
  const SessionPlan& plan_;
  const SessionOrigins& origins_;
  const core::TimeUs began_at_;
  core::TimeUs chosen_at_ = 0;
  CounterRate down_, up_;  // bytes
  CounterRate blocks_;     // innovative ones
  core::Report last_;
  SessionCounts counts_;
  std::string damage_;
  std::set<PeerId> complete_peers_;  // those that were told, also of peers that have left
  std::uint64_t rank_at_start_ = 0;
  std::uint64_t stood_bytes_ = 0;  // verified then, without those from origins
  std::string part_;               // how many files are wanted, for people; empty: all
  bool stood_complete_ = false;    // an earlier run left nothing to do
};

}  // namespace firn::app
