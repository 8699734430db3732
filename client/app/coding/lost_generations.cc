#include "client/app/coding/lost_generations.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace firn::app {
namespace {

// In one task: other tasks wait meanwhile.
constexpr unsigned kReadsAtOnce = 16;
constexpr std::uint32_t kLooksAtOnce = 1024;
// The pause after a look that found nothing, as a multiple of the time that the look took.
constexpr core::TimeUs kRest = 100;

}  // namespace

LostGenerations::LostGenerations(std::shared_ptr<const CodedContent> content, TaskLine& tasks,
                                 const TurnClock& clock, Stock& stock, Durability& durability,
                                 CodingOutcomes& outcomes)
    : content_(std::move(content)),
      tasks_(tasks),
      clock_(clock),
      stock_(stock),
      durability_(durability),
      outcomes_(outcomes),
      lost_(content_->shape().generation_count()) {}

void LostGenerations::lose(std::uint32_t generation, const Error& error,
                           std::function<void()> then) {
  content_->uncache(generation);
  stock_.drop(generation);
  if (content_->coder() != nullptr) content_->coder()->forget(content_->key_of(generation));
  tasks_.submit(content_->key_of(generation),
                [this, generation, error, then = std::move(then),
                 content = content_]() -> WorkerPool::Completion {
                  const bool fetch_again = content->store().lose_generation(generation);
                  return [this, generation, error, then, fetch_again] {
                    lost(generation, error, fetch_again);
                    then();
                  };
                });
}

void LostGenerations::lost(std::uint32_t generation, const Error& error, bool fetch_again) {
  durability_.note_write();  // a record in the journal
  outcomes_.generation_lost(generation, error, fetch_again);
  if (fetch_again) return;
  lost_.add(generation);
  if (look_at_ == core::kNever && !looking_) look_at_ = clock_.now() + kLookInterval;
}

void LostGenerations::wake() {
  if (look_at_ > clock_.now()) return;
  look_at_ = core::kNever;
  looking_ = true;
  tasks_.submit(WorkerPool::kUnordered,
                [this, lost = lost_, from = next_, content = content_]() -> WorkerPool::Completion {
                  return [this, look = look_again(*content, lost, from)] { looked(look); };
                });
}

// Any thread.
LostGenerations::Look LostGenerations::look_again(const CodedContent& content,
                                                  const core::GenerationSet& lost,
                                                  std::uint32_t from) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  Look look;
  look.next = from;
  unsigned reads = 0;
  const std::uint32_t looks = std::min(lost.count(), kLooksAtOnce);
  for (std::uint32_t i = 0; i < looks && reads < kReadsAtOnce; ++i) {
    std::uint32_t generation = lost.next_present(look.next);
    if (generation == lost.size()) generation = lost.next_present(0);
    look.next = generation + 1;
    if (!content.store().may_be_right_again(generation)) continue;
    ++reads;
    if (!content.load(generation).ok()) continue;
    content.store().regain_generation(generation);
    look.regained.push_back(generation);
  }
  look.took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin).count();
  return look;
}

// Where some are right again, others may be, and are looked at soon.
void LostGenerations::looked(const Look& look) {
  looking_ = false;
  next_ = look.next;
  for (const std::uint32_t generation : look.regained) {
    lost_.remove(generation);
    outcomes_.generation_regained(generation);
  }
  if (lost_.count() == 0) return;
  look_at_ = clock_.now() + (look.regained.empty()
                                 ? std::clamp(kRest * look.took, kLookInterval, kLookIntervalMax)
                                 : look.took);
}

}  // namespace firn::app
