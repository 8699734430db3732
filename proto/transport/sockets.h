// TCP sockets as this module uses them: non-blocking, closed on exec, without Nagle's delay, with
// little unsent data in the kernel.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "proto/base/address.h"
#include "proto/base/result.h"

namespace firn::proto::transport {

class Source;  // source.h

// Owns a file descriptor.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~Socket() { reset(); }

  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset();

 private:
  int fd_ = -1;
};

// An IPv4 or IPv6 address with a port, as the kernel writes it.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t bytes = 0;

  static SocketAddress from(const sockaddr* address, socklen_t bytes);
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }

  // Numeric, without a zone; an IPv4 address mapped into IPv6 is shown as IPv4.
  std::string ip() const;
  std::uint16_t port() const;
  std::string text() const;  // IP:PORT, IPv6 in brackets
};

// nullopt if `host` is not numeric; never asks a name server.
std::optional<SocketAddress> numeric_address(const std::string& host, std::uint16_t port);

struct Listening {
  Socket socket;
  SocketAddress address;  // with the port that the kernel chose
};
// "", "*" and "::" listen on IPv6 and IPv4 alike, within the source's interface if it names one. A
// name is looked up (and waited for).
// Errors: kExists (port in use), kBadInput (no such name or address here, not allowed).
Result<Listening> open_listening(const Address& where, const Source& source);
Result<Listening> open_listening(const Address& where);  // on whatever interface

// Begins to connect, from `source`. The outcome shows when the socket becomes writable; see
// connect_outcome(). Empty with errno set if even that fails.
Socket begin_connect(const SocketAddress& where, const Source& source);

// 0, or the errno with which the connection failed.
int connect_outcome(int fd);

// Bytes that have come and not been read; 0 also where the other side has ended or the kernel does
// not tell. Unlike reading, or peeking, asking acknowledges nothing.
std::size_t waiting_bytes(int fd);

// Throws away what has come, `bytes_max` at most. False: nothing more will come.
bool discard_incoming(int fd, std::size_t bytes_max);

// What comes next is acknowledged when it is read, with data that goes the other way, or after the
// kernel's delay (tcp(7), TCP_QUICKACK). After a pause of the sender Linux acknowledges each of the
// next 16 segments at once, and it forgets this when its delay runs out: so say it often.
void acknowledge_calmly(int fd);

// Options of a connection; those that the kernel refuses are left alone (they only cost speed).
void tune(int fd, int notsent_lowat_bytes);

// Lets the kernel probe an idle connection, and end it (ETIMEDOUT) when it is not answered: about
// `silence_ms` after the last word, in whole seconds.
void probe_when_idle(int fd, std::uint64_t silence_ms);

// What the other side's kernel owes us.
struct Acknowledgement {
  bool awaited = false;           // something that was sent, or a probe of a closed window
  std::uint64_t last_ms_ago = 0;  // since the last one came
};
Acknowledgement acknowledgement(int fd);

}  // namespace firn::proto::transport
