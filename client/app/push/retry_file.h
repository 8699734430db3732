// The file of `firn push --retry-failed`: the hosts that failed, one a line, as --hosts reads them.
#pragma once

#include <string>
#include <vector>

#include "client/app/push/host_row.h"
#include "proto/program/output_file.h"

namespace firn::app {

// It takes the place of an older one alone.
extern const FileKind kRetryFile;

// Without a failed host there is nothing but a comment, so that no older list is taken for this
// one.
std::string retry_file(const std::vector<HostRow>& rows);

}  // namespace firn::app
