#include "tests/tracker_load/firn_party.h"

#include <cerrno>

#include "proto/messages.h"
#include "proto/wire_fields.h"

namespace firn::tracker_load {

using namespace proto::transport;

namespace {

// Replies have bodies that are one field of a oneof; these are its numbers (tracker.proto).
constexpr int kAnnounceReply = 1;
constexpr int kPeers = 5;
constexpr std::size_t kReadBytes = 4 << 10;

Error failed(const char* what) {
  return {ErrorCode::kUnreachable, "ask the tracker", what};
}

std::size_t count_peers(std::span<const std::uint8_t> reply) {
  std::size_t peers = 0;
  for (proto::FieldReader fields(reply); fields.next();) peers += fields.is_bytes(kPeers) ? 1 : 0;
  return peers;
}

}  // namespace

FirnParty::FirnParty(const FirnTarget& target, const Workload& workload,
                     const PartyOptions& options, std::size_t number, Tally& tally)
    : target_(target),
      workload_(workload),
      options_(options),
      number_(number),
      contents_(workload.contents_of(number)),
      complete_(workload.is_complete(number)),
      tally_(tally) {}

Status FirnParty::begin(TimeUs) {
  auto socket = connect_from(source_ip(number_), target_.address, true);
  if (!socket.ok()) return socket.error();
  socket_ = *std::move(socket);
  connected_ = false;
  wants_to_write_ = true;
  return Done{};
}

Status FirnParty::go_on(TimeUs now) {
  if (!connected_) {
    if (const int error_number = connect_outcome(fd()); error_number != 0)
      return error_from_errno("connect to the tracker", error_number);
    const TlsContext& context = target_.contexts[number_ % target_.contexts.size()];
    auto session = context.session(TlsContext::Side::kClient, fd(), target_.id);
    if (!session.ok()) return session.error();
    tls_ = *std::move(session);
    frames_ = {};
    connected_ = true;
    wants_to_write_ = false;
  }
  if (!open_) {
    if (Status shaken = shake_hands(now); !shaken.ok() || !open_) return shaken;
  }
  if (Status got = read(now); !got.ok()) return got;
  return socket_ ? write() : Status(Done{});
}

Status FirnParty::shake_hands(TimeUs now) {
  tls_->look_again();
  const TlsProgress progress = tls_->handshake();
  wants_to_write_ = progress.outcome == TlsOutcome::kWantWrite;
  if (progress.outcome == TlsOutcome::kClosed) return failed("closed during the handshake");
  if (progress.outcome == TlsOutcome::kFailed) return tls_->error("ask the tracker");
  if (progress.outcome != TlsOutcome::kDone) return Done{};
  open_ = true;
  answered_ = 0;
  ++tally_.open;
  if (tally_.measuring) ++tally_.handshakes;
  // A connection that says nothing would give way to others.
  if (options_.asks_by_itself) {
    fill(now);
  } else {
    ask(now);
  }
  return Done{};
}

void FirnParty::fill(TimeUs now) {
  while (ask(now)) {
    if (options_.fresh) return;
  }
}

bool FirnParty::ask(TimeUs due) {
  if (!open_ || asked_at_.size() >= options_.in_flight) return false;
  out_ += workload_.announce(contents_[asked_++ % contents_.size()], complete_);
  asked_at_.push_back(due);
  return true;
}

Status FirnParty::send_asked(TimeUs) {
  return write();
}

Status FirnParty::read(TimeUs now) {
  tls_->look_again();
  while (socket_) {
    const TlsProgress progress = tls_->read(frames_.prepare(kReadBytes));
    switch (progress.outcome) {
      case TlsOutcome::kDone:
        frames_.commit(progress.bytes);
        if (const Status delivered = deliver(now); !delivered.ok()) return delivered;
        break;
      case TlsOutcome::kWantRead:
      case TlsOutcome::kWantWrite:
        return Done{};
      case TlsOutcome::kClosed:
        return failed("closed by the tracker");
      case TlsOutcome::kFailed:
        return tls_->error("ask the tracker");
    }
  }
  return Done{};
}

Status FirnParty::deliver(TimeUs now) {
  for (;;) {
    auto frame = frames_.next();
    if (!frame.ok()) return frame.error();
    if (!frame->has_value()) break;
    if (const Status taken = take(**frame, now); !taken.ok()) return taken;
  }
  if (options_.fresh && answered_ > 0) {
    tls_->say_goodbye();
    tls_.reset();
    socket_.reset();  // the crowd begins it again
    open_ = false;
    --tally_.open;
    out_.clear();
    return Done{};
  }
  if (options_.asks_by_itself) fill(now);
  return Done{};
}

Status FirnParty::take(std::span<const std::uint8_t> frame, TimeUs now) {
  if (asked_at_.empty()) return failed("a reply that nothing asked for");
  const TimeUs asked = asked_at_.front();
  asked_at_.pop_front();
  ++answered_;
  proto::FieldReader body(frame);
  if (!body.next() || !body.is_bytes()) return failed("a reply without a body");
  if (body.is_bytes(kAnnounceReply)) {
    tally_.answered(now - asked, count_peers(body.bytes()), frame.size());
    if ((number_ + asked_) % options_.check_every != 0) return Done{};
    const auto reply = proto::parse_tracker_reply(frame);
    return reply.ok() ? Status(Done{}) : Status(reply.error());
  }
  const auto reply = proto::parse_tracker_reply(frame);
  if (!reply.ok()) return reply.error();
  if (!tally_.measuring) return Done{};
  const auto* error = std::get_if<proto::TrackerError>(&*reply);
  const bool slow = error != nullptr && error->code == proto::TrackerErrorCode::kSlowDown;
  ++(slow ? tally_.slow_downs : tally_.refusals);
  return Done{};
}

Status FirnParty::write() {
  wants_to_write_ = false;
  while (!out_.empty()) {
    const std::span bytes(reinterpret_cast<const std::uint8_t*>(out_.data()), out_.size());
    const TlsProgress progress = tls_->write(bytes);
    if (progress.outcome == TlsOutcome::kDone) {
      out_.erase(0, progress.bytes);
    } else if (progress.outcome == TlsOutcome::kWantWrite) {
      wants_to_write_ = true;
      return Done{};
    } else {
      return failed("the tracker takes nothing any more");
    }
  }
  return Done{};
}

}  // namespace firn::tracker_load
