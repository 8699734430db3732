// Bytes that came and went, for programs that sample them: counts that never fall.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "client/app/console/arrivals.h"

namespace firn::app {

struct TransferCounts {
  static constexpr std::size_t kOriginsMax = 32;  // further ones are counted as kOthers
  static constexpr const char* kOthers = "others";

  // Of contents, verified. What was lost and came again counts twice.
  std::uint64_t from_peers = 0, from_origins = 0;
  std::map<std::string, std::uint64_t> origins;  // the same by their servers: "https://HOST"
  // As Arrivals'.
  std::uint64_t redundant = 0, refused = 0;
  std::uint64_t received = 0, sent = 0;  // frames from and to peers

  void add_origin(const std::string& url, std::uint64_t bytes);
};

// Of a session, whose own figures may fall: files are lost, others are wanted.
class SessionCounts {
 public:
  // How it stands now; what is more than before is counted, also in `all`.
  void take(const Arrivals& arrivals, std::uint64_t received, std::uint64_t sent,
            TransferCounts& all);
  const TransferCounts& counts() const { return counts_; }

 private:
  TransferCounts last_, counts_;  // last_.origins: by URL
};

}  // namespace firn::app
