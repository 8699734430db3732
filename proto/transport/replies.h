// Where a sink that answers at once puts the frames that go out on the connection it was asked on.
// One buffer for all connections of a loop: it holds bytes only while one of them is read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace firn::proto::transport {

// One thread.
class Replies {
 public:
  // Where up to `bytes` more may be written; follow with commit(bytes written). Valid until then.
  std::uint8_t* prepare(std::size_t bytes) {
    if (buffer_.size() - size_ < bytes) buffer_.resize(std::max(2 * buffer_.size(), size_ + bytes));
    return buffer_.data() + size_;
  }
  void commit(std::size_t bytes) { size_ += bytes; }

  // Answers come later, by Transport::answer(): until the next of them the connection is not read
  // on.
  void come_later() { later_ = true; }
  bool later() const { return later_; }

  std::size_t size() const { return size_; }
  std::span<const std::uint8_t> bytes() const { return std::span(buffer_).first(size_); }
  void clear() {
    size_ = 0;
    later_ = false;
    if (buffer_.size() > kKeptBytes) std::vector<std::uint8_t>().swap(buffer_);
  }

 private:
  static constexpr std::size_t kKeptBytes = 1 << 20;
  std::vector<std::uint8_t> buffer_;
  std::size_t size_ = 0;
  bool later_ = false;
};

}  // namespace firn::proto::transport
