// Decodes generations of full rank, compares them with their digests and writes what is right.
// Those that an origin sent are compared and written likewise.
//
// Where a device is useful, full generations go through the batch coder; what it gives back is
// checked and written like the others. The result of a decode is kept while the disk takes nothing:
// a second try only writes.
//
// A generation may come both ways at once. The second one waits: if the first was right nothing is
// left to be done, and nothing may be written, as the store may have been finished meanwhile.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "client/app/coding/coded_content.h"
#include "client/app/coding/coding_outcomes.h"
#include "client/app/coding/disk_queue.h"
#include "client/app/coding/spooler.h"
#include "client/app/coding/task_line.h"
#include "client/core/base/actions.h"

namespace firn::app {

// Owner thread.
class GenerationDecoder {
 public:
  GenerationDecoder(std::shared_ptr<const CodedContent> content, TaskLine& tasks, DiskQueue& disk,
                    Spooler& rows, CodingOutcomes& outcomes);

  // Answered by generation_decoded. What is verified goes into the cache.
  void decode(core::Decode action);
  // `data`: padded_bytes of the generation, from an origin. Answered by generation_fetched. What is
  // verified goes into the cache.
  void take(std::uint32_t generation, std::shared_ptr<Buffer> data);

 private:
  struct Job {
    core::Decode action;  // of what was fetched: its generation alone
    bool fetched = false;
    std::vector<RowRef> rows;
    bool unreadable = false;       // or lacking rank: nothing to decode
    std::shared_ptr<Buffer> data;  // once decoded
    bool by_coder = false;         // which decoded it
    bool coder_erred = false;      // and not as a worker then did
    bool checked = false;          // a second try only writes
    core::DecodeOutcome outcome = core::DecodeOutcome::kFailed;
    bool drop_spooled = false;
  };

  static void check(const CodedContent& content, Job& job);
  static bool decode_on_worker(const CodedContent& content, Job& job);
  static Result<bool> write(const CodedContent& content, Job& job);

  void start(std::shared_ptr<Job> job);
  void answer(const Job& job, core::DecodeOutcome outcome);
  void start_behind(const Job& ended);
  bool decodes_in_batches(const Job& job) const;
  void decode_in_batch(std::shared_ptr<Job> job);
  void hand_to_coder(std::shared_ptr<Job> job);
  DiskQueue::Task task_of(std::shared_ptr<Job> job);
  void decoded(Job& job);

  const std::shared_ptr<const CodedContent> content_;
  TaskLine& tasks_;
  DiskQueue& disk_;
  Spooler& rows_;
  CodingOutcomes& outcomes_;
  // By generation under way: what waits for its end.
  std::unordered_map<std::uint32_t, std::vector<std::shared_ptr<Job>>> under_way_;
};

}  // namespace firn::app
