#include "client/app/daemon/relocation.h"

#include <utility>

namespace firn::app {
namespace {

using Move = KeptContent::Move;

constexpr core::TimeUs kRecordAgain = 10 * core::kSecond;

}  // namespace

void Relocation::turn() {
  if (!active() || busy()) return;
  if (again_at_ != core::kNever && host_.loop.now() < again_at_) return;
  again_at_ = core::kNever;
  const Move step = content_->move;
  const bool back = why_back_.has_value();
  auto work = [move = move_, content = *content_, step, back]() mutable {
    Outcome outcome;
    if (move == nullptr) {
      const bool clears = step == Move::kClear;
      content::ContentPlace from{content.folder, content.as};
      content::ContentPlace to{content.other_folder, content.other_as};
      if (clears) std::swap(from, to);
      auto opened = ContentMove::open(content, from, to);
      if (!opened.ok()) return std::pair(std::move(move), Outcome{opened.error(), false});
      move = *std::move(opened);
    }
    if (back) {
      outcome.status = move->undo(step == Move::kPlace);
    } else if (step == Move::kStage) {
      const auto staged = move->stage();
      if (!staged.ok()) outcome.status = staged.error();
      outcome.goes_on = staged.ok() && !*staged;
    } else {
      outcome.status = step == Move::kPlace ? move->place() : move->clear();
    }
    return std::pair(std::move(move), std::move(outcome));
  };
  // Where the pool has no room, the next turn comes soon.
  (void)task_.start(host_.workers, std::move(work), [this](auto ended) {
    move_ = std::move(ended.first);
    done(ended.second);
  });
}

void Relocation::done(const Outcome& outcome) {
  host_.loop.wake();
  if (outcome.goes_on) return;
  if (why_back_) return went_back(outcome.status);
  KeptContent next = *content_;
  if (content_->move == Move::kStage) {
    if (!outcome.status.ok()) return go_back(outcome.status.error());
    next.move = Move::kPlace;
    record(std::move(next));
  } else if (content_->move == Move::kPlace) {
    if (!outcome.status.ok()) return go_back(outcome.status.error());
    next.move = Move::kClear;
    std::swap(next.folder, next.other_folder);
    std::swap(next.as, next.other_as);
    // What is deleted next is found from this side.
    if (record(std::move(next))) move_.reset();
  } else {
    if (!outcome.status.ok())
      host_.console.warning("not all could be deleted from " + content_->other_folder + ": " +
                                outcome.status.error().message(),
                            content_->id);
    next.move = Move::kNone;
    next.other_folder.clear();
    next.other_as.clear();
    move_.reset();
    if (record(std::move(next))) host_.console.info("moved to " + content_->folder, content_->id);
  }
}

void Relocation::go_back(const Error& error) {
  why_back_ = error;
  move_.reset();
}

void Relocation::went_back(const Status& status) {
  if (!status.ok())
    host_.console.warning(
        "not all could be deleted from " + content_->other_folder + ": " + status.error().message(),
        content_->id);
  KeptContent next = *content_;
  next.move = Move::kNone;
  next.other_folder.clear();
  next.other_as.clear();
  move_.reset();
  if (!record(std::move(next))) return;
  failure_ = why_back_->message();
  host_.console.error(*why_back_, content_->id);
  why_back_.reset();
}

bool Relocation::record(KeptContent to) {
  const Status kept = content_.put(std::move(to));
  if (kept.ok()) return true;
  host_.console.warning(kept.error().message(), content_->id);
  again_at_ = host_.loop.now() + kRecordAgain;
  return false;
}

}  // namespace firn::app
