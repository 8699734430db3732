#include "client/app/push/retry_file.h"

#include "client/app/push/host_list.h"

namespace firn::app {
namespace {

constexpr std::string_view kFirstLine = "# firn push: hosts that failed\n";

bool begins_as_retry_file(std::string_view head) {
  return head.starts_with(kFirstLine);
}

}  // namespace

const FileKind kRetryFile{"list of firn push --retry-failed", begins_as_retry_file};

std::string retry_file(const std::vector<HostRow>& rows) {
  std::string text(kFirstLine);
  for (const HostRow& row : rows)
    if (row.state == HostState::kFailed) text += host_text(row.host, row.dir) + "\n";
  return text;
}

}  // namespace firn::app
