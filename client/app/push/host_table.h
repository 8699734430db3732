// What `firn push` says of its hosts: a table that is redrawn on a terminal, lines elsewhere, one
// line a host at the end. No I/O. All lines are escaped.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "client/app/push/host_row.h"

namespace firn::app {

// "41 of 64 have it, 2 failed, 12.3 MiB/s, least at node7: 43.0%".
std::string hosts_summary(const std::vector<HostRow>& rows);

// At most `lines` lines, each at most `columns` wide; the summary is the last. Where there are more
// hosts than lines: those that failed, then those with the least.
std::vector<std::string> host_table(const std::vector<HostRow>& rows, std::size_t columns,
                                    std::size_t lines);

// Where nothing can be redrawn: a line for each host that began to receive, has all or failed.
class HostChanges {
 public:
  // Those since the last call. `rows` are the same hosts in the same order each time.
  std::vector<std::string> take(const std::vector<HostRow>& rows);

 private:
  std::vector<HostState> said_;
};

// "HOST  ok  BYTES  SECONDS  HOW  CODE  LAST", a line for each host.
std::vector<std::string> closing_lines(const std::vector<HostRow>& rows);

}  // namespace firn::app
