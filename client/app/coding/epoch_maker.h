// Draws the check keys of Epochs and works out their sums (client/core/epoch_making.h).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "client/app/coding/coded_content.h"
#include "client/app/coding/coding_outcomes.h"
#include "client/app/coding/kept_sums.h"
#include "client/app/coding/task_line.h"
#include "client/checks/set_key.h"
#include "client/core/actions.h"

namespace firn::app {

// Owner thread.
class EpochMaker {
 public:
  EpochMaker(std::shared_ptr<const CodedContent> content, TaskLine& tasks,
             CodingOutcomes& outcomes);

  // Answered by epoch_made, not signed; without the generations that cannot be read.
  void make(core::MakeEpoch action);

 private:
  void make_others(const checks::SetKey& key, core::MakeEpoch action);
  static proto::Epoch make_on_worker(const CodedContent& content, const checks::SetKey& set_key,
                                     core::MakeEpoch action, std::vector<SharedBuffer> cached);

  const std::shared_ptr<const CodedContent> content_;
  TaskLine& tasks_;
  CodingOutcomes& outcomes_;
  KeptSums kept_sums_;
};

}  // namespace firn::app
