// What the load asks for: which party announces which contents, and from which address. The sizes
// of swarms follow Zipf's law: the r-th content has a share that goes with r^-s.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "proto/base/ids.h"

namespace firn::tracker_load {

using Chance = std::mt19937_64;

struct WorkloadOptions {
  std::size_t contents = 100;
  double zipf = 1;
  std::size_t contents_of_party = 4;  // announced in turn; drawn, so some may be the same
  std::uint32_t peers_wanted = 50;
  double complete_share = 0.2;
  std::uint64_t seed = 1;
};

// Constant; any thread.
class Workload {
 public:
  explicit Workload(const WorkloadOptions& options);

  const WorkloadOptions& options() const { return options_; }
  // Numbers of contents, of party `number`; always the same.
  std::vector<std::uint32_t> contents_of(std::size_t number) const;
  bool is_complete(std::size_t number) const;
  // A frame: the announce of a content. Parties differ by identity and address alone.
  const std::string& announce(std::uint32_t content, bool complete) const {
    return frames_[2 * content + (complete ? 1 : 0)];
  }
  const ContentId& id_of(std::uint32_t content) const { return ids_[content]; }

 private:
  Chance chance_of(std::size_t number) const;

  WorkloadOptions options_;
  std::vector<double> shares_;  // running sums, up to 1
  std::vector<ContentId> ids_;
  std::vector<std::string> frames_;
};

// Of the loopback network: 250 * 250 prefixes (/24) with 4 addresses each.
std::string source_ip(std::size_t number);

}  // namespace firn::tracker_load
