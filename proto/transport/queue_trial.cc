#include "proto/transport/queue_trial.h"

#include <algorithm>
#include <utility>

namespace firn::proto::transport {
namespace {

constexpr std::uint32_t kHalvingsMax = 5;  // then nothing of it counts
// Of a trial after the rate has fallen to less than half. While the trial lasts the rate may fall
// on, and hide what a single halving gains. Three halvings put eight times as much on its way: if
// the link has room for twice the rate, our own queue then grows fourfold, and the trial fails.
constexpr std::uint32_t kHalvingsFallen = 2;
constexpr double kShortQueueUs = 5'000;  // of a shorter one nothing counts anyway
constexpr std::uint64_t kSettleUs = 300'000;
constexpr std::uint64_t kMeasureUs = 250'000;
constexpr std::uint64_t kMeasureLongUs = 1'500'000;  // of slow links, if this has not gone through:
constexpr std::uint64_t kMeasureBytes = 256 << 10;
// Rates vary by a tenth from one window to the next, so that by chance a fifth more goes through in
// one than in the one before.
constexpr std::uint64_t kMeasureSureUs = 1'000'000;
// After a first trial that failed; shorter where our link has carried far more.
constexpr std::uint64_t kTrialPauseUs = 8'000'000;
constexpr std::uint64_t kFallenPauseUs = 1'000'000;
constexpr std::uint64_t kTrialPauseMaxUs = 128'000'000;
constexpr double kSteadyLeast = 0.85;  // of one window to the next
constexpr double kSteadyMost = 1.15;
constexpr double kGain = 1.2;        // so much more goes through, or it is of no use
constexpr double kGainLarge = 1.6;   // then the next trial goes twice as far
constexpr double kKept = 0.92;       // as much goes through as before
constexpr double kLost = 0.75;       // far less does
constexpr double kForgotten = 0.99;  // of the highest rate, from one window to the next
constexpr double kChange = 2;        // times less than when a trial failed: it is another situation

}  // namespace

double QueueTrial::ours() const {
  return level_ >= kHalvingsMax ? 0 : 1.0 / (1u << level_);
}

void QueueTrial::begin_wait(std::uint64_t now_us) {
  if (waiting_++ == 0 && begun_) idle_us_ += now_us - std::max(idle_since_us_, began_us_);
}

void QueueTrial::end_wait(std::uint64_t now_us) {
  if (--waiting_ == 0) idle_since_us_ = now_us;
}

void QueueTrial::went_through(std::uint64_t bytes, std::uint64_t delay_us, std::uint64_t now_us) {
  if (!begun_) return begin_window(now_us);
  bytes_ += bytes;
  delays_ += static_cast<double>(bytes) * static_cast<double>(delay_us);
  const std::uint64_t time_us = now_us - began_us_;
  if (phase_ == Phase::kSettling) {
    if (time_us < std::max(kSettleUs, static_cast<std::uint64_t>(2 * before_.delay))) return;
    if (idled(now_us)) return cut_short(now_us);
    phase_ = Phase::kTrying;
    return begin_window(now_us);
  }
  if (time_us < kMeasureUs || (bytes_ < kMeasureBytes && time_us < kMeasureLongUs)) return;
  if (phase_ == Phase::kTrying && undecided(time_us)) return;
  if (idled(now_us)) return cut_short(now_us);
  const Flow flow{static_cast<double>(bytes_) * 1e6 / static_cast<double>(time_us),
                  bytes_ > 0 ? delays_ / static_cast<double>(bytes_) : 0};
  if (bytes_ >= kMeasureBytes) best_ = std::max(best_, flow.rate);
  begin_window(now_us);
  if (phase_ == Phase::kTrying) {
    judge(flow, now_us);
  } else {
    measured(flow, time_us, now_us);
  }
}

// For a part of the window nothing waited: it tells nothing.
bool QueueTrial::idled(std::uint64_t now_us) const {
  const std::uint64_t idle_us =
      idle_us_ + (waiting_ == 0 ? now_us - std::max(idle_since_us_, began_us_) : 0);
  return idle_us > (now_us - began_us_) / 5;
}

// Our link has carried far more, so that it is hardly what holds things up.
bool QueueTrial::fallen(double rate) const {
  return rate * kChange < best_;
}

void QueueTrial::cut_short(std::uint64_t now_us) {
  if (std::exchange(unconfirmed_, false)) kept_ = 0;
  if (phase_ != Phase::kMeasuring) failed(now_us);
  before_ = {};
  usual_ = 0;
  begin_window(now_us);
}

void QueueTrial::begin_window(std::uint64_t now_us) {
  begun_ = true;
  began_us_ = now_us;
  bytes_ = idle_us_ = 0;
  delays_ = 0;
}

void QueueTrial::measured(const Flow& flow, std::uint64_t time_us, std::uint64_t now_us) {
  const bool rises = flow.rate >= before_.rate * kSteadyMost;
  const bool steady = flow.rate >= before_.rate * kSteadyLeast && !rises;
  best_ *= kForgotten;
  before_ = flow;
  const double part = std::min(1.0, static_cast<double>(time_us) / kMeasureSureUs);
  usual_ = usual_ > 0 ? usual_ + (flow.rate - usual_) * part : flow.rate;
  if (flow.rate * kChange < failed_at_) {
    failed_at_ = 0;
    due_us_ = pause_us_ = 0;
    counting_more_ = false;
  }
  const bool low = flow.rate > 0 && fallen(flow.rate) && !rises;
  if (low && now_us >= due_us_) return try_another(kHalvingsFallen, now_us);
  if (!steady || now_us < due_us_) return;
  // A single window that carried little would make a later one look like a gain, and one that
  // carried much like a loss.
  before_.rate = next_counts_more() ? usual_ : std::max(flow.rate, usual_);
  try_another(1, now_us);
}

// Where chance, or growth by itself, may be all that speaks for a trial, or chance against counting
// more, it is measured for longer.
bool QueueTrial::undecided(std::uint64_t time_us) const {
  if (time_us >= kMeasureSureUs) return false;
  const double rate = static_cast<double>(bytes_) * 1e6 / static_cast<double>(time_us);
  const bool may_grow = kept_ == 0 && !fallen(before_.rate);
  const bool surely = !may_grow && rate >= before_.rate * kGainLarge;
  if (level_ > kept_) return rate >= before_.rate * kGain && !surely;
  return rate > before_.rate * kLost;
}

void QueueTrial::judge(const Flow& flow, std::uint64_t now_us) {
  // The rate is to grow by at least as much as the queue: otherwise most of what was sent besides
  // only stands in it.
  const bool more_goes =
      flow.rate >= before_.rate * kGain && flow.rate * before_.delay >= before_.rate * flow.delay;
  const bool good = level_ > kept_ ? more_goes : flow.rate >= before_.rate * kKept;
  if (!good) return failed(now_us);
  phase_ = Phase::kMeasuring;
  const Flow before = before_;
  const double best = std::max(before.rate, flow.rate);
  before_ = {level_ > kept_ ? flow.rate : best, flow.delay};
  const bool first = kept_ == 0;
  if (level_ > kept_) further_ = flow.rate >= before.rate * kGainLarge ? 2 : 1;
  kept_ = level_;
  usual_ = 0;
  pause_us_ = 0;
  if (kept_ == 0) return rest(kTrialPauseUs, now_us);
  unconfirmed_ = first;
  counting_more_ |= first;
  try_another(further_, now_us);
}

void QueueTrial::failed(std::uint64_t now_us) {
  phase_ = Phase::kMeasuring;
  level_ = kept_;
  failed_at_ = before_.rate;
  counting_more_ = !counting_more_;
  if (std::exchange(unconfirmed_, false)) return try_another(further_, now_us);
  const std::uint64_t first_us = fallen(before_.rate) ? kFallenPauseUs : kTrialPauseUs;
  rest(pause_us_ == 0 ? first_us : std::min(2 * pause_us_, kTrialPauseMaxUs), now_us);
}

void QueueTrial::rest(std::uint64_t pause_us, std::uint64_t now_us) {
  pause_us_ = pause_us;
  due_us_ = now_us + pause_us;
}

bool QueueTrial::can_count_less() const {
  return kept_ < kHalvingsMax && before_.delay > kShortQueueUs;
}

// Where it can go on in one direction alone, in that.
bool QueueTrial::next_counts_more() const {
  return !can_count_less() || (kept_ > 0 && counting_more_);
}

void QueueTrial::try_another(std::uint32_t halvings, std::uint64_t now_us) {
  if (!can_count_less() && kept_ == 0) return;
  counting_more_ = next_counts_more();
  level_ = counting_more_ ? kept_ - 1 : std::min(kept_ + halvings, kHalvingsMax);
  phase_ = Phase::kSettling;
  begin_window(now_us);
}

}  // namespace firn::proto::transport
