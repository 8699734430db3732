// One file of an origin, read in order to its end as a file of this machine is read: the caller
// waits for bytes. What passes (no connection, a server that is overloaded or closes early) is
// tried again, and reading goes on behind the last byte that came. A server that has never been
// reached is given up after kFirstAttempts: its name may be wrong.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/app/origin/transfers.h"
#include "proto/base/result.h"

namespace firn::app {

// Which state of the file is read: that of the first answer, or of an earlier run's.
struct OriginFileState {
  std::optional<std::uint64_t> bytes;  // nullopt: the server did not say
  std::string validator;               // as TransferRequest's; empty: the server gives none
  std::string last_modified;           // as OriginAnswer's

  // Whether reading can begin behind the file's first bytes, and be sure that it is the same file.
  bool can_go_on() const { return bytes.has_value() && !validator.empty(); }
  // As a manifest has it; 0: the server did not say.
  std::int64_t modified_ns() const {
    return seconds_of_date(last_modified).value_or(0) * 1'000'000'000;
  }
};

struct OriginReadingOptions {
  using Duration = std::chrono::microseconds;

  std::optional<Duration> timeout;     // reading ends if nothing comes for so long; nullopt: never
  std::uint64_t bytes_per_second = 0;  // at most; 0: no limit
  std::function<bool()> cancelled;     // polled while waiting; may be empty
  std::function<void()> waits;         // called now and then while nothing comes; may be empty
  // Why nothing comes, and when it is tried again; in the thread that reads. May be empty.
  std::function<void(const std::string& message)> tell;
  Duration first_pause = std::chrono::seconds(1);  // before another try; then twice as long each
  Duration longest_pause = std::chrono::seconds(60);
};

// One thread at a time, any thread.
class OriginReading {
 public:
  static constexpr int kFirstAttempts = 3;

  OriginReading(std::shared_ptr<Transfers> transfers, OriginUrl url,
                std::shared_ptr<const OriginAccess> access, OriginReadingOptions options);
  ~OriginReading();
  OriginReading(const OriginReading&) = delete;
  OriginReading& operator=(const OriginReading&) = delete;

  // Waits for the server's answer; then read() gives the bytes from `first` on. `first` above 0: at
  // most known.bytes, of the file in the state `known` (can_go_on()). May be called again, also
  // after errors. Errors, of read() too: kUnreachable (given up after the timeout; the server has
  // no such file or refuses it, or is never reached; bytes are missing and the server gives nothing
  // to go on by), kCorrupt (the file has changed: changed()), kCancelled, and those of TransferEnd.
  Status begin(std::uint64_t first, const OriginFileState& known);
  // After begin().
  const OriginFileState& state() const { return state_; }

  // At least one byte, and no more than `out` has; 0: that was the end of the file, all bytes of
  // which have come.
  Result<std::size_t> read(std::span<std::uint8_t> out);

  // Whether the last error was that the file is another one than before.
  bool changed() const { return changed_; }

 private:
  using Clock = std::chrono::steady_clock;
  class Inflow;

  Status connect();
  TransferRequest next_request();
  Status await(const std::function<bool()>& event, std::optional<Clock::time_point> until);
  Status recover(const TransferEnd& end);
  Error given_up(const std::string& why) const;
  std::size_t inflow_bytes_max() const;
  void drop_inflow();

  const std::shared_ptr<Transfers> transfers_;
  const OriginUrl url_;
  const std::shared_ptr<const OriginAccess> access_;
  const OriginReadingOptions options_;

  OriginFileState state_;
  std::uint64_t position_ = 0;  // of the next byte that read() gives
  bool whole_ = false;  // the server gives no ranges: all is asked for, the rest passed over
  bool changed_ = false;
  int vain_attempts_ = 0;  // to reach the server; none counts once it has been reached
  bool reached_ = false;   // in this run or, as bytes are known, in an earlier one

  // Of the present transfer.
  std::uint64_t id_ = 0;
  std::shared_ptr<Inflow> inflow_;   // null: none
  std::uint64_t to_pass_over_ = 0;   // bytes that it brings before position_
  std::vector<std::uint8_t> chunk_;  // taken out of inflow_
  std::size_t chunk_used_ = 0;

  Clock::time_point progressed_;  // since when nothing has come that was waited for
  Clock::time_point allowed_;     // when the limit allows the next bytes
  Clock::duration pause_{};       // before the next try
  std::string trouble_;           // why the last transfer ended; empty: none did
};

}  // namespace firn::app
