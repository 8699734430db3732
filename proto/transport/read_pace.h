// When to look again for the rest of a TLS record that comes slowly.
//
// Nothing can be done with a record before all of it is there. On a slow link it comes a segment at
// a time, and being woken for each costs a dozen wake-ups for each block. Worse, reading each
// segment makes room for the next, and Linux then acknowledges every second one; what waits unread
// is acknowledged in one, when it is read (tcp_input.c, __tcp_ack_snd_check). So who knows how much
// is missing and at what rate it comes leaves it alone until it should be there.
#pragma once

#include <cstddef>
#include <cstdint>

namespace firn::proto::transport {

// One connection. No clock of its own: times are microseconds of any one clock.
class ReadPace {
 public:
  // All there was has been read, `received_bytes` since the connection began, and `awaited_bytes`
  // of a record are missing (0: none has begun). Returns for how many milliseconds reading may
  // rest; 0: no rest, wait for the socket. So it is where nothing has come since the last call: a
  // record that stands still is left to the socket, as many such connections may be.
  std::uint64_t rest_ms(std::size_t awaited_bytes, std::uint64_t received_bytes,
                        std::uint64_t now_us);

 private:
  double bytes_per_us_ = 0;  // at which records come, of late; 0: not known
  // As of the last call:
  std::size_t awaited_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t last_us_ = 0;
};

}  // namespace firn::proto::transport
