// Rows judged by the keys of Epochs: those that arrived before the key was told (TESLA's rule;
// Perrig and others, "The TESLA broadcast authentication protocol", 2002). A row that arrived later
// may have been made to pass, so it waits for the next Epoch that has its generation.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "client/core/epochs.h"
#include "client/core/generations.h"
#include "client/core/judging.h"
#include "client/core/timekeeping.h"
#include "proto/messages.h"

namespace firn::core {

class EpochJudging {
 public:
  EpochJudging(const Epochs& epochs, Timekeeping& timekeeping, const Generations& generations,
               Judging& judging);

  // A new Epoch has come.
  void learned(const proto::Epoch& epoch);
  // A judgement is over; rows may wait for another.
  void look() { due_ = true; }
  // What was stated is worth nothing.
  void forget() { keys_.clear(); }

  void step();

 private:
  struct Key {
    TimeUs told_at = 0;  // not before that, by the speaker's clock
    CheckStatement stated;
  };
  void judge(std::uint32_t g, const Key& key);

  const Epochs& epochs_;
  Timekeeping& timekeeping_;
  const Generations& generations_;
  Judging& judging_;
  std::map<std::uint32_t, Key> keys_;  // the latest, by generation; of open ones
  std::uint32_t speakers_ = 0, bounds_ = 0;
  bool due_ = false;
};

}  // namespace firn::core
