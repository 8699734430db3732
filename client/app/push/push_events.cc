#include "client/app/push/push_events.h"

#include <nlohmann/json.hpp>

namespace firn::app {
namespace {

struct HostSums {
  std::size_t complete = 0;
  std::size_t failed = 0;
  std::uint64_t bytes = 0;
  double down_rate = 0;
};

HostSums sums_of(const std::vector<HostRow>& rows) {
  HostSums sums;
  for (const HostRow& row : rows) {
    sums.complete += row.state == HostState::kComplete ? 1 : 0;
    sums.failed += row.state == HostState::kFailed ? 1 : 0;
    sums.bytes += row.done;
    sums.down_rate += row.rate;
  }
  return sums;
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

}  // namespace

const char* host_state_name(HostState state) {
  switch (state) {
    case HostState::kWaiting:
      return "waiting";
    case HostState::kConnecting:
      return "connecting";
    case HostState::kStarting:
      return "starting";
    case HostState::kReceiving:
      return "receiving";
    case HostState::kComplete:
      return "complete";
    case HostState::kFailed:
      return "failed";
  }
  return "failed";
}

Json push_host_event(const HostRow& row) {
  return {{"event", "push_host"},
          {"host", row.host},
          {"dir", text_or_null(row.dir)},
          {"state", host_state_name(row.state)},
          {"bytes_done", row.done},
          {"bytes_total", row.total == 0 ? Json() : Json(row.total)},
          {"down_rate", row.rate},
          {"reason", text_or_null(row.reason)},
          {"way", text_or_null(row.way)},
          {"code", row.code < 0 ? Json() : Json(row.code)},
          {"last_line", text_or_null(row.last)},
          {"seconds", row.seconds}};
}

Json push_progress_event(const std::vector<HostRow>& rows, double seconds) {
  const HostSums sums = sums_of(rows);
  return {{"event", "push_progress"}, {"hosts", rows.size()},     {"complete", sums.complete},
          {"failed", sums.failed},    {"bytes_done", sums.bytes}, {"down_rate", sums.down_rate},
          {"seconds", seconds}};
}

Json push_end_event(const std::vector<HostRow>& rows, double seconds) {
  const HostSums sums = sums_of(rows);
  return {{"event", "push_end"},   {"hosts", rows.size()},     {"complete", sums.complete},
          {"failed", sums.failed}, {"bytes_done", sums.bytes}, {"seconds", seconds}};
}

}  // namespace firn::app
