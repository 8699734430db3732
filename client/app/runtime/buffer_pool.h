// Large buffers, used again and again: a generation's bytes. Fresh ones would be taken from and
// given back to the kernel each time, page by page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace firn::app {

// Uninitialised bytes, aligned as disks want them.
class Buffer {
 public:
  static constexpr std::size_t kAlignment = 4096;

  explicit Buffer(std::size_t bytes);
  std::span<std::uint8_t> bytes() { return {data_.get(), size_}; }
  std::span<const std::uint8_t> bytes() const { return {data_.get(), size_}; }

 private:
  struct Free {
    std::size_t bytes;
    void operator()(std::uint8_t* data) const;
  };
  std::size_t size_;
  std::unique_ptr<std::uint8_t, Free> data_;
};

using SharedBuffer = std::shared_ptr<const Buffer>;

// Any thread. Buffers may outlive the pool.
class BufferPool {
 public:
  // Keeps at most `idle_bytes_max` in buffers that are not in use.
  explicit BufferPool(std::size_t idle_bytes_max);

  // A buffer of exactly `bytes`, which goes back to the pool with its last reference.
  std::shared_ptr<Buffer> take(std::size_t bytes);

 private:
  struct Shelf {
    std::mutex mutex;
    std::size_t idle_bytes_max = 0;
    std::size_t idle_bytes = 0;
    std::vector<std::unique_ptr<Buffer>> idle;
  };
  std::shared_ptr<Shelf> shelf_;
};

}  // namespace firn::app
