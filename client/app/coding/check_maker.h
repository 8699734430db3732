// Makes check sums of verified generations for neighbours (client/core/trust/proof_serving.h).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "client/app/coding/coded_content.h"
#include "client/app/coding/coding_outcomes.h"
#include "client/app/coding/kept_sums.h"
#include "client/app/coding/task_line.h"
#include "client/checks/set_key.h"
#include "client/core/base/actions.h"

namespace firn::app {

// Owner thread.
class CheckMaker {
 public:
  CheckMaker(std::shared_ptr<const CodedContent> content, TaskLine& tasks,
             CodingOutcomes& outcomes);

  // Answered by check_made; without sums if the generation cannot be read.
  void make(const core::MakeCheck& action);

 private:
  void make_by_worker(const checks::SetKey& key, core::PeerKey peer, std::uint32_t generation,
                      std::uint32_t tag_bytes);
  static proto::CheckReply reply_of(const checks::SetKey& key, std::uint32_t generation,
                                    std::vector<std::uint8_t> sums);

  const std::shared_ptr<const CodedContent> content_;
  TaskLine& tasks_;
  CodingOutcomes& outcomes_;
  KeptSums kept_sums_;
};

}  // namespace firn::app
