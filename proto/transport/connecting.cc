// From a name to a TCP connection: look the name up, try its addresses in turn.
#include <netdb.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "proto/transport/connection.h"
#include "proto/transport/io_loop.h"

namespace firn::proto::transport {
namespace {

constexpr std::size_t kCandidatesMax = 16;

std::string explain(int error_number, std::chrono::milliseconds timeout) {
  switch (error_number) {
    case ECONNREFUSED:
      return "connection refused; is it running there, and is the port right?";
    case ETIMEDOUT:
      return "no answer within " + std::to_string(timeout.count()) +
             " ms; check the address, and firewalls in between";
    case EADDRNOTAVAIL:  // of another family, or its interface has lost it
    case EINVAL:         // as from 127.0.0.1 to another machine
      return "the address or interface that connections are to leave from does not reach it";
    default:
      return std::strerror(error_number);
  }
}

}  // namespace

// Runs on libuv's pool and may outlive its connection, which it therefore knows by number.
struct Connection::Lookup {
  uv_getaddrinfo_t request;
  IoLoop& loop;
  ConnectionId id;
};

void Connection::connect(const Address& where) {
  outgoing_ = true;
  where_ = where;
  arm_timer();
  if (const auto address = numeric_address(where.host, where.port)) {
    candidates_ = {*address};
    return try_next_address();
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  auto lookup = std::make_unique<Lookup>(Lookup{{}, loop_, id_});
  lookup->request.data = lookup.get();
  const auto done = [](uv_getaddrinfo_t* request, int status, addrinfo* list) {
    const std::unique_ptr<Lookup> finished(static_cast<Lookup*>(request->data));
    if (Connection* connection = finished->loop.find(finished->id)) {
      connection->lookup_ = nullptr;
      connection->looked_up(status, list);
    }
    uv_freeaddrinfo(list);
  };
  const int status = uv_getaddrinfo(loop_.uv(), &lookup->request, done, where.host.c_str(),
                                    std::to_string(where.port).c_str(), &hints);
  if (status != 0) return looked_up(status, nullptr);
  lookup_ = lookup.release();
}

// Only a look-up that has not begun can be cancelled; another ends by itself and finds nobody.
void Connection::cancel_lookup() {
  uv_cancel(reinterpret_cast<uv_req_t*>(&std::exchange(lookup_, nullptr)->request));
}

void Connection::looked_up(int status, const addrinfo* list) {
  if (status != 0) {
    return finish(ErrorCode::kUnreachable, "the name does not resolve (" +
                                               std::string(uv_strerror(status)) +
                                               "); check its spelling, and the network");
  }
  for (; list != nullptr && candidates_.size() < kCandidatesMax; list = list->ai_next)
    candidates_.push_back(SocketAddress::from(list->ai_addr, list->ai_addrlen));
  std::reverse(candidates_.begin(), candidates_.end());
  try_next_address();
}

void Connection::try_next_address() {
  while (!candidates_.empty()) {
    const SocketAddress address = candidates_.back();
    // What time is left is shared evenly, so that one dead address does not use it all.
    const std::uint64_t now = now_ms();
    const std::uint64_t left = deadline_ms_ > now ? deadline_ms_ - now : 0;
    attempt_deadline_ms_ = now + left / candidates_.size();
    candidates_.pop_back();
    socket_ = begin_connect(address, loop_.shared().source);
    if (!socket_ || !start_polling()) {
      last_errno_ = errno;
      continue;
    }
    info_.ip = address.ip();
    info_.port = address.port();
    state_ = State::kConnecting;
    arm_timer();
    return watch();
  }
  finish(ErrorCode::kUnreachable, explain(last_errno_, loop_.shared().options.connect_timeout));
}

void Connection::finish_attempt() {
  const int error_number = connect_outcome(socket_.fd());
  if (error_number != 0) return attempt_failed(error_number);
  begin_handshake();
}

void Connection::attempt_failed(int error_number) {
  poll_.reset();
  socket_.reset();
  last_errno_ = error_number;
  try_next_address();
}

}  // namespace firn::proto::transport
