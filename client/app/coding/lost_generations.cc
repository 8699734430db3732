#include "client/app/coding/lost_generations.h"

#include <algorithm>
#include <utility>

namespace firn::app {
namespace {

constexpr core::TimeUs kProbeIntervalMax = 60 * core::kSecond;
// Reads of good ones in one task: they take time, and other tasks wait.
constexpr std::size_t kRegainedAtOnce = 16;

// Takes those that are right again out of `generations`, and those that will never be.
std::vector<std::uint32_t> regain(const CodedContent& content,
                                  std::vector<std::uint32_t>& generations) {
  std::vector<std::uint32_t> regained;
  std::erase_if(generations, [&](std::uint32_t generation) {
    if (regained.size() == kRegainedAtOnce) return false;
    const auto loaded = content.load(generation);
    if (!loaded.ok()) return loaded.error().code == ErrorCode::kCorrupt;
    content.store().regain_generation(generation);
    regained.push_back(generation);
    return true;
  });
  return regained;
}

}  // namespace

LostGenerations::LostGenerations(std::shared_ptr<const CodedContent> content, TaskLine& tasks,
                                 const TurnClock& clock, Stock& stock, Durability& durability,
                                 CodingOutcomes& outcomes)
    : content_(std::move(content)),
      tasks_(tasks),
      clock_(clock),
      stock_(stock),
      durability_(durability),
      outcomes_(outcomes) {}

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
  if (fetch_again || error.code == ErrorCode::kCorrupt) return;
  unreadable_.push_back(generation);
  if (probe_at_ == core::kNever && !probing_) probe_at_ = clock_.now() + probe_wait_;
}

void LostGenerations::wake() {
  if (probe_at_ <= clock_.now()) probe();
}

// Looks at those that could not be read, at most until some have come back.
void LostGenerations::probe() {
  probe_at_ = core::kNever;
  probing_ = true;
  tasks_.submit(WorkerPool::kUnordered,
                [this, generations = std::exchange(unreadable_, {}),
                 content = content_]() mutable -> WorkerPool::Completion {
                  const auto regained = regain(*content, generations);
                  return [this, generations = std::move(generations), regained] {
                    probed(generations, regained);
                  };
                });
}

void LostGenerations::probed(const std::vector<std::uint32_t>& left,
                             const std::vector<std::uint32_t>& regained) {
  probing_ = false;
  unreadable_.insert(unreadable_.end(), left.begin(), left.end());
  probe_wait_ = regained.empty() ? std::min(2 * probe_wait_, kProbeIntervalMax) : kProbeIntervalMin;
  if (!unreadable_.empty()) probe_at_ = clock_.now() + probe_wait_;
  for (const std::uint32_t generation : regained) outcomes_.generation_regained(generation);
}

}  // namespace firn::app
