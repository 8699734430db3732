// Where two runs of bytes differ: what has to be written to make one the other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace firn::store {

struct ByteRun {
  std::size_t begin = 0;
  std::size_t bytes = 0;
  bool operator==(const ByteRun&) const = default;
};

// The runs of `wanted` that differ from `there` (of equal size). Equal bytes between two runs are
// left out where there are at least a page of them: shorter gaps cost more calls than they save.
std::vector<ByteRun> differing_runs(std::span<const std::uint8_t> there,
                                    std::span<const std::uint8_t> wanted);

// The same where all bytes that are there are zeros, as in a hole: whole pages of zeros, counted
// from `position` in their file, are left out.
std::vector<ByteRun> runs_beside_zeros(std::uint64_t position,
                                       std::span<const std::uint8_t> wanted);

}  // namespace firn::store
