#include "client/store/differences.h"

#include <algorithm>
#include <cstring>

namespace firn::store {
namespace {

constexpr std::size_t kPage = 4096;

// Adds a run, or lengthens the last one if the gap between them is short.
void add_run(std::vector<ByteRun>& runs, std::size_t begin, std::size_t end, std::size_t gap_min) {
  if (!runs.empty() && begin - (runs.back().begin + runs.back().bytes) < gap_min) {
    runs.back().bytes = end - runs.back().begin;
  } else {
    runs.push_back({begin, end - begin});
  }
}

bool all_zero(std::span<const std::uint8_t> bytes) {
  // Every byte equals the one before it, and the first is zero.
  return bytes.empty() ||
         (bytes[0] == 0 && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

}  // namespace

std::vector<ByteRun> differing_runs(std::span<const std::uint8_t> there,
                                    std::span<const std::uint8_t> wanted) {
  std::vector<ByteRun> runs;
  for (std::size_t page = 0; page < wanted.size(); page += kPage) {
    const std::size_t end = std::min(page + kPage, wanted.size());
    if (std::memcmp(there.data() + page, wanted.data() + page, end - page) == 0) continue;
    std::size_t first = page, last = end;
    while (there[first] == wanted[first]) ++first;
    while (there[last - 1] == wanted[last - 1]) --last;
    add_run(runs, first, last, kPage);
  }
  return runs;
}

std::vector<ByteRun> runs_beside_zeros(std::uint64_t position,
                                       std::span<const std::uint8_t> wanted) {
  std::vector<ByteRun> runs;
  for (std::size_t begin = 0; begin < wanted.size();) {
    const std::size_t to_boundary = kPage - (position + begin) % kPage;
    const std::size_t end = std::min(begin + to_boundary, wanted.size());
    if (!all_zero(wanted.subspan(begin, end - begin))) add_run(runs, begin, end, 1);
    begin = end;
  }
  return runs;
}

}  // namespace firn::store
