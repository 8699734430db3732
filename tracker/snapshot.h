// How a tracker stands at a moment, for people who look at it: counts, and its largest swarms. It
// names no peers: who shares what is for those who announce themselves.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "proto/base/ids.h"
#include "proto/messages.h"
#include "tracker/publisher_ledger.h"

namespace firn::tracker {

// By proto::TrackerErrorCode.
using RefusalCounts =
    std::array<std::uint64_t, static_cast<std::size_t>(proto::TrackerErrorCode::kNotAllowed) + 1>;

// How the link to Redis stands, where there is one.
struct RedisState {
  bool used = false;
  bool connected = false;
  std::uint64_t lost_count = 0;      // since the start: connections, and each first one that failed
  std::uint64_t lag_ms = 0;          // since Redis last answered
  std::uint64_t rejected_count = 0;  // entries that no tracker wrote
};

struct Snapshot {
  static constexpr std::size_t kSwarmsMax = 200;  // that are listed

  struct Line {
    ContentId content;
    std::string name = {};  // as its manifest says; empty: no manifest is hosted, or it is private
    std::uint32_t complete = 0;
    std::uint32_t incomplete = 0;
    std::optional<std::uint32_t> percent = {};  // as Swarm::mean_percent()
  };
  struct PublisherLine {
    PublicKey key;
    PublisherUse use;
    PublisherLimits limits;
  };
  std::uint64_t swarm_count = 0;
  std::uint64_t complete_count = 0;  // peers, over all swarms
  std::uint64_t incomplete_count = 0;
  std::uint64_t connection_count = 0;
  std::uint64_t announce_count = 0;  // answered since the start
  std::uint64_t accepted_count = 0;  // connections since the start
  std::chrono::seconds interval{0};  // between announces of a peer
  std::chrono::microseconds lag{0};  // of the I/O thread that is behind most
  RefusalCounts refusals{};          // requests that were answered with an error, by its code
  std::uint64_t unwritten = 0;       // shards of the contents whose registry cannot be written now
  RedisState redis;                  // of the whole tracker
  std::vector<Line> largest;         // most peers first, kSwarmsMax at most
  // Listed ones that have contents; the same order and bound.
  std::vector<PublisherLine> publishers;

  std::uint64_t refusal_count() const {
    return std::accumulate(refusals.begin(), refusals.end(), std::uint64_t{0});
  }
  // Puts most peers first and drops the smallest. Equal ones stand by their ids: the same each
  // time.
  void sort();
  // Of another shard of the contents.
  void add(const Snapshot& other);
};

}  // namespace firn::tracker
