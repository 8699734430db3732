// The generations in which a relay may have news for one neighbour: all except those in which it
// found none and nothing has changed since. A fast download has a thousand open generations;
// looking at each of them for each block would take more than a core (docs/lab/088).
#pragma once

#include <cstdint>

#include "client/core/neighbour/remote_holdings.h"
#include "client/core/rows/generation_set.h"
#include "client/core/rows/holdings.h"
#include "client/core/rows/recent_changes.h"

namespace firn::core::policy {

class Prospects {
 public:
  // Takes in what has changed since the last call, here and at the neighbour. Small meshes have
  // rules of their own for what is news: where `small_mesh` is another, all is to be looked at.
  void follow(const Holdings& holdings, const RemoteHoldings& its, bool small_mesh) {
    const auto add = [this](std::uint32_t g) { set_.add(g); };
    const bool known = set_.size() == holdings.generation_count() && small_mesh == small_mesh_ &&
                       holdings.changes().each_since(own_read_, add) &&
                       its.changes().each_since(its_read_, add);
    if (!known) set_ = GenerationSet::of_all(holdings.generation_count());
    small_mesh_ = small_mesh;
    own_read_ = holdings.changes().end();
    its_read_ = its.changes().end();
  }
  // Nothing in g, until something changes there.
  void none_in(std::uint32_t g) { set_.remove(g); }
  // As never looked at.
  void forget() { set_ = GenerationSet(); }
  const GenerationSet& set() const { return set_; }

 private:
  GenerationSet set_;
  bool small_mesh_ = false;
  RecentChanges::Position own_read_ = 0, its_read_ = 0;
};

}  // namespace firn::core::policy
