// Evidence against senders of false rows: what is kept of the rows of a generation that decoded to
// something false, until the generation is verified and shows which of them were false.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "client/app/coding/coded_content.h"
#include "client/app/coding/coding_outcomes.h"
#include "client/app/coding/spooler.h"
#include "client/app/coding/task_line.h"
#include "client/core/actions.h"
#include "proto/base/digest.h"

namespace firn::app {

// Owner thread.
class Evidence {
 public:
  Evidence(std::shared_ptr<const CodedContent> content, TaskLine& tasks, Spooler& rows,
           CodingOutcomes& outcomes);

  // Keeps evidence of these rows, whatever becomes of them. Those that cannot be read back any more
  // are left out.
  void keep(core::KeepEvidence action);
  // The generation is verified. Answered by evidence_checked, with each guilty sender once; with
  // none if nothing was kept.
  void check(std::uint32_t generation);

 private:
  // Of one row: enough to compare it with what it should have been.
  struct Row {
    core::Vector vector;
    PeerId sender;
    Digest payload_digest;  // SHA-256
  };
  using Rows = std::vector<Row>;

  static Rows gather(const CodedContent& content, const core::KeepEvidence& kept,
                     std::vector<RowRef> rows);
  static std::vector<PeerId> find_guilty(const CodedContent& content,
                                         std::span<const std::uint8_t> generation,
                                         const Rows& rows);

  const std::shared_ptr<const CodedContent> content_;
  TaskLine& tasks_;
  Spooler& rows_;
  CodingOutcomes& outcomes_;
  std::unordered_map<std::uint32_t, std::shared_ptr<Rows>> kept_;  // filled by workers
};

}  // namespace firn::app
