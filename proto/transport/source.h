// Where connections go out from: one address, an interface, both, or wherever the kernel likes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/base/result.h"
#include "proto/transport/sockets.h"

namespace firn::proto::transport {

class Source {
 public:
  // Wherever the kernel likes.
  Source() = default;
  // The interface of that name. Errors: kBadInput (there is none, it is down, it has no address).
  static Result<Source> of_interface(const std::string& name);

  // From now on that one address alone, as of a socket that listens; unchanged if it stands for all
  // addresses. Errors: kBadInput (the address is not one of the interface).
  Status narrow_to(const SocketAddress& address);

  // Empty: no interface was named.
  const std::string& interface() const { return interface_; }
  // The address that stands for the interface where its name alone is not enough; none without one.
  std::optional<SocketAddress> first_address() const;

  // Makes a socket that is about to connect leave from here. False, with errno set, if it cannot
  // reach addresses of that family from here.
  bool bind(int fd, int family) const;

 private:
  bool has(const SocketAddress& address) const;

  struct InterfaceAddress {
    SocketAddress address;   // port 0
    bool whole_net = false;  // of loopback: all of 127.0.0.0/8 is its own
  };
  std::string interface_;
  std::vector<InterfaceAddress> addresses_;  // of the interface, those of wide use first
  std::optional<SocketAddress> only_;        // port 0
};

// Binds a socket to an interface, whatever its address. False where the kernel does not allow it
// (before Linux 5.7 without privileges).
bool bind_to_interface(int fd, const std::string& name);

}  // namespace firn::proto::transport
