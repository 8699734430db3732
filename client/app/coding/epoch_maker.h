// Draws the check keys of Epochs and works out their sums (client/core/epoch_making.h).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "client/app/coding/coded_content.h"
#include "client/app/coding/coding_outcomes.h"
#include "client/app/coding/task_line.h"
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
  static proto::Epoch make_on_worker(const CodedContent& content, core::MakeEpoch action,
                                     std::vector<SharedBuffer> cached);

  const std::shared_ptr<const CodedContent> content_;
  TaskLine& tasks_;
  CodingOutcomes& outcomes_;
};

}  // namespace firn::app
