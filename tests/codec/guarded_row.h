// A row of bytes for kernel tests, in memory of its own: the pages before and behind it cannot be
// touched, and guard bytes stand around it.
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

  enum class At { kEnd, kStart };

  // The row ends `gap` bytes before the forbidden page behind it, or begins as many after the one
  // before it: 0 shows reads beyond that end, other gaps give other alignments.
  GuardedRow(std::size_t bytes, std::size_t gap, At at = At::kEnd) : bytes_(bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    usable_ = (kRoom + bytes + gap + page - 1) / page * page;
    mapped_ = usable_ + 2 * page;
    void* base = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) std::abort();
    mapping_ = static_cast<std::uint8_t*>(base);
    base_ = mapping_ + page;
    if (mprotect(base_, usable_, PROT_READ | PROT_WRITE) != 0) std::abort();
    row_ = at == At::kStart ? base_ + gap : base_ + usable_ - gap - bytes;
    std::fill_n(base_, usable_, kGuard);
  }
  ~GuardedRow() { munmap(mapping_, mapped_); }
  GuardedRow(const GuardedRow&) = delete;
  GuardedRow& operator=(const GuardedRow&) = delete;

  std::uint8_t* data() { return row_; }
  std::span<std::uint8_t> bytes() { return {data(), bytes_}; }

  bool guards_intact() {
    const auto is_guard = [](std::uint8_t byte) { return byte == kGuard; };
    return std::all_of(base_, data(), is_guard) &&
           std::all_of(data() + bytes_, base_ + usable_, is_guard);
  }

 private:
  static constexpr std::size_t kRoom = 64;  // for guard bytes at the other end
  std::size_t bytes_, usable_, mapped_;
  std::uint8_t *mapping_, *base_, *row_;
};

}  // namespace firn::codec
