// What all sessions of a process share; the driver owns it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "client/app/coding/coded_content.h"
#include "client/app/console/console.h"
#include "client/app/net/connections.h"
#include "client/app/origin/transfers.h"
#include "client/app/reading/reading_list.h"
#include "client/app/runtime/event_loop.h"
#include "client/app/session/session_plan.h"
#include "client/app/session/transfer_counts.h"
#include "proto/base/stage_times.h"
#include "proto/transport/identity.h"

namespace firn::app {

struct SessionHost {
  EventLoop& loop;
  Connections& connections;
  CodingResources coding;
  Console& console;
  ReadingList& readings;
  const StageClock& stages;
  TransferCounts& counts;  // of all sessions, also those that have ended
  const proto::transport::Identity& identity;
  std::size_t row_bytes_max;      // for each session
  std::string listen;             // "ID@HOST:PORT", for people
  std::function<void()> changed;  // a session wants a turn
  // What fetches from origins; null where none can be: that has been said.
  std::function<std::shared_ptr<Transfers>()> transfers;
  // Another session downloads a content of this one's name into the same folder.
  std::function<bool(const SessionPlan&)> target_taken;
};

}  // namespace firn::app
