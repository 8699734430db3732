// The commit that the program was built from, as `--version` tells it: what a report of an error or
// a measured figure is about.
#pragma once

#include <string>

namespace firn {

// Abbreviated, with "-dirty" where files had been changed; empty where the build did not know it
// (an unpacked archive).
const char* build_commit();

// VERSION (COMMIT), or VERSION alone.
inline std::string version_text(const char* version) {
  const std::string commit = build_commit();
  return commit.empty() ? std::string(version) : std::string(version) + " (" + commit + ")";
}

}  // namespace firn
