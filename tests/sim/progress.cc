#include "tests/sim/progress.h"

#include <algorithm>

#include "codec/span_basis.h"
#include "tests/sim/network.h"

namespace firn::sim {

void Progress::begin() {
  network_.events().after(core::kSecond, [this] {
    look();
    begin();
  });
}

void Progress::look() {
  const core::TimeUs now = network_.events().now();
  seen_.resize(network_.size());
  for (std::size_t i = 0; i < network_.size(); ++i) {
    Peer& peer = network_.peer(i);
    const bool waits = peer.working() && !peer.spec().hostile() && !peer.complete();
    const std::uint64_t rank = waits ? peer.report().rank : 0;
    if (!waits || rank != seen_[i].rank) seen_[i] = {rank, now};
    // What it could have is looked at only now and then: it costs.
    if (now - seen_[i].since < kPatience) {
      if ((now - seen_[i].since) % (10 * core::kSecond) != 0) continue;
      if (!full_rank(reachable(i))) seen_[i].since = now;
      continue;
    }
    if (full_rank(reachable(i))) {
      network_.note(i, "stands still, and those it can reach hold what it lacks");
    }
    seen_[i].since = now;
  }
}

std::vector<std::size_t> Progress::reachable(std::size_t peer) const {
  std::vector<std::size_t> found{peer};
  const auto add = [&](std::size_t other) {
    const Peer& p = network_.peer(other);
    if (!p.working() || p.spec().hostile()) return;
    if (std::find(found.begin(), found.end(), other) == found.end()) found.push_back(other);
  };
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const auto& [key, c] : network_.connections_) {
      if (c.closing) continue;
      if (c.a == found[i]) add(c.b);
      if (c.b == found[i]) add(c.a);
    }
  }
  return found;
}

bool Progress::full_rank(const std::vector<std::size_t>& peers) const {
  const Shape& shape = network_.content().manifest.info.shape;
  for (std::uint32_t g = 0; g < shape.generation_count(); ++g) {
    codec::SpanBasis span(shape.blocks_in(g));
    bool whole = false;
    for (const std::size_t i : peers) {
      const Disk& disk = network_.peer(i).disk;
      whole |= disk.verified.contains(g);
      const auto end = disk.rows.lower_bound({g + 1, 0});
      for (auto row = disk.rows.lower_bound({g, 0}); !whole && row != end; ++row) {
        span.insert(row->second.vector);
      }
    }
    if (!whole && !span.full()) return false;
  }
  return true;
}

}  // namespace firn::sim
