// TLS sessions between two ends of a socket, without an I/O loop.
#include "proto/transport/tls.h"

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "proto/transport/sockets.h"

namespace firn::proto::transport::test {
namespace {

using Side = TlsContext::Side;

// Two ends that change their keys after each record.
class Ends {
 public:
  Ends() {
    std::array<int, 2> fds = {};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds.data()) == 0);
    for (std::size_t i = 0; i < 2; ++i) {
      sockets_[i] = Socket(fds[i]);
      const int bytes = 4096;
      ::setsockopt(fds[i], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
      const Side side = i == 0 ? Side::kClient : Side::kServer;
      sessions.push_back(context_.session(side, fds[i], std::nullopt).value());
    }
    bool done = false;
    for (int turn = 0; turn < 20 && !done; ++turn) {
      const TlsOutcome first = sessions[0].handshake().outcome;
      done = sessions[1].handshake().outcome == TlsOutcome::kDone && first == TlsOutcome::kDone;
    }
    REQUIRE(done);
  }

  // Sends records of `bytes` each until the socket is full; says how many went.
  std::size_t fill(std::size_t end, std::size_t bytes) {
    const std::vector<std::uint8_t> record(bytes, 7);
    for (std::size_t sent = 0;; ++sent) {
      const TlsOutcome outcome = sessions[end].write(record).outcome;
      if (outcome == TlsOutcome::kWantWrite) return sent;
      REQUIRE(outcome == TlsOutcome::kDone);
    }
  }
  // Reads what is there. kWantRead: all of it.
  TlsOutcome drain(std::size_t end, std::size_t& bytes) {
    std::array<std::uint8_t, 4096> into = {};
    sessions[end].look_again();
    for (;;) {
      const TlsProgress progress = sessions[end].read(into);
      if (progress.outcome != TlsOutcome::kDone) return progress.outcome;
      bytes += progress.bytes;
    }
  }

  std::vector<TlsSession> sessions;

 private:
  std::array<Socket, 2> sockets_;
  TlsContext context_ = TlsContext::make(Identity::generate().value(), 1).value();
};

}  // namespace

// Among these sizes are some with which the last that does not fit is a change of the key.
TEST_CASE("two ends with full sockets that change their keys at once read what has come") {
  for (std::size_t bytes = 1; bytes < 200; bytes += 3) {
    CAPTURE(bytes);
    Ends ends;
    const std::array<std::size_t, 2> sent = {ends.fill(0, bytes), ends.fill(1, bytes)};
    const std::vector<std::uint8_t> last(bytes, 7);
    std::array<std::size_t, 2> came = {};
    for (std::size_t end = 0; end < 2; ++end)
      REQUIRE(ends.drain(end, came[end]) == TlsOutcome::kWantRead);
    for (std::size_t end = 0; end < 2; ++end)
      REQUIRE(ends.sessions[end].write(last).outcome == TlsOutcome::kDone);
    for (std::size_t end = 0; end < 2; ++end) {
      REQUIRE(ends.drain(end, came[end]) == TlsOutcome::kWantRead);
      CHECK(came[end] == (sent[1 - end] + 1) * bytes);
    }
  }
}

}  // namespace firn::proto::transport::test
