// A row of bytes for kernel tests, in memory of its own: the page behind it cannot be touched, and
// guard bytes stand around it.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

namespace firn::codec {

class GuardedRow {
 public:
  static constexpr std::uint8_t kGuard = 0xa5;

  // The row ends `gap` bytes before the forbidden page: 0 shows reads beyond the end, other gaps
  // give other alignments.
  GuardedRow(std::size_t bytes, std::size_t gap) : bytes_(bytes), gap_(gap) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    usable_ = (kFront + bytes + gap + page - 1) / page * page;
    mapped_ = usable_ + page;
    void* base = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) std::abort();
    base_ = static_cast<std::uint8_t*>(base);
    if (mprotect(base_ + usable_, page, PROT_NONE) != 0) std::abort();
    std::fill_n(base_, usable_, kGuard);
  }
  ~GuardedRow() { munmap(base_, mapped_); }
  GuardedRow(const GuardedRow&) = delete;
  GuardedRow& operator=(const GuardedRow&) = delete;

  std::uint8_t* data() { return base_ + usable_ - gap_ - bytes_; }
  std::span<std::uint8_t> bytes() { return {data(), bytes_}; }

  bool guards_intact() {
    const auto is_guard = [](std::uint8_t byte) { return byte == kGuard; };
    return std::all_of(base_, data(), is_guard) &&
           std::all_of(data() + bytes_, base_ + usable_, is_guard);
  }

 private:
  static constexpr std::size_t kFront = 64;
  std::size_t bytes_, gap_, usable_, mapped_;
  std::uint8_t* base_;
};

}  // namespace firn::codec
