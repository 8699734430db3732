// What /metrics tells of this process (docs/operations.md), as the main thread found it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/app/session/transfer_counts.h"

namespace firn::app {

struct MetricsFacts {
  static constexpr std::size_t kContentsMax = 200;  // with figures of their own
  // Of a content's id: commands find it by them, and nobody can fetch it who knows no more.
  static constexpr std::size_t kIdLetters = 16;

  struct Content {
    std::string id;    // its first letters
    std::string name;  // a stranger's text; empty: it is private, or has no session
    std::string state;
    std::string waits_for;  // Reason::name
    std::optional<double> share;
    std::uint64_t bytes_wanted = 0;
    std::uint64_t peers = 0;
    TransferCounts counts;
  };
  using Counts = std::map<std::string, std::uint64_t>;  // by what is counted

  Counts states;          // contents
  Counts waiting;         // contents that miss something of which nothing comes, by the reason
  Counts unserved_peers;  // by the reason why no blocks go to them
  std::uint64_t peers = 0;
  std::uint64_t failing_origins = 0;
  TransferCounts counts;  // since the start
  // Those that are active or have failed, incomplete ones first.
  std::vector<Content> contents;
  std::uint64_t unlisted = 0;  // how many more there are
};

// All that is counted by names, each 0.
MetricsFacts no_facts();

}  // namespace firn::app
