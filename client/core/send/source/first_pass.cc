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
  go_on();
}

void FirstPass::go_on() {
  while (cursor_ < served_.size() && (whole(cursor_) || left_out_.contains(cursor_))) ++cursor_;
  passed_ = std::max(passed_, cursor_);
}

// The neighbour that wanted the last generation probably wants this one.
bool FirstPass::wanted(std::uint32_t g, const Neighbours& neighbours) {
  const Neighbour* last = neighbours.find(witness_);
  if (last && last->holds.wants(g)) return true;
  const auto first =
      std::ranges::find_if(neighbours, [g](const Neighbour& n) { return n.holds.wants(g); });
  if (first == neighbours.end()) return false;
  witness_ = first->key;
  return true;
}

void FirstPass::leave_out_unwanted(const Neighbours& neighbours) {
  if (neighbours.empty()) return;
  while (cursor_ < served_.size() && !wanted(cursor_, neighbours)) {
    left_out_.add(cursor_);
    go_on();
  }
}

void FirstPass::told(const Neighbour& n) {
  if (left_out_.count() == 0) return;
  const GenerationSet& settled = n.holds.settled();
  std::uint32_t g = left_out_.next_common(0, left_out_, settled);
  if (g < cursor_) cursor_ = passed_ = g;
  for (; g < left_out_.size(); g = left_out_.next_common(g + 1, left_out_, settled))
    left_out_.remove(g);
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
