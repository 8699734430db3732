// From an address to a TCP connection: looks the name up, and tries the addresses it has in turn.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "proto/base/address.h"
#include "proto/transport/name_lookup.h"
#include "proto/transport/polled_socket.h"
#include "proto/transport/sockets.h"

namespace firn::proto::transport {

class IoLoop;

// What people read when the other side did not answer in time.
std::string no_answer_within(std::chrono::milliseconds timeout);

// One connection, on its loop's thread.
class Dialer {
 public:
  enum class Step {
    kLookingUp,  // the step after it comes by `looked_up`
    kTrying,     // address(), until attempt_deadline_ms(): then ask for
                 // attempt_timed_out()
    kConnected,  // to address()
    kFailed,     // failure() says why
  };

  // `socket` is opened for each attempt, and is the caller's to watch.
  Dialer(IoLoop& loop, PolledSocket& socket, std::uint64_t deadline_ms);

  Step begin(const Address& where, std::function<void(Step)> looked_up);
  // The socket has become writable, or is in error.
  Step attempt_over();
  Step attempt_timed_out();

  const SocketAddress& address() const { return address_; }
  std::uint64_t attempt_deadline_ms() const { return attempt_deadline_ms_; }
  const std::string& failure() const { return failure_; }

 private:
  Step answered(int status, const addrinfo* list);
  Step try_next();
  Step attempt_failed(int error_number);

  IoLoop& loop_;
  PolledSocket& socket_;
  const std::uint64_t deadline_ms_;
  NameLookup lookup_;
  std::vector<SocketAddress> candidates_;  // last one is tried next
  SocketAddress address_;                  // is being tried, or was
  std::uint64_t attempt_deadline_ms_ = 0;
  int last_errno_ = 0;
  std::string failure_;
};

}  // namespace firn::proto::transport
