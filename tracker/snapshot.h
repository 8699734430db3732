// How a tracker stands at a moment, for people who look at it: counts, and its largest swarms. It
// names no peers: who shares what is for those who announce themselves.
#pragma once

#include <cstdint>
#include <vector>

#include "proto/base/ids.h"

namespace firn::tracker {

struct Snapshot {
  static constexpr std::size_t kSwarmsMax = 200;  // that are listed

  struct Line {
    ContentId content;
    std::uint32_t complete = 0;
    std::uint32_t incomplete = 0;
  };
  std::uint64_t swarm_count = 0;
  std::uint64_t complete_count = 0;  // peers, over all swarms
  std::uint64_t incomplete_count = 0;
  std::uint64_t connection_count = 0;
  std::uint64_t announce_count = 0;  // answered since the start
  std::uint64_t refusal_count = 0;   // requests that were answered with an error
  std::vector<Line> largest;         // most peers first, kSwarmsMax at most

  // Puts most peers first and drops the smallest. Equal ones stand by their ids: the same each
  // time.
  void sort();
  // Of another shard of the contents.
  void add(const Snapshot& other);
};

}  // namespace firn::tracker
