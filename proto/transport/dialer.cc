#include "proto/transport/dialer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "proto/transport/io_loop.h"

namespace firn::proto::transport {
namespace {

constexpr std::size_t kCandidatesMax = 16;

std::string explain(int error_number, std::chrono::milliseconds timeout) {
  switch (error_number) {
    case ECONNREFUSED:
      return "connection refused; is it running there, and is the port right?";
    case ETIMEDOUT:
      return no_answer_within(timeout);
    case EADDRNOTAVAIL:  // of another family, or its interface has lost it
    case EINVAL:         // as from 127.0.0.1 to another machine
      return "the address or interface that connections are to leave from does "
             "not reach it";
    default:
      return std::strerror(error_number);
  }
}

}  // namespace

std::string no_answer_within(std::chrono::milliseconds timeout) {
  return "no answer within " + std::to_string(timeout.count()) +
         " ms; check the address, and firewalls in between";
}

Dialer::Dialer(IoLoop& loop, PolledSocket& socket, std::uint64_t deadline_ms)
    : loop_(loop), socket_(socket), deadline_ms_(deadline_ms) {}

Dialer::Step Dialer::begin(const Address& where, std::function<void(Step)> looked_up) {
  if (const auto address = numeric_address(where.host, where.port)) {
    candidates_ = {*address};
    return try_next();
  }
  const int status =
      lookup_.start(loop_.uv(), where.host, where.port,
                    [this, looked_up = std::move(looked_up)](int outcome, const addrinfo* list) {
                      looked_up(answered(outcome, list));
                    });
  return status == 0 ? Step::kLookingUp : answered(status, nullptr);
}

Dialer::Step Dialer::answered(int status, const addrinfo* list) {
  if (status != 0) {
    failure_ = "the name does not resolve (" + std::string(uv_strerror(status)) +
               "); check its spelling, and the network";
    return Step::kFailed;
  }
  for (; list != nullptr && candidates_.size() < kCandidatesMax; list = list->ai_next)
    candidates_.push_back(SocketAddress::from(list->ai_addr, list->ai_addrlen));
  std::reverse(candidates_.begin(), candidates_.end());
  return try_next();
}

Dialer::Step Dialer::try_next() {
  while (!candidates_.empty()) {
    address_ = candidates_.back();
    // What time is left is shared evenly, so that one dead address does not use it all.
    const std::uint64_t now = uv_now(loop_.uv());
    const std::uint64_t left = deadline_ms_ > now ? deadline_ms_ - now : 0;
    attempt_deadline_ms_ = now + left / candidates_.size();
    candidates_.pop_back();
    Socket socket = begin_connect(address_, loop_.shared().source);
    if (socket && socket_.open(std::move(socket))) return Step::kTrying;
    last_errno_ = errno;
  }
  failure_ = explain(last_errno_, loop_.shared().options.connect_timeout);
  return Step::kFailed;
}

Dialer::Step Dialer::attempt_over() {
  const int error_number = connect_outcome(socket_.fd());
  return error_number == 0 ? Step::kConnected : attempt_failed(error_number);
}

Dialer::Step Dialer::attempt_timed_out() {
  return attempt_failed(ETIMEDOUT);
}

Dialer::Step Dialer::attempt_failed(int error_number) {
  socket_.close();
  last_errno_ = error_number;
  return try_next();
}

}  // namespace firn::proto::transport
