// From an address to a TCP connection: looks the name up, and tries the addresses that it has, the
// next one whenever those before it have not answered for a moment (RFC 8305, "Happy Eyeballs").
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proto/base/address.h"
#include "proto/transport/name_lookup.h"
#include "proto/transport/polled_socket.h"
#include "proto/transport/sockets.h"
#include "proto/transport/timer.h"

namespace firn::proto::transport {

class IoLoop;

// What people read when the other side did not answer in time.
std::string no_answer_within(std::chrono::milliseconds timeout);

// One connection, on its loop's thread. Destroyed, it gives up: how long it may take is its owner's
// business.
class Dialer {
 public:
  struct Connected {
    Socket socket;
    SocketAddress address;
  };
  // Called once, also from within begin() and try_all(), and may destroy the dialer. The error's
  // detail says why, for people.
  using Done = std::function<void(Result<Connected>)>;

  Dialer(IoLoop& loop, Done done);
  ~Dialer();

  void begin(const Address& where);
  // The one that answers first.
  void try_all(const Addresses& addresses);

 private:
  struct Attempt;

  void try_next();
  void over(Attempt& attempt);
  void settle(Result<Connected> outcome);
  Error failure() const;

  IoLoop& loop_;
  Done done_;
  NameLookup lookup_;
  Addresses candidates_;  // last one is tried next
  std::vector<std::unique_ptr<Attempt>> attempts_;
  Timer next_;
  int last_errno_ = 0;
};

}  // namespace firn::proto::transport
