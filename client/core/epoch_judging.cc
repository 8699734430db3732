#include "client/core/epoch_judging.h"

#include <utility>

namespace firn::core {

EpochJudging::EpochJudging(const Epochs& epochs, Timekeeping& timekeeping,
                           const Generations& generations, Judging& judging)
    : epochs_(epochs), timekeeping_(timekeeping), generations_(generations), judging_(judging) {}

void EpochJudging::learned(const proto::Epoch& epoch) {
  if (speakers_ != epochs_.speakers()) keys_.clear();
  speakers_ = epochs_.speakers();
  const Holdings& holdings = generations_.holdings();
  std::erase_if(keys_, [&](const auto& key) { return !holdings.find_open(key.first); });
  for (const proto::EpochSums& one : epoch.sums) {
    if (!holdings.find_open(one.generation)) continue;
    CheckStatement stated{epochs_.speaker(),
                          {epoch.key.begin(), epoch.key.end()},
                          {one.sums.begin(), one.sums.end()}};
    keys_[one.generation] = {epoch.time_us, std::move(stated)};
  }
  if (epoch.alarm) {
    for (const auto& [g, open] : holdings.open()) {
      if (open.proven < open.rows) timekeeping_.want(g);
    }
  }
  due_ = true;
}

void EpochJudging::step() {
  if (!due_ && bounds_ == timekeeping_.bounds()) return;
  due_ = false;
  bounds_ = timekeeping_.bounds();
  if (!timekeeping_.authority_clock().known()) return;
  for (const auto& [g, key] : keys_) judge(g, key);
}

void EpochJudging::judge(std::uint32_t g, const Key& key) {
  const OpenGeneration* open = generations_.holdings().find_open(g);
  if (!open || open->proven == open->rows || judging_.under_way(g)) return;
  if (open->decoding && !judging_.doubted(g)) return;  // which will tell of all rows
  std::vector<std::uint32_t> slots;
  for (std::uint32_t slot = 0; slot < open->vectors.size(); ++slot) {
    if (!open->has(slot, Rows::kAll) || open->has(slot, Rows::kProven)) continue;
    if (*timekeeping_.authority_clock().latest(open->arrived[slot]) < key.told_at)
      slots.push_back(slot);
  }
  judging_.judge(g, key.stated, slots);
}

}  // namespace firn::core
