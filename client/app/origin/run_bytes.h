// The bytes of a run of generations on their way from the transfers' thread to the main thread.
//
//   TransferSink::take  -->  put()  -->  buffers of the generations  -->  take_next()
//   (transfers' thread)      copies      (main thread: add_room)          (main thread, in order)
//
// Several transfers may fill a run at a time, each from its own position on. Where a generation has
// no buffer yet a transfer waits: take() returns false, having taken what there was room for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/app/origin/transfers.h"
#include "client/app/runtime/buffer_pool.h"

namespace firn::app {

class RunBytes {
 public:
  // `sizes`: content bytes of each generation. `changed`: called by the transfers' thread when a
  // generation has come whole, or a transfer has ended; must return at once.
  RunBytes(const std::vector<std::uint64_t>& sizes, std::function<void()> changed);

  // --- main thread ---

  // For the next generation without one; at least of its size.
  void add_room(std::shared_ptr<Buffer> buffer);
  std::size_t rooms() const { return rooms_added_; }
  // How many bytes of the run have room, or had.
  std::uint64_t room_end() const { return starts_[rooms_added_]; }
  // The next generation, in order, if all of its bytes have come; else null.
  std::shared_ptr<Buffer> take_next();
  // Nothing is taken while it holds. Transfers are to be resumed after.
  void hold(bool holds);
  // What still comes is thrown away.
  void close();
  // Bytes that have been taken, and not thrown away.
  std::uint64_t received() const;

 private:
  friend class PieceSink;
  std::size_t put(std::uint64_t at, std::span<const std::uint8_t> bytes);

  mutable std::mutex mutex_;
  const std::function<void()> changed_;
  std::vector<std::uint64_t> starts_;  // of each generation in the run; the run's end
  std::size_t rooms_added_ = 0;        // main thread
  std::size_t taken_ = 0;              // main thread
  // With the mutex.
  std::vector<std::shared_ptr<Buffer>> rooms_;
  std::vector<std::uint64_t> filled_;  // bytes of each generation that have come
  std::uint64_t received_ = 0;
  bool holds_ = false;
  bool closed_ = false;
};

// One transfer of a run.
class PieceSink final : public TransferSink {
 public:
  // Its first byte is the run's byte `at`.
  PieceSink(std::shared_ptr<RunBytes> run, std::uint64_t at) : run_(std::move(run)), at_(at) {}

  // What has become of it, for the main thread.
  struct News {
    std::string validator;  // of the answer, once it has come
    std::uint64_t taken = 0;
    std::optional<TransferEnd> end;
  };
  News news() const;
  // Whether it waited, and need not any more. Once: it is to be resumed.
  bool may_go_on();

  Status head(const OriginAnswer& answer) override;
  bool take(std::span<const std::uint8_t> bytes) override;
  void ended(const TransferEnd& end) override;

 private:
  const std::shared_ptr<RunBytes> run_;
  const std::uint64_t at_;
  std::size_t ahead_ = 0;  // of the bytes that come again: taken before. Transfers' thread
  // With the run's mutex.
  News news_;
  bool waits_ = false;
};

}  // namespace firn::app
