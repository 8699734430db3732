#include "proto/transport/connection.h"

#include <algorithm>
#include <utility>

#include "proto/base/within_memory.h"
#include "proto/transport/io_loop.h"

namespace firn::proto::transport {
namespace {

constexpr std::uint64_t kFlushMs = 1000;
// Up to this number they may keep their TLS buffers, 2.6 MiB in all.
constexpr std::size_t kFewConnections = 32;

}  // namespace

Connection::Connection(IoLoop& loop, ConnectionId id)
    : loop_(loop),
      id_(id),
      socket_(loop.uv(),
              [this](int status, int events) {
                try {
                  on_poll(status, events);
                } catch (const std::bad_alloc&) {
                  finish(no_memory(what()));
                }
              }),
      reader_(loop, id, [this] { go_on(true, false); }),
      writer_(loop, id),
      liveness_(loop.shared().options),
      timer_(loop.uv(), [this] { on_timer(); }),
      deadline_ms_(now_ms() +
                   static_cast<std::uint64_t>(loop.shared().options.connect_timeout.count())) {}

// --- orders ---

void Connection::connect(const Address& where, bool full) {
  outgoing_ = true;
  where_ = where;
  if (full)
    return finish(ErrorCode::kBusy,
                  "as many connections are open as the limit of descriptors allows; raise it "
                  "(ulimit -n, LimitNOFILE=)");
  arm_timer();
  dialer_.emplace(loop_,
                  [this](Result<Dialer::Connected> outcome) { dialled(std::move(outcome)); });
  dialer_->begin(where);
}

void Connection::adopt(Socket socket, const SocketAddress& remote, Admission::Place place) {
  place_.emplace(std::move(place));
  reader_.limit_first_frame(loop_.shared().options.first_frame_bytes_max);
  info_.ip = remote.ip();
  info_.port = remote.port();
  if (!socket_.open(std::move(socket)))
    return finish(ErrorCode::kInternal, "libuv cannot poll the socket");
  begin_handshake();
}

void Connection::send(OutgoingFrame frame, FrameTag tag) {
  const bool takes = state_ == State::kOpen || (state_ == State::kFlushing && !writer_.is_shut() &&
                                                ending_->code != ErrorCode::kCancelled);
  if (!takes) return;
  if (writer_.bytes() + frame.bytes() > loop_.shared().options.send_queue_bytes_max)
    return overflow();
  if (reader_.paused() && writer_.empty()) liveness_.shown(now_ms());
  writer_.push(std::move(frame), tag);
  if (!writer_.blocked()) ask_turn();  // after the orders that came with this one
}

void Connection::overflow() {
  if (state_ != State::kOpen) return;
  finish(ErrorCode::kIo, "more than " +
                             std::to_string(loop_.shared().options.send_queue_bytes_max) +
                             " bytes wait to be sent; the other side takes them too slowly");
}

void Connection::close() {
  if (state_ == State::kFlushing || state_ == State::kClosed) return;
  Error ending{ErrorCode::kCancelled, what(), "closed by this side"};
  if (state_ == State::kOpen) {
    begin_flush(std::move(ending));
  } else {
    finish(std::move(ending));
  }
}

void Connection::give_way() {
  finish(ErrorCode::kIo,
         "others waited for its place, and it had said nothing yet or came from where most come");
}

void Connection::pause_reading(bool paused) {
  if (state_ == State::kClosed || paused == reader_.paused()) return;
  reader_.pause(paused);
  if (state_ != State::kOpen) return;
  liveness_.shown(now_ms());   // silence while paused was ours
  if (!paused) ask_reading();  // TLS and the frame reader may hold bytes that poll knows not of
  watch();
}

void Connection::answer(std::span<const std::uint8_t> frames) {
  if (state_ != State::kOpen) return;
  loop_.note_action();
  send_now(frames);
  if (state_ == State::kClosed) return;
  if (std::exchange(awaits_answer_, false)) {
    liveness_.shown(now_ms());
    if (!holds_) ask_reading();  // TLS and the frame reader may hold the next request
  }
  watch();
}

void Connection::take_turn() {
  turn_asked_ = false;
  try {
    go_on(std::exchange(read_asked_, false), !writer_.blocked());
  } catch (const std::bad_alloc&) {
    finish(no_memory(what()));
  }
}

// --- what wakes it ---

void Connection::on_poll(int status, int events) {
  // A socket in error: reading or writing says which.
  if (status < 0) events = UV_READABLE | UV_WRITABLE;
  const bool readable = (events & UV_READABLE) != 0;
  if (readable && state_ == State::kOpen && !reader_.rests() && reads() && status == 0) {
    after(reader_.read_arrived(*tls_, socket_.fd()));
    if (state_ == State::kClosed) return;
    events &= ~UV_READABLE;
  }
  go_on((events & UV_READABLE) != 0, (events & UV_WRITABLE) != 0);
}

void Connection::go_on(bool readable, bool writable) {
  loop_.note_action();
  if (writable) {
    writer_.unblock();
    if (std::exchange(tls_writes_, false)) readable = true;
  }
  switch (state_) {
    case State::kDialling:
    case State::kClosed:
      return;
    case State::kHandshake:
      shake_hands();
      break;
    case State::kOpen:
      if (readable && !holds_ && !awaits_answer_ && !reader_.still_rests()) read_some();
      if (state_ == State::kOpen) write_some();
      break;
    case State::kFlushing:
      flush();
      break;
  }
  if (state_ != State::kClosed) watch();
}

void Connection::on_timer() {
  switch (state_) {
    case State::kClosed:
      return;
    case State::kDialling:
    case State::kHandshake:
      return finish(ErrorCode::kUnreachable,
                    no_answer_within(loop_.shared().options.connect_timeout));
    case State::kOpen:
      // With nothing to take, the other side of a paused connection has nothing to show.
      if (reader_.paused() && writer_.empty()) liveness_.shown(now_ms());
      if (auto reason = liveness_.look(socket_.fd(), !reads(), now_ms())) {
        // The other side of an idle connection may be there, with nothing to say: it is told.
        if (reads() && writer_.empty() && liveness_.is_idle(now_ms()))
          return begin_flush({ErrorCode::kIo, what(), *std::move(reason)});
        return finish(ErrorCode::kIo, *std::move(reason));
      }
      return arm_timer();
    case State::kFlushing:
      return finish_flush();
  }
}

// --- on the way to kOpen ---

void Connection::dialled(Result<Dialer::Connected> outcome) {
  if (!outcome) return finish(ErrorCode::kUnreachable, outcome.error().detail);
  info_.ip = outcome->address.ip();
  info_.port = outcome->address.port();
  if (!socket_.open(std::move(outcome->socket)))
    return finish(ErrorCode::kInternal, "libuv cannot poll the socket");
  dialer_.reset();
  begin_handshake();
}

void Connection::begin_handshake() {
  Shared& shared = loop_.shared();
  tune(socket_.fd(), shared.options.notsent_lowat_bytes);
  if (shared.options.silence_timeout.count() > 0)
    probe_when_idle(socket_.fd(),
                    static_cast<std::uint64_t>(shared.options.silence_timeout.count()));
  const auto side = outgoing_ ? TlsContext::Side::kClient : TlsContext::Side::kServer;
  const bool few = shared.connection_count <= kFewConnections;
  auto session = shared.tls.session(side, socket_.fd(), where_.id, few);
  if (!session) return finish(session.error());
  reader_.keep_buffer(few);
  tls_ = std::move(session).value();
  state_ = State::kHandshake;
  arm_timer();
  shake_hands();
  if (state_ != State::kClosed) watch();
}

void Connection::shake_hands() {
  switch (tls_->handshake().outcome) {
    case TlsOutcome::kDone:
      return opened();
    case TlsOutcome::kWantRead:
      tls_writes_ = false;
      return;
    case TlsOutcome::kWantWrite:
      tls_writes_ = true;
      return;
    case TlsOutcome::kClosed:
      return finish(ErrorCode::kUnreachable,
                    "the other side closed the connection during the TLS handshake; it may be "
                    "full, or no Firn listens there");
    case TlsOutcome::kFailed:
      return finish(tls_->error(what()));
  }
}

void Connection::opened() {
  state_ = State::kOpen;
  if (place_) place_->opened(now_ms());
  info_.id = tls_->peer();
  info_.outgoing = outgoing_;
  tls_->export_binding(info_.binding);
  info_.round_trip_us = path_state(socket_.fd()).rtt_min_us;
  liveness_.shown(now_ms());
  arm_timer();
  loop_.shared().sink.on_open(id_, info_);
  read_some();  // frames may have come with the handshake's last bytes
}

// --- in kOpen ---

void Connection::read_some() {
  after(reader_.read(*tls_, socket_.fd()));
}

void Connection::after(StreamReader::Reading reading) {
  using Outcome = StreamReader::Outcome;
  if (reading.received) liveness_.shown(now_ms());
  send_replies();
  if (state_ == State::kClosed) return;
  if (place_ && reader_.has_delivered()) place_->proven();
  switch (reading.outcome) {
    case Outcome::kWaits:
      return;
    case Outcome::kTurnOver:
      return ask_reading();
    case Outcome::kTlsWrites:
      tls_writes_ = true;
      return;
    case Outcome::kRefused:
      return begin_flush(*std::move(reading.error));
    case Outcome::kNoFrames:
      return finish(ErrorCode::kProtocol, reading.error->message());
    case Outcome::kClosed:
      return finish(ErrorCode::kIo, "closed by the other side");
    case Outcome::kFailed:
      return finish(tls_->error(what()));
  }
}

// Of the frames that were just read. Until the other side has taken them no more are read, so that
// a connection has one turn's replies waiting at most.
void Connection::send_replies() {
  Replies& replies = loop_.replies();
  if (replies.later()) awaits_answer_ = true;
  if (replies.size() > 0) send_now(replies.bytes());
  replies.clear();
}

void Connection::send_now(std::span<const std::uint8_t> frames) {
  const StreamWriter::Writing writing = writer_.write(*tls_, frames);
  holds_ = !writer_.empty();
  if (writing.closed) return finish(ErrorCode::kIo, "closed by the other side");
  if (writer_.awaits_departures()) wrote(writing);
}

void Connection::write_some() {
  const StreamWriter::Writing writing = writer_.write(*tls_);
  if (writing.closed) {
    if (state_ == State::kFlushing) return finish_flush();
    read_some();  // what the other side said before may still wait to be read, and say why
    return finish(ErrorCode::kIo, "closed by the other side");
  }
  if (writing.turn_over) ask_turn();
  wrote(writing);
  if (!holds_ || !writer_.empty()) return;
  holds_ = false;
  if (state_ == State::kOpen) ask_reading();
}

void Connection::wrote(const StreamWriter::Writing& writing) {
  if (writing.bytes == 0) return;
  if (!reads()) liveness_.shown(now_ms());
  if (state_ == State::kOpen) writer_.follow(socket_.fd(), writing.bytes);
}

// --- the end ---

void Connection::begin_flush(Error ending) {
  state_ = State::kFlushing;
  ending_ = std::move(ending);
  writer_.stop_following();
  deadline_ms_ = now_ms() + kFlushMs;
  arm_timer();
  flush();
  if (state_ != State::kClosed) watch();
}

void Connection::flush() {
  if (!writer_.is_shut()) {
    write_some();
    if (state_ == State::kClosed) return;
    // What on_frame sent before it returned an error (a goodbye) may still be in the mailbox.
    const bool more_to_come =
        ending_->code != ErrorCode::kCancelled && loop_.mailbox().waiting_bytes(id_) > 0;
    if (writer_.empty() && !more_to_come) writer_.shut(*tls_, socket_.fd());
  }
  if (!discard_incoming(socket_.fd(), kTurnBytes)) finish_flush();
}

void Connection::finish_flush() {
  finish(*std::exchange(ending_, std::nullopt));
}

void Connection::finish(ErrorCode code, std::string detail) {
  finish(Error{code, what(), std::move(detail)});
}

void Connection::finish(Error error) {
  if (state_ == State::kClosed) return;
  const bool was_open = state_ == State::kOpen || state_ == State::kFlushing;
  state_ = State::kClosed;
  dialer_.reset();
  reader_.close();
  writer_.close();
  timer_.close();
  socket_.close();
  place_.reset();
  loop_.retire(id_);
  // An accepted connection that never opened was never spoken of.
  if (was_open || outgoing_) loop_.shared().sink.on_close(id_, error);
}

// --- what it waits for ---

void Connection::watch() {
  switch (state_) {
    case State::kDialling:
    case State::kClosed:
      return;
    case State::kHandshake:
      return socket_.wait_for(tls_writes_ ? UV_WRITABLE : UV_READABLE);
    case State::kOpen:
      return socket_.wait_for(
          (reader_.wants_readable() && reads() && !tls_writes_ ? UV_READABLE : 0) |
          (writer_.blocked() || tls_writes_ ? UV_WRITABLE : 0));
    case State::kFlushing:
      return socket_.wait_for(UV_READABLE | (writer_.blocked() ? UV_WRITABLE : 0));
  }
}

void Connection::ask_turn() {
  if (std::exchange(turn_asked_, true)) return;
  loop_.run_soon(id_);
}

void Connection::ask_reading() {
  read_asked_ = true;
  ask_turn();
}

void Connection::arm_timer() {
  const std::uint64_t now = now_ms();
  std::uint64_t due = deadline_ms_;
  if (state_ == State::kOpen) due = liveness_.next_look_ms(now);
  if (due == Liveness::kNever) return timer_.stop();
  timer_.start(due > now ? due - now : 0);
}

std::uint64_t Connection::now_ms() const {
  return uv_now(loop_.uv());
}

std::string Connection::what() const {
  if (outgoing_ && state_ != State::kOpen && state_ != State::kFlushing)
    return "connect to " + to_text(Address{{}, where_.host, where_.port});
  return "connection with " + to_text(Address{{}, info_.ip, info_.port});
}

}  // namespace firn::proto::transport
