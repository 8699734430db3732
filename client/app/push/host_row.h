// What the table of `firn push` shows of one host. The host's state machine fills it; the table,
// the events and the closing lines read it. Texts come from the remote as they are: who shows them
// escapes them.
#pragma once

#include <cstdint>
#include <string>

namespace firn::app {

// In this order; a host never goes back.
enum class HostState {
  kWaiting,     // for its turn to log in (--parallel)
  kConnecting,  // ssh runs, and the remote has not answered
  kStarting,    // the remote has answered: firn is copied there or started
  kReceiving,
  kComplete,
  kFailed,
};

struct HostRow {
  std::string host;  // as given: may hold user@ and brackets
  std::string dir;   // empty: the folder where a login begins
  HostState state = HostState::kWaiting;
  std::uint64_t done = 0;   // bytes that the host has
  std::uint64_t total = 0;  // 0: not known yet
  double rate = 0;          // bytes per second
  std::string reason;       // why the host failed, or why nothing comes; empty: nothing is wrong
  std::string way;          // "called it", "it called", "through ssh"; empty: no connection yet
  int code = -1;            // exit code of ssh, which is firn's there; -1: it has not ended
  std::string last;         // the last line that firn said there
  double seconds = 0;       // since ssh was started, until the host was complete or failed
};

}  // namespace firn::app
