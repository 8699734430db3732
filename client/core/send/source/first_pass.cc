#include "client/core/send/source/first_pass.h"

#include <algorithm>

#include "client/core/send/source/lost_rows.h"

namespace firn::core::policy {

void FirstPass::served(PeerKey peer, std::uint32_t g) {
  Given& given = given_[peer];
  if (!given.empty() && given.back().first == g) {
    ++given.back().second;
  } else {
    if (given.size() == kGivenKept) given.pop_front();
    given.emplace_back(g, 1);
  }
  ++served_[g];
  while (cursor_ < served_.size() && whole(cursor_)) ++cursor_;
  passed_ = std::max(passed_, cursor_);
}

void FirstPass::take_back(const Neighbours& neighbours) {
  for (const Neighbour& n : neighbours) {
    const auto given = n.sink() ? given_.find(n.key) : given_.end();
    if (given == given_.end()) continue;
    for (const auto& [g, blocks] : given->second) {
      if (somebody_has(neighbours, g)) continue;
      served_[g] -= std::min(served_[g], blocks);
      if (!whole(g)) cursor_ = std::min(cursor_, g);
    }
    given_.erase(given);
  }
}

}  // namespace firn::core::policy
