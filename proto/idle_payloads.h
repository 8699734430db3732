// Memory of payloads that are not used any more, kept for the next ones of the same size: a peer
// takes and gives back one of 16 KiB for each block, on different threads, which costs the
// allocator locks, the splitting and joining of chunks, and page faults where it returns memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace firn::proto {

// Any thread.
class IdlePayloads {
 public:
  static constexpr std::size_t kBytesMin = 1024;  // smaller ones are the allocator's
  // False in instrumented programs, where memory that is kept would hide that it is used after its
  // end.
  static bool keeps();
  static constexpr std::size_t kIdleMax = std::size_t{4} << 20;  // bytes kept in all

  ~IdlePayloads();

  // Memory of that size, aligned as asked of the allocator.
  std::uint8_t* take(std::size_t bytes);
  void give_back(std::uint8_t* data, std::size_t bytes);
  std::size_t idle_bytes() const;

 private:
  struct Shelf {  // for one size
    std::size_t bytes = 0;
    std::uint64_t used = 0;  // uses_ when it was used last
    std::vector<std::uint8_t*> idle;
  };
  Shelf* shelf_of(std::size_t bytes);
  Shelf& take_shelf(std::size_t bytes);
  bool make_room(const Shelf& wanted);
  void clear(Shelf& shelf);

  mutable std::mutex mutex_;
  std::array<Shelf, 4> shelves_;  // the sizes used last
  std::uint64_t uses_ = 0;
  std::size_t idle_bytes_ = 0;
};

}  // namespace firn::proto
