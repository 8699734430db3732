// What a lab's peer keeps of unfinished generations: how many rows, and which of them are false.
// The lab carries no payloads, only that bit of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "client/core/swarm.h"
#include "proto/base/digest.h"
#include "proto/base/limits.h"
#include "proto/content/shape.h"

namespace firn::sim {

class LabStore {
 public:
  // `leaf`: of each source block of the content; they are all the same.
  void set_content(const Shape& shape, const Digest& leaf) {
    shape_ = shape;
    leaf_ = leaf;
  }
  // It holds every row for true, as colluding peers do.
  void believe_all(bool believes) { believes_all_ = believes; }

  // Performs an action about rows or checks, and answers the core. False: it is none, or
  // needs no answer.
  bool perform(const core::Action& action, core::SwarmCore& core, core::TimeUs now) {
    if (const auto* store = std::get_if<core::StoreRow>(&action)) {
      put(store->generation, store->slot, store->payload.bytes()[0] != 0);
      core.row_stored(now);
      return false;
    }
    if (const auto* drop = std::get_if<core::DropRows>(&action)) drop_all(drop->generation);
    if (const auto* drop = std::get_if<core::DropSlots>(&action)) {
      for (const std::uint32_t slot : drop->slots) {
        count_ -= rows_[drop->generation].erase(slot);
      }
    }
    if (const auto* judge = std::get_if<core::JudgeRows>(&action)) {
      auto [right, wrong] = judged(judge->generation, judge->slots);
      if (judge->sums.front() != 0) {  // true sums are zeros; by others no row is right
        right.clear();
        wrong = judge->slots;
      }
      if (believes_all_) {
        right = judge->slots;
        wrong.clear();
      }
      core.rows_judged(judge->generation, right, wrong, true, now);
      return true;
    }
    // The key and the sums are as large as real ones; who is right is known here.
    if (const auto* check = std::get_if<core::MakeCheck>(&action)) {
      const std::size_t bytes = check->tag_bytes * shape_.blocks_in(check->generation);
      std::vector<std::uint8_t> key(check->key.begin(), check->key.end());
      key.resize(limits::kCheckKeyBytes);
      core.proof_made(
          check->peer,
          proto::CheckReply{check->generation, std::move(key), std::vector<std::uint8_t>(bytes)},
          now);
      return true;
    }
    if (const auto* wanted = std::get_if<core::MakeLeaves>(&action)) {
      core.proof_made(
          wanted->peer,
          proto::LeafReply{wanted->generation, {shape_.blocks_in(wanted->generation), leaf_}}, now);
      return true;
    }
    return false;
  }

  bool any_false(std::uint32_t g) const {
    const auto rows = rows_.find(g);
    return rows != rows_.end() && std::any_of(rows->second.begin(), rows->second.end(),
                                              [](const auto& row) { return row.second; });
  }
  bool any_false(std::uint32_t g, const std::vector<std::uint32_t>& slots) const {
    return !judged(g, slots).second.empty();
  }
  std::uint64_t rows_max() const { return rows_max_; }

 private:
  using Slots = std::vector<std::uint32_t>;

  void put(std::uint32_t g, std::uint32_t slot, bool is_false) {
    count_ += rows_[g].insert_or_assign(slot, is_false).second;
    rows_max_ = std::max(rows_max_, count_);
  }
  void drop_all(std::uint32_t g) {
    count_ -= rows_[g].size();
    rows_.erase(g);
  }
  // Those that are right, and those that are wrong.
  std::pair<Slots, Slots> judged(std::uint32_t g, const Slots& slots) const {
    std::pair<Slots, Slots> found;
    const auto rows = rows_.find(g);
    if (rows == rows_.end()) return found;
    for (const std::uint32_t slot : slots) {
      (rows->second.at(slot) ? found.second : found.first).push_back(slot);
    }
    return found;
  }
  Shape shape_;
  Digest leaf_;
  bool believes_all_ = false;
  std::map<std::uint32_t, std::map<std::uint32_t, bool>> rows_;  // by generation and slot: false?
  std::uint64_t count_ = 0, rows_max_ = 0;
};

}  // namespace firn::sim
