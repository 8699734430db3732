#include "tests/sim/lab/viewer.h"

#include <algorithm>

#include "proto/messages.h"

namespace firn::sim {
Viewer::Viewer(const Info& info, const LabFilm& film, TimeUs now)
    : film_(film),
      generation_bytes_(static_cast<double>(info.shape.generation_bytes())),
      end_(static_cast<double>(info.shape.content_bytes)),
      there_(info.shape.generation_count()),
      position_(film.from * end_),
      window_(info, 0),
      waits_since_(now),
      now_(now) {
  take(now);
}

// The player takes all that has come without a gap, as far as it keeps so much.
void Viewer::take(TimeUs now) {
  const double kept = film_.ahead > 0 ? position_ + film_.ahead * film_.rate : end_;
  const auto until = static_cast<std::uint64_t>(std::min(contiguous(), kept));
  const auto from = std::max(window_.position(), static_cast<std::uint64_t>(position_));
  if (until > from) window_.took(from, until - from, now);
  if (contiguous() < kept) window_.took(std::max(from, until), 0, now);
}

double Viewer::contiguous() const {
  auto g = static_cast<std::size_t>(position_ / generation_bytes_);
  while (g < there_.size() && there_[g]) ++g;
  return std::min(std::max(position_, static_cast<double>(g) * generation_bytes_), end_);
}

void Viewer::advance(TimeUs now) {
  const double seconds = static_cast<double>(now - now_) * 1e-6;
  if (playing_) {
    const double buffered = contiguous() - position_;
    const double drained = std::min(buffered, film_.rate * seconds);
    position_ += drained;
    if (position_ < end_ && drained >= buffered) {
      playing_ = false;
      ++seen_.stalls;
      waits_since_ = now_ + static_cast<TimeUs>(1e6 * drained / film_.rate);
    }
  }
  now_ = now;
}

void Viewer::play_on(TimeUs now) {
  const double second = std::min(film_.rate, end_ - position_);
  if (playing_ || contiguous() - position_ < second) return;
  playing_ = true;
  const TimeUs waited = now - waits_since_;
  if (seen_.start < 0) {
    seen_.start = waited;
  } else if (sought_ && seen_.seek < 0) {
    seen_.seek = waited;
  } else {
    seen_.stalled += waited;
  }
}

void Viewer::arrived(std::uint32_t g, TimeUs now) {
  advance(now);
  there_[g] = true;
  take(now);
  play_on(now);
  seen_.buffer.emplace_back(now * 1e-6, (contiguous() - position_) / film_.rate);
}

void Viewer::seek(TimeUs now) {
  advance(now);
  position_ = film_.seeks_to * end_;
  waits_since_ = now;
  playing_ = false;
  sought_ = true;
  window_.took(static_cast<std::uint64_t>(position_), 0, now);
  take(now);
  play_on(now);
}

LabViewing Viewer::result(TimeUs now) {
  advance(now);
  LabViewing seen = seen_;
  if (!playing_ && position_ < end_ && seen.stalls > 0) seen.stalled += now - waits_since_;
  return seen;
}

core::Urgent Viewer::urgent() const {
  core::Urgent urgent;
  for (const auto& one : window_.urgent(there_))
    urgent[one.generation] = one.awaited ? proto::kAwaited : proto::kReadSoon;
  return urgent;
}

}  // namespace firn::sim
