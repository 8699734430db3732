// Which generations the reader of one file needs next, and how soon: a film's player, a copy to a
// pipe. No I/O and no clock: times are microseconds from any start, as the caller has them.
#pragma once

#include <cstdint>
#include <vector>

#include "proto/content/manifest.h"

namespace firn::content {

struct UrgentGeneration {
  std::uint32_t generation = 0;
  std::int64_t due_us = 0;  // from now, until the reader comes to it at its rate; 0: now
  bool awaited = false;     // it has to be there before a reader that has jumped goes on
  bool operator==(const UrgentGeneration&) const = default;
};

inline constexpr std::int64_t kReadAheadUs = 5'000'000;  // of the reader's time that is urgent
inline constexpr std::uint64_t kReadAheadLeast = 2;  // generations, in bytes: at a start, a seek
inline constexpr std::uint64_t kUrgentMax = 8;       // generations

// The window lies ahead of the reader's position: what the reader takes within kReadAheadUs at its
// rate, kReadAheadLeast generations at least. It changes only when the reader takes or seeks. After
// a start or a seek the first kReadAheadLeast are awaited: what a reader does with less is wait.
// Nothing is urgent before took() is first called: nobody knows where the reader begins.
class ReadingWindow {
 public:
  // Of Info::files[file].
  ReadingWindow(const Info& info, std::uint32_t file);

  // The reader took `bytes` from `offset` on, and is after them now. 0 bytes: it wants those at
  // `offset`, and they are not there. The time from then until it takes again says nothing about
  // the reader's rate, nor does the time before a seek.
  void took(std::uint64_t offset, std::uint64_t bytes, std::int64_t now_us);

  std::uint64_t position() const { return position_; }
  // Bytes per second that the reader takes of what is there: at least what makes a window of
  // kReadAheadLeast generations, at most what makes one of kUrgentMax.
  double rate() const;
  // Those of the window that are not verified (a flag for each generation), soonest first,
  // kUrgentMax at most.
  std::vector<UrgentGeneration> urgent(const std::vector<bool>& verified) const;

 private:
  double rate_of(std::uint64_t generations) const;  // at which the window holds these

  const std::uint64_t generation_bytes_;
  const std::uint64_t file_begin_;  // position in the content
  const std::uint64_t file_bytes_;
  std::uint64_t position_ = 0;  // in the file
  std::uint64_t jumped_to_ = 0;
  bool begun_ = false;
  bool waiting_ = true;       // for what is not there
  std::int64_t last_us_ = 0;  // when it took last
  // Of the last seconds, the older the less.
  double taken_bytes_ = 0;
  double taking_us_ = 0;
};

// What several readers need, each generation once, kUrgentMax at most: the first one of each
// reader, then the second ones. If there is no room for all of a turn, the soonest of it; of those
// due at the same time, the ones of the readers that stand last.
std::vector<UrgentGeneration> in_turn(const std::vector<std::vector<UrgentGeneration>>& readers);

}  // namespace firn::content
