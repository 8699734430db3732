#include "proto/transport/connection.h"

#include <algorithm>
#include <utility>

#include "proto/transport/io_loop.h"

namespace firn::proto::transport {
namespace {

constexpr std::uint64_t kFlushMs = 1000;
// So many may keep their TLS buffers, 2.6 MiB in all.
constexpr std::size_t kFewConnections = 32;
constexpr std::uint64_t kSilenceLooks = 4;  // within silence_timeout

}  // namespace

Connection::Connection(IoLoop& loop, ConnectionId id) : loop_(loop), id_(id) {
  // Initialising a timer cannot fail.
  timer_ = make_uv_handle<uv_timer_t>(
      this, [this](uv_timer_t* handle) { return uv_timer_init(loop_.uv(), handle); });
  backlog_timer_ = make_uv_handle<uv_timer_t>(
      this, [this](uv_timer_t* handle) { return uv_timer_init(loop_.uv(), handle); });
  rest_timer_ = make_uv_handle<uv_timer_t>(
      this, [this](uv_timer_t* handle) { return uv_timer_init(loop_.uv(), handle); });
  deadline_ms_ =
      now_ms() + static_cast<std::uint64_t>(loop_.shared().options.connect_timeout.count());
}

Connection::~Connection() {
  if (lookup_ != nullptr) cancel_lookup();
}

void Connection::adopt(Socket socket, const SocketAddress& remote, Admission::Place place) {
  place_.emplace(std::move(place));
  socket_ = std::move(socket);
  info_.ip = remote.ip();
  info_.port = remote.port();
  if (!start_polling()) return finish(ErrorCode::kInternal, "libuv cannot poll the socket");
  begin_handshake();
}

void Connection::send(OutgoingFrame frame, FrameTag tag) {
  const bool takes = state_ == State::kOpen || (state_ == State::kFlushing && !sending_shut_ &&
                                                ending_->code != ErrorCode::kCancelled);
  if (!takes) return;
  if (queue_.bytes() + frame.bytes() > loop_.shared().options.send_queue_bytes_max)
    return overflow();
  if (paused_ && queue_.empty()) last_received_ms_ = now_ms();
  departures_.add(frame.bytes(), tag);
  queue_.push(std::move(frame));
  if (!write_blocked_) ask_turn();  // after the orders that came with this one
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

void Connection::pause_reading(bool paused) {
  if (state_ == State::kClosed || paused == paused_) return;
  paused_ = paused;
  if (state_ != State::kOpen) return;
  last_received_ms_ = now_ms();  // silence while paused was ours
  if (!paused) ask_reading();    // TLS and the frame reader may hold bytes that poll knows not of
  watch();
}

void Connection::take_turn() {
  turn_asked_ = false;
  go_on(std::exchange(read_asked_, false), !write_blocked_);
}

void Connection::on_poll(int status, int events) {
  if (status < 0) {
    // The socket is in error, and libuv has stopped polling it. Reading or writing says which.
    watched_ = 0;
    events = UV_READABLE | UV_WRITABLE;
  }
  const bool readable = (events & UV_READABLE) != 0;
  if (readable && state_ == State::kOpen && !resting_ && !paused_ && status == 0) {
    on_readable();
    if (state_ == State::kClosed) return;
    events &= ~UV_READABLE;
  }
  go_on((events & UV_READABLE) != 0, (events & UV_WRITABLE) != 0);
}

void Connection::go_on(bool readable, bool writable) {
  loop_.note_action();
  if (writable) {
    write_blocked_ = false;
    if (std::exchange(read_wants_write_, false)) readable = true;
  }
  switch (state_) {
    case State::kResolving:
    case State::kClosed:
      return;
    case State::kConnecting:
      finish_attempt();
      break;
    case State::kHandshake:
      shake_hands();
      break;
    case State::kOpen:
      if (readable && !rests_now()) read_some();
      if (state_ == State::kOpen) write_some();
      break;
    case State::kFlushing:
      flush();
      break;
  }
  if (state_ != State::kClosed) watch();
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
      read_wants_write_ = false;
      return;
    case TlsOutcome::kWantWrite:
      read_wants_write_ = true;
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
  if (place_) place_->opened();
  info_.id = tls_->peer();
  info_.outgoing = outgoing_;
  last_received_ms_ = now_ms();
  arm_timer();
  loop_.shared().sink.on_open(id_, info_);
  read_some();  // frames may have come with the handshake's last bytes
}

void Connection::begin_flush(Error ending) {
  state_ = State::kFlushing;
  ending_ = std::move(ending);
  deadline_ms_ = now_ms() + kFlushMs;
  arm_timer();
  flush();
  if (state_ != State::kClosed) watch();
}

void Connection::finish(ErrorCode code, std::string detail) {
  finish(Error{code, what(), std::move(detail)});
}

void Connection::finish(Error error) {
  if (state_ == State::kClosed) return;
  const bool was_open = state_ == State::kOpen || state_ == State::kFlushing;
  state_ = State::kClosed;
  if (lookup_ != nullptr) cancel_lookup();
  poll_.reset();
  timer_.reset();
  backlog_timer_.reset();
  rest_timer_.reset();
  socket_.reset();
  place_.reset();
  loop_.retire(id_);
  // An accepted connection that never opened was never spoken of.
  if (was_open || outgoing_) loop_.shared().sink.on_close(id_, error);
}

bool Connection::start_polling() {
  poll_ = make_uv_handle<uv_poll_t>(
      this, [this](uv_poll_t* handle) { return uv_poll_init(loop_.uv(), handle, socket_.fd()); });
  watched_ = 0;
  return poll_ != nullptr;
}

// Tells libuv what the present state waits for.
void Connection::watch() {
  int wanted = 0;
  switch (state_) {
    case State::kResolving:
    case State::kClosed:
      return;
    case State::kConnecting:
      wanted = UV_WRITABLE;
      break;
    case State::kHandshake:
      wanted = read_wants_write_ ? UV_WRITABLE : UV_READABLE;
      break;
    case State::kOpen:
      if (!paused_ && !rest_timed_) wanted |= UV_READABLE;
      if (write_blocked_ || read_wants_write_) wanted |= UV_WRITABLE;
      break;
    case State::kFlushing:
      wanted = UV_READABLE | (write_blocked_ ? UV_WRITABLE : 0);
      break;
  }
  if (wanted == watched_) return;
  watched_ = wanted;
  if (wanted == 0) {
    uv_poll_stop(poll_.get());
    return;
  }
  uv_poll_start(poll_.get(), wanted, [](uv_poll_t* handle, int status, int events) {
    if (handle->data != nullptr) static_cast<Connection*>(handle->data)->on_poll(status, events);
  });
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
  std::uint64_t due = deadline_ms_;
  if (state_ == State::kConnecting) due = std::min(due, attempt_deadline_ms_);
  const std::uint64_t now = now_ms();
  if (state_ == State::kOpen) {
    const Options& options = loop_.shared().options;
    const auto idle_ms = static_cast<std::uint64_t>(options.idle_timeout.count());
    const auto silence_ms = static_cast<std::uint64_t>(options.silence_timeout.count());
    if (idle_ms == 0 && silence_ms == 0) {
      uv_timer_stop(timer_.get());
      return;
    }
    due = idle_ms > 0 ? last_received_ms_ + idle_ms : UINT64_MAX;
    if (silence_ms > 0) due = std::min(due, now + silence_ms / kSilenceLooks);
  }
  uv_timer_start(
      timer_.get(),
      [](uv_timer_t* handle) {
        if (handle->data != nullptr) static_cast<Connection*>(handle->data)->on_timer();
      },
      due > now ? due - now : 0, 0);
}

void Connection::on_timer() {
  const Options& options = loop_.shared().options;
  switch (state_) {
    case State::kClosed:
      return;
    case State::kConnecting:
      if (now_ms() < deadline_ms_) return attempt_failed(ETIMEDOUT);
      [[fallthrough]];
    case State::kResolving:
    case State::kHandshake:
      return finish(ErrorCode::kUnreachable,
                    "no answer within " + std::to_string(options.connect_timeout.count()) +
                        " ms; check the address, and firewalls in between");
    case State::kOpen:
      if (is_gone())
        return finish(ErrorCode::kIo, "gone without a goodbye: nothing sent was acknowledged for " +
                                          std::to_string(options.silence_timeout.count()) + " ms");
      if (paused_ && queue_.empty()) last_received_ms_ = now_ms();
      if (options.idle_timeout.count() == 0 ||
          now_ms() - last_received_ms_ < static_cast<std::uint64_t>(options.idle_timeout.count()))
        return arm_timer();
      return finish(ErrorCode::kIo,
                    (paused_ ? "the other side took nothing for " : "nothing received for ") +
                        std::to_string(options.idle_timeout.count()) + " ms");
    case State::kFlushing:
      return finish(*std::exchange(ending_, std::nullopt));
  }
}

// Looks a few times within the timeout: one look cannot tell for how long something has waited.
bool Connection::is_gone() {
  const auto timeout_ms =
      static_cast<std::uint64_t>(loop_.shared().options.silence_timeout.count());
  if (timeout_ms == 0) return false;
  const Acknowledgement owed = acknowledgement(socket_.fd());
  const std::uint64_t now = now_ms();
  if (!owed.awaited) {
    unanswered_since_ms_ = 0;
  } else if (unanswered_since_ms_ == 0 || now - unanswered_since_ms_ > owed.last_ms_ago) {
    unanswered_since_ms_ = now;  // one has come since the last look
  }
  return unanswered_since_ms_ != 0 && now - unanswered_since_ms_ >= timeout_ms;
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
