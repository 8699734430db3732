#include "client/store/hash_memory.h"

#include <algorithm>
#include <chrono>

#include "client/store/files.h"

namespace firn::store {
namespace {

// The finalizer of SplitMix64: every bit of the input reaches every bit of the result.
std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

bool same(const FileStat& a, const FileStat& b) {
  return a.bytes == b.bytes && a.modified_ns == b.modified_ns && a.changed_ns == b.changed_ns &&
         a.inode == b.inode;
}

}  // namespace

Moment Moment::now() {
  using std::chrono::duration_cast, std::chrono::nanoseconds;
  return {duration_cast<nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count(),
          duration_cast<nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count()};
}

void ReadStamps::add(const FileStat& before, const FileStat& after) {
  if (!same(before, after) || after.changed_ns == 0) steady = false;
  changed_ns = std::max({changed_ns, after.changed_ns, after.modified_ns});
  for (const std::uint64_t field : {after.bytes, static_cast<std::uint64_t>(after.modified_ns),
                                    static_cast<std::uint64_t>(after.changed_ns), after.inode})
    print = mixed(print + 0x9e3779b97f4a7c15 + field);
}

HashMemory::HashMemory(std::uint32_t generation_count, std::int64_t hashed_since_ns, Moment now)
    : hashed_since_ns_(hashed_since_ns), entries_(generation_count) {
  if (hashed_since_ns_ == 0) return;
  const std::int64_t since =
      now.steady_ns - std::max<std::int64_t>(0, now.unix_ns - hashed_since_ns_);
  for (Entry& entry : entries_) entry = {0, since, State::kHashedAtStart};
}

HashMemory::Entry HashMemory::recent(std::uint32_t generation, Moment now) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[generation];
  if (now.steady_ns - entry.hashed_ns >= kHashAgainNs) entry.state = State::kUnknown;
  return entry;
}

void HashMemory::keep(std::uint32_t generation, const ReadStamps& stamps, Moment now, State state) {
  const bool settled = stamps.steady && stamps.changed_ns + kStampSettlesNs <= now.unix_ns;
  const std::lock_guard lock(mutex_);
  entries_[generation] = settled ? Entry{stamps.print, now.steady_ns, state} : Entry{};
}

bool HashMemory::knows(std::uint32_t generation, const ReadStamps& stamps, Moment now) {
  const Entry entry = recent(generation, now);
  if (!stamps.steady) return false;
  // Before that no stamp was kept: the files must be as they were when the hashing began.
  if (entry.state == State::kHashedAtStart)
    return stamps.changed_ns + kStampSettlesNs <= hashed_since_ns_;
  return entry.state == State::kHashed && entry.print == stamps.print;
}

void HashMemory::hashed(std::uint32_t generation, const ReadStamps& stamps, Moment now) {
  keep(generation, stamps, now, State::kHashed);
}

void HashMemory::found_false(std::uint32_t generation, const ReadStamps& stamps, Moment now) {
  keep(generation, stamps, now, State::kFalse);
}

bool HashMemory::knows_false(std::uint32_t generation, const ReadStamps& stamps, Moment now) {
  const Entry entry = recent(generation, now);
  return stamps.steady && entry.state == State::kFalse && entry.print == stamps.print;
}

}  // namespace firn::store
