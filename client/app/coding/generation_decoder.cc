#include "client/app/coding/generation_decoder.h"

#include <algorithm>
#include <string>
#include <utility>

#include "codec/decode.h"
#include "proto/base/stage_times.h"

namespace firn::app {
namespace {

// With source blocks alone decoding is copying, which a trip to a device only delays.
bool any_coded(const std::vector<core::Vector>& vectors) {
  return std::any_of(vectors.begin(), vectors.end(), [](const core::Vector& vector) {
    const auto zeros = std::count(vector->begin(), vector->end(), 0);
    return static_cast<std::size_t>(zeros) + 1 != vector->size();
  });
}

// The generation's n * k bytes in `out`, not yet compared with its digest; false if a row cannot be
// read back, or the vectors lack rank. Row i has the vector of its slot.
bool decode_rows(const CodedContent& content, std::uint32_t generation,
                 const std::vector<core::Vector>& vectors, std::vector<RowRef> rows,
                 std::span<std::uint8_t> out) {
  const StageScope stage(Stage::kDecode);
  const std::size_t n = content.shape().blocks_in(generation);
  FIRN_CHECK(vectors.size() == n && rows.size() == n);
  if (!content.read_back(generation, rows)) return false;
  std::vector<const std::uint8_t*> vector_rows(n), payload_rows(n);
  for (std::size_t i = 0; i < n; ++i) {
    vector_rows[i] = vectors[rows[i].slot]->data();
    payload_rows[i] = rows[i].payload.bytes().data();
  }
  return codec::decode_generation(content.kernels(), n, content.shape().block_bytes, vector_rows,
                                  payload_rows, out);
}

}  // namespace

GenerationDecoder::GenerationDecoder(std::shared_ptr<const CodedContent> content, TaskLine& tasks,
                                     DiskQueue& disk, Spooler& rows, CodingOutcomes& outcomes)
    : content_(std::move(content)), tasks_(tasks), disk_(disk), rows_(rows), outcomes_(outcomes) {
  const Shape& shape = content_->shape();
  if (content_->coder() != nullptr)
    content_->coder()->prepare(shape.generation_size, shape.block_bytes);
}

void GenerationDecoder::decode(core::Decode action) {
  auto job = std::make_shared<Job>();
  job->action = std::move(action);
  start(std::move(job));
}

void GenerationDecoder::take(std::uint32_t generation, std::shared_ptr<Buffer> data) {
  auto job = std::make_shared<Job>();
  job->action.generation = generation;
  job->fetched = true;
  job->data = std::move(data);
  start(std::move(job));
}

void GenerationDecoder::start(std::shared_ptr<Job> job) {
  const std::uint32_t generation = job->action.generation;
  const auto [behind, alone] = under_way_.try_emplace(generation);
  if (!alone) return behind->second.push_back(std::move(job));
  if (!job->fetched) {
    Spooler::Claimed claimed = rows_.claim(generation);
    job->rows = std::move(claimed.rows);
    job->drop_spooled = claimed.on_disk;
    if (decodes_in_batches(*job)) return decode_in_batch(std::move(job));
  }
  disk_.submit(task_of(std::move(job)));
}

void GenerationDecoder::answer(const Job& job, core::DecodeOutcome outcome) {
  const std::uint32_t generation = job.action.generation;
  if (job.fetched) {
    outcomes_.generation_fetched(generation, outcome);
  } else {
    outcomes_.generation_decoded(generation, outcome);
  }
}

void GenerationDecoder::start_behind(const Job& ended) {
  const auto behind = under_way_.extract(ended.action.generation);
  for (const std::shared_ptr<Job>& job : behind.mapped()) {
    if (ended.outcome == core::DecodeOutcome::kVerified) {
      answer(*job, ended.outcome);
    } else {
      start(job);
    }
  }
}

// --- in batches ---

bool GenerationDecoder::decodes_in_batches(const Job& job) const {
  // Devices are made ready for full generations; a short one is not worth another shape.
  return content_->coder() != nullptr && content_->coder()->useful() &&
         job.action.vectors.size() == content_->shape().generation_size &&
         any_coded(job.action.vectors);
}

void GenerationDecoder::decode_in_batch(std::shared_ptr<Job> job) {
  disk_.expect();
  const bool in_memory = std::all_of(job->rows.begin(), job->rows.end(),
                                     [](const RowRef& row) { return bool(row.payload); });
  if (in_memory) return hand_to_coder(std::move(job));
  tasks_.submit(content_->key_of(job->action.generation),
                [this, job, content = content_]() -> WorkerPool::Completion {
                  job->unreadable = !content->read_back(job->action.generation, job->rows);
                  return [this, job] {
                    if (!job->unreadable) return hand_to_coder(job);
                    disk_.submit_expected(task_of(job));
                  };
                });
}

void GenerationDecoder::hand_to_coder(std::shared_ptr<Job> job) {
  const Shape& shape = content_->shape();
  DecodeOrder order{shape.generation_size, shape.block_bytes, {}, {}, {}};
  for (const RowRef& row : job->rows) {
    order.vectors.push_back(job->action.vectors[row.slot]);
    order.payloads.push_back(row.payload);
  }
  order.done = tasks_.unless_gone([this, job = std::move(job)](std::shared_ptr<Buffer> decoded) {
    job->unreadable = decoded == nullptr;  // lacking rank, rows are as good as gone
    job->data = std::move(decoded);
    job->by_coder = true;
    disk_.submit_expected(task_of(job));
  });
  content_->coder()->decode(std::move(order));
}

// --- as a task that writes ---

DiskQueue::Task GenerationDecoder::task_of(std::shared_ptr<Job> job) {
  DiskQueue::Task task;
  task.key = content_->key_of(job->action.generation);
  task.work = [job, content = content_]() -> Result<bool> {
    if (!job->checked) check(*content, *job);
    if (job->outcome != core::DecodeOutcome::kVerified) return false;
    return write(*content, *job);
  };
  task.done = [this, job] { decoded(*job); };
  return task;
}

// Decodes what the batch coder has not decoded, and compares it with its digest. Where that one's
// bytes are false the rows may be right nevertheless, and peers would be blamed for them.
void GenerationDecoder::check(const CodedContent& content, Job& job) {
  const auto verified = [&] {
    return content.store().verify_generation(job.action.generation, job.data->bytes());
  };
  if (job.data || (!job.unreadable && decode_on_worker(content, job))) {
    bool right = verified();
    if (!right && job.by_coder && decode_on_worker(content, job))
      job.coder_erred = right = verified();
    job.outcome = right ? core::DecodeOutcome::kVerified : core::DecodeOutcome::kCorrupt;
  }
  job.checked = true;  // not before: without memory it is done again
  job.rows.clear();
}

// False, and nothing is changed, if it cannot be decoded.
bool GenerationDecoder::decode_on_worker(const CodedContent& content, Job& job) {
  const std::uint32_t generation = job.action.generation;
  auto data = content.take_buffer(generation);
  if (!decode_rows(content, generation, job.action.vectors, job.rows, data->bytes())) return false;
  job.data = std::move(data);
  return true;
}

Result<bool> GenerationDecoder::write(const CodedContent& content, Job& job) {
  const std::uint32_t generation = job.action.generation;
  const Status status = content.store().write_generation(generation, job.data->bytes());
  if (!status.ok()) return status.error();
  // The spool's place is a matter of room, not of correctness: what cannot be dropped now is
  // forgotten when the store finds the generation in its journal.
  if (job.drop_spooled) (void)content.store().drop_rows(generation);
  return true;
}

void GenerationDecoder::decoded(Job& job) {
  const std::uint32_t generation = job.action.generation;
  if (job.coder_erred && content_->coder()->useful()) {
    content_->coder()->distrust();
    outcomes_.store_warning("a GPU decoded generation " + std::to_string(generation) +
                            " to false bytes, which the CPU decoded right; all coding goes on "
                            "without GPUs, of which one may be defective");
  }
  const bool right = job.outcome == core::DecodeOutcome::kVerified;
  // Rows of what was fetched are as they were: the core drops them.
  if (!job.fetched) right ? rows_.forget(generation) : rows_.release(generation);
  if (right) content_->cache(generation, std::move(job.data));
  answer(job, job.outcome);
  start_behind(job);
}

}  // namespace firn::app
