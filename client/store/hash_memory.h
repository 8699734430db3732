// Which generations need not be hashed again before they are served: those that were read and found
// right within the last ten minutes, from files whose stamps (size, times, inode) are still the
// same. What no stamp tells, a damaged disk or a program that writes through a mapping without the
// kernel noticing, is found after ten minutes at the latest.
//
// A stamp is worth something only if every later change alters it. File systems keep times in steps
// of up to two seconds (FAT), so that a change within the step would leave the stamp as it is:
// files changed within three seconds before they were read are hashed again next time. So are those
// of file systems that do not keep the time of the last change (ctime), which, unlike the time of
// modification, no program can set back. To hash is here also to compare with the fingerprint of
// what was verified (fingerprints.h).
//
// The same holds for generations that were found false: while the stamps stay the same they are
// not read again.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace firn::store {

struct FileStat;

inline constexpr std::int64_t kHashAgainNs = 600'000'000'000;
inline constexpr std::int64_t kStampSettlesNs = 3'000'000'000;

// The time twice: as files bear it, and one that is never set.
struct Moment {
  std::int64_t unix_ns = 0;
  std::int64_t steady_ns = 0;

  static Moment now();
};

// The files that some bytes were read from, as they were before and after.
struct ReadStamps {
  std::uint64_t print = 0;      // of all stamps, in order
  std::int64_t changed_ns = 0;  // the last change of any of them
  bool steady = true;           // every file was the same before and after; times are known

  void add(const FileStat& before, const FileStat& after);
};

// Any thread, also at once.
class HashMemory {
 public:
  // `hashed_since_ns`: this process has hashed everything since then (Unix time), and found it to
  // be what the manifest says; 0: it has not.
  HashMemory(std::uint32_t generation_count, std::int64_t hashed_since_ns, Moment now);

  // The generation's bytes, just read, need no hashing.
  bool knows(std::uint32_t generation, const ReadStamps& stamps, Moment now);
  // They were hashed, or compared with what was (fingerprints.h), and are right.
  void hashed(std::uint32_t generation, const ReadStamps& stamps, Moment now);
  // They are not.
  void found_false(std::uint32_t generation, const ReadStamps& stamps, Moment now);
  // The files stand as they did when the generation was found false.
  bool knows_false(std::uint32_t generation, const ReadStamps& stamps, Moment now);

 private:
  enum class State : std::uint8_t { kUnknown, kHashed, kHashedAtStart, kFalse };
  struct Entry {
    std::uint64_t print = 0;
    std::int64_t hashed_ns = 0;  // steady
    State state = State::kUnknown;
  };

  // kUnknown after ten minutes.
  Entry recent(std::uint32_t generation, Moment now);
  void keep(std::uint32_t generation, const ReadStamps& stamps, Moment now, State state);

  const std::int64_t hashed_since_ns_;
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace firn::store
