#include "tests/load/link.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "proto/transport/source.h"

namespace firn::load {

using namespace proto::transport;

namespace {

constexpr std::uint64_t kRecordsPerKey = 1u << 23;

Error failed(const std::string& what) {
  return {ErrorCode::kUnreachable, "connect to the seed", what};
}

}  // namespace

Status Link::connect(const Target& target, const std::string& source_ip, TimeUs now) {
  read_since_ = now;
  expected_ = target.id;
  Source source;
  const auto from = numeric_address(source_ip, 0);
  FIRN_CHECK(from.has_value());
  if (const Status narrowed = source.narrow_to(*from); !narrowed.ok()) return narrowed;
  socket_ = begin_connect(target.address, source);
  if (!socket_) return error_from_errno("connect from " + source_ip, errno);
  tune(socket_.fd(), 0);
  if (!diet_.paced_by_credit()) {
    (void)::setsockopt(socket_.fd(), SOL_SOCKET, SO_RCVBUF, &diet_.receive_buffer_bytes,
                       sizeof diet_.receive_buffer_bytes);
  }
  return Done{};
}

Status Link::go_on(TimeUs now) {
  if (state_ == State::kConnecting) {
    if (const int error_number = connect_outcome(socket_.fd()); error_number != 0)
      return error_from_errno("connect to the seed", error_number);
    const auto identity = Identity::generate();
    if (!identity.ok()) return identity.error();
    // A context belongs to an identity; its session keeps what it needs of it.
    auto context = TlsContext::make(*identity, kRecordsPerKey);
    if (!context.ok()) return context.error();
    auto session = context->session(TlsContext::Side::kClient, socket_.fd(), expected_);
    if (!session.ok()) return session.error();
    tls_ = *std::move(session);
    state_ = State::kHandshake;
  }
  if (state_ == State::kHandshake) {
    if (Status shaken = shake_hands(); !shaken.ok() || state_ != State::kOpen) return shaken;
  }
  if (Status fed = read(now); !fed.ok()) return fed;
  while (const auto due = receiver_.state(now)) push(*due);
  return write();
}

Status Link::shake_hands() {
  const TlsProgress progress = tls_->handshake();
  blocked_ = progress.outcome == TlsOutcome::kWantWrite;
  if (progress.outcome == TlsOutcome::kDone) {
    state_ = State::kOpen;
    push(receiver_.hello());
  } else if (progress.outcome == TlsOutcome::kClosed) {
    return failed("the seed closed the connection during the handshake");
  } else if (progress.outcome == TlsOutcome::kFailed) {
    return tls_->error("connect to the seed");
  }
  return Done{};
}

std::optional<TimeUs> Link::reads_at(TimeUs now) const {
  if (diet_.paced_by_credit()) return std::nullopt;
  const TimeUs at = read_since_ + static_cast<TimeUs>(read_bytes_ / diet_.stream_rate() * 1e6);
  return at > now ? std::optional(at) : std::nullopt;
}

std::optional<TimeUs> Link::next_due(TimeUs now) const {
  const auto state = receiver_.next_due(), reading = reads_at(now);
  if (!state || !reading) return state ? state : reading;
  return std::min(*state, *reading);
}

Status Link::read(TimeUs now) {
  tls_->look_again();
  while (!reads_at(now)) {
    const TlsProgress progress = tls_->read(frames_.prepare(kTlsRecordBytes));
    switch (progress.outcome) {
      case TlsOutcome::kDone:
        frames_.commit(progress.bytes);
        // What it did not take in time is lost to it: it does not read faster later.
        if (read_since_ + static_cast<TimeUs>(read_bytes_ / diet_.stream_rate() * 1e6) <
            now - kSecond) {
          read_since_ = now;
          read_bytes_ = 0;
        }
        read_bytes_ += static_cast<double>(progress.bytes);
        if (const Status delivered = deliver(now); !delivered.ok()) return delivered;
        break;
      case TlsOutcome::kWantRead:
        return Done{};
      case TlsOutcome::kWantWrite:
        blocked_ = true;
        return Done{};
      case TlsOutcome::kClosed:
        return failed("the seed closed the connection");
      case TlsOutcome::kFailed:
        return tls_->error("read from the seed");
    }
  }
  return Done{};
}

Status Link::deliver(TimeUs now) {
  for (;;) {
    auto frame = frames_.next();
    if (!frame.ok()) return frame.error();
    if (!frame->has_value()) return Done{};
    const auto message = proto::parse_peer_message(**frame);
    if (!message.ok()) return message.error();
    if (const Status taken = receiver_.take(*message, now); !taken.ok()) return taken;
  }
}

void Link::push(const proto::PeerMessage& message) {
  out_.push(serialize(message));
}

Status Link::write() {
  blocked_ = false;
  while (!out_.empty()) {
    const TlsProgress progress = tls_->write(out_.record());
    if (progress.outcome == TlsOutcome::kDone) {
      out_.consume(progress.bytes);
    } else if (progress.outcome == TlsOutcome::kWantWrite) {
      blocked_ = true;
      return Done{};
    } else {
      return failed("the seed takes nothing any more");
    }
  }
  return Done{};
}

}  // namespace firn::load
