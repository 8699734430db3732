// When to look for a TLS record, or the rest of one, that comes slowly.
//
// Nothing can be done with a record before all of it is there. On a slow link it comes a segment at
// a time, and being woken for each costs a dozen wake-ups for each block. Worse, reading each
// segment makes room for the next, and Linux then acknowledges every second one; what waits unread
// is acknowledged in one, when it is read (tcp_input.c, __tcp_ack_snd_check). So a
// reader that knows how much is missing, and at what rate it comes, leaves it alone until it should
// be there. Of a record that
// has just begun one can tell as much before reading it: what comes in whole segments is as long as
// the last that came so.
#pragma once

#include <cstddef>
#include <cstdint>

namespace firn::proto::transport {

// One connection. No clock of its own: times are microseconds of any one clock.
class ReadPace {
 public:
  // Between records the socket has become readable and holds `waiting_bytes`, of which nothing has
  // been read. Returns for how many milliseconds reading may rest; 0: read now.
  std::uint64_t first_rest_ms(std::size_t waiting_bytes, std::uint64_t now_us);

  // All there was has been read, `received_bytes` since the connection began, and `awaited_bytes`
  // of a record are missing (0: none has begun). Returns for how many milliseconds reading may
  // rest; 0: no rest, wait for the socket. So it is where nothing has come since the last call: a
  // record that stands still is left to the socket, as many such connections may be.
  std::uint64_t rest_ms(std::size_t awaited_bytes, std::uint64_t received_bytes,
                        std::uint64_t now_us);

 private:
  std::uint64_t rest_for(std::size_t missing_bytes) const;

  double bytes_per_us_ = 0;      // at which records come, of late; 0: not known
  std::size_t usual_bytes_ = 0;  // came between two moments without a record; 0: not known
  std::uint64_t idle_at_ = 0;    // bytes received at the last such moment
  std::size_t waiting_ = 0;      // when a first rest began
  // As of the last call:
  std::size_t awaited_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t last_us_ = 0;
};

}  // namespace firn::proto::transport
