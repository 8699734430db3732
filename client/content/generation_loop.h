// Runs one step (read, hash, compare) for many generations on several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "proto/content/manifest.h"

namespace firn::content {

// `buffer` has n * k bytes, belongs to the calling thread and holds anything.
using GenerationStep =
    std::function<Status(std::uint32_t generation, std::span<std::uint8_t> buffer)>;

struct GenerationLoop {
  unsigned threads = 2;  // the caller's is one of them
  // Both may be empty; called in the caller's thread only, between its steps, so `done` advances
  // in jumps. progress(total, total) comes once at a good end.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;  // content bytes
  std::function<bool()> cancelled;
};

// Steps start in the order of `generations` and run at once in several threads. After a failed
// step no new one starts; the error of the earliest failed one (in the list's order) is returned.
// kCancelled when `cancelled` said so. Memory: one generation per thread.
Status for_each_generation(const Shape& shape, std::span<const std::uint32_t> generations,
                           const GenerationLoop& loop, const GenerationStep& step);

}  // namespace firn::content
