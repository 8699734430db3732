#include "proto/transport/dialer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "proto/transport/io_loop.h"

namespace firn::proto::transport {
namespace {

constexpr std::size_t kCandidatesMax = 16;
constexpr std::uint64_t kNextAfterMs = 250;  // RFC 8305, section 5

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

// The families take turns, so that a network that lost one of them costs one attempt (RFC 8305,
// section 4).
Addresses in_turns(const Addresses& addresses) {
  Addresses firsts, others, all;
  for (const SocketAddress& address : addresses) {
    const bool first = address.storage.ss_family == addresses.front().storage.ss_family;
    (first ? firsts : others).push_back(address);
  }
  for (std::size_t i = 0; i < std::max(firsts.size(), others.size()); ++i) {
    if (i < firsts.size()) all.push_back(firsts[i]);
    if (i < others.size()) all.push_back(others[i]);
  }
  return all;
}

}  // namespace

std::string no_answer_within(std::chrono::milliseconds timeout) {
  return "no answer within " + std::to_string(timeout.count()) +
         " ms; check the address, and firewalls in between";
}

struct Dialer::Attempt {
  Attempt(Dialer& dialer, const SocketAddress& where)
      : address(where),
        socket(dialer.loop_.uv(), [this, &dialer](int, int) { dialer.over(*this); }) {}

  const SocketAddress address;
  PolledSocket socket;
};

Dialer::Dialer(IoLoop& loop, Done done)
    : loop_(loop), done_(std::move(done)), next_(loop.uv(), [this] { try_next(); }) {}

Dialer::~Dialer() = default;

void Dialer::begin(const Address& where) {
  if (const auto address = numeric_address(where.host, where.port)) return try_all({*address});
  const bool started =
      lookup_.start(loop_.uv(), where.host, where.port, [this](Result<Addresses> found) {
        if (!found) return settle(found.error());
        try_all(*found);
      });
  if (!started) settle(Error{ErrorCode::kBusy, "", "the name cannot be looked up: no descriptors"});
}

void Dialer::try_all(const Addresses& addresses) {
  candidates_ = in_turns(addresses);
  if (candidates_.size() > kCandidatesMax) candidates_.resize(kCandidatesMax);
  std::reverse(candidates_.begin(), candidates_.end());
  try_next();
}

void Dialer::try_next() {
  next_.stop();
  while (!candidates_.empty()) {
    auto attempt = std::make_unique<Attempt>(*this, candidates_.back());
    candidates_.pop_back();
    Socket socket = begin_connect(attempt->address, loop_.shared().source);
    last_errno_ = errno;
    if (!socket || !attempt->socket.open(std::move(socket))) continue;
    attempt->socket.wait_for(UV_WRITABLE);
    attempts_.push_back(std::move(attempt));
    if (!candidates_.empty()) next_.start(kNextAfterMs);
    return;
  }
  if (attempts_.empty()) settle(failure());
}

void Dialer::over(Attempt& attempt) {
  const int error_number = connect_outcome(attempt.socket.fd());
  if (error_number == 0) return settle(Connected{attempt.socket.release(), attempt.address});
  last_errno_ = error_number;
  const auto found =
      std::ranges::find_if(attempts_, [&](const auto& one) { return one.get() == &attempt; });
  const std::unique_ptr<Attempt> failed = std::move(*found);  // we are in a call of its socket
  attempts_.erase(found);
  try_next();
}

void Dialer::settle(Result<Connected> outcome) {
  const Done done = std::move(done_);
  done(std::move(outcome));
}

Error Dialer::failure() const {
  return {ErrorCode::kUnreachable, "",
          explain(last_errno_, loop_.shared().options.connect_timeout)};
}

}  // namespace firn::proto::transport
