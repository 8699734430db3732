// Hashes source blocks of verified generations for neighbours (client/core/trust/proof_serving.h).
#pragma once

#include <memory>

#include "client/app/coding/coded_content.h"
#include "client/app/coding/coding_outcomes.h"
#include "client/app/coding/task_line.h"
#include "client/core/base/actions.h"

namespace firn::app {

// Owner thread.
class LeafMaker {
 public:
  LeafMaker(std::shared_ptr<const CodedContent> content, TaskLine& tasks, CodingOutcomes& outcomes);

  // Answered by leaves_made; without leaves if the generation cannot be read, or has changed on the
  // disk: its neighbour would take this peer for a liar.
  void make(const core::MakeLeaves& action);

 private:
  static proto::LeafReply make_on_worker(const CodedContent& content, std::uint32_t generation,
                                         const SharedBuffer& data);

  const std::shared_ptr<const CodedContent> content_;
  TaskLine& tasks_;
  CodingOutcomes& outcomes_;
};

}  // namespace firn::app
