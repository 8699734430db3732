#include "client/app/daemon/control_socket.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <set>
#include <utility>

#include "client/app/daemon/rpc.h"
#include "proto/base/unique_fd.h"

namespace firn::app {

struct ControlSocket::Impl {
  struct Connection;

  Impl(const std::string& socket_path, const Answer& answers)
      : path(socket_path), answer(answers) {}
  ~Impl();
  Status listen(EventLoop& loop);
  std::string lock_path() const { return path + ".lock"; }

  const std::string path;
  const Answer& answer;
  UniqueFd lock;
  UniqueFd name;                  // the socket in its folder
  uv_pipe_t* listener = nullptr;  // freed when libuv has closed it
  std::set<Connection*> connections;
  std::uint64_t turns = 0;  // how often one was opened or said something

  bool make_room();
  static void accept(uv_stream_t* listener, int status);
};

// Freed when libuv has closed its handle, which may be after the socket is gone.
struct ControlSocket::Impl::Connection {
  uv_pipe_t pipe;
  Impl* owner = nullptr;     // null: being closed
  std::string input;         // what was not answered yet
  bool last_answer = false;  // nothing more is read; it ends when its answers are written
  std::uint64_t heard = 0;   // the owner's count when it said something last, or was opened
  char chunk[16 << 10];

  void read();
  void close();
  void arrived(ssize_t count);
  void serve();
  void send(std::string text);
  void written();
  std::size_t unread() const { return pipe.write_queue_size; }
};

namespace {

struct SocketWrite {
  uv_write_t request;
  std::string text;
};

template <typename Handle>
uv_stream_t* stream_of(Handle* handle) {
  return reinterpret_cast<uv_stream_t*>(handle);
}

Error uv_failure(const std::string& operation, int code) {
  return error_from_errno(operation, -code);  // libuv's codes are negative errnos
}

UniqueFd new_socket() {
  return UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size());
  return address;
}

// Whether a program answers at the socket `path`.
bool somebody_listens(const std::string& path) {
  const sockaddr_un address = address_of(path);
  const UniqueFd probe = new_socket();
  const int failed =
      ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  return failed == 0 || errno != ECONNREFUSED;
}

// Before it listens nobody can connect, so that no other account ever could.
Result<UniqueFd> bind_at(const std::string& operation, const std::string& path) {
  const sockaddr_un address = address_of(path);
  UniqueFd bound = new_socket();
  if (bound.get() < 0 ||
      ::bind(bound.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(path.c_str(), 0600) != 0)
    return error_from_errno(operation, errno);
  return bound;
}

// Whether `path` still is the name of what was opened.
bool is_name_of(const std::string& path, const UniqueFd& opened) {
  struct stat ours {
  }, there{};
  return ::fstat(opened.get(), &ours) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

Status check_length(const std::string& operation, const std::string& path) {
  if (path.size() < sizeof sockaddr_un{}.sun_path) return Done{};
  return Error{ErrorCode::kBadInput, operation,
               "the path is too long for a socket; name a shorter one with --socket"};
}

// The lock on `path`, which the last holder may be removing: then it is made anew.
Result<UniqueFd> take_lock(const std::string& operation, const std::string& path) {
  for (;;) {
    UniqueFd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (lock.get() < 0) return error_from_errno("open " + path, errno);
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return error_from_errno("lock " + path, errno);
      return Error{ErrorCode::kExists, operation,
                   "another program listens there; name another with --socket"};
    }
    if (is_name_of(path, lock)) return lock;
  }
}

// Makes room for a socket at `path`.
Status clear_place(const std::string& operation, const std::string& path) {
  struct stat there {};
  if (::lstat(path.c_str(), &there) != 0)
    return errno == ENOENT ? Status(Done{}) : error_from_errno(operation, errno);
  if (!S_ISSOCK(there.st_mode))
    return Error{ErrorCode::kExists, operation,
                 "something else than a socket stands there; name another with --socket"};
  if (somebody_listens(path))
    return Error{ErrorCode::kExists, operation,
                 "another program listens there; name another with --socket"};
  if (::unlink(path.c_str()) != 0) return error_from_errno(operation, errno);
  return Done{};
}

}  // namespace

ControlSocket::ControlSocket(EventLoop& loop, Console& console, const std::string& path,
                             Answer answer)
    : loop_(loop), console_(console), path_(path), answer_(std::move(answer)) {}

ControlSocket::~ControlSocket() = default;

Result<std::unique_ptr<ControlSocket>> ControlSocket::open(EventLoop& loop, Console& console,
                                                           const std::string& path, Answer answer) {
  std::unique_ptr<ControlSocket> socket(new ControlSocket(loop, console, path, std::move(answer)));
  if (const Status listens = socket->listen(); !listens.ok()) return listens.error();
  return socket;
}

Status ControlSocket::listen() {
  auto impl = std::make_unique<Impl>(path_, answer_);
  if (Status listens = impl->listen(loop_); !listens.ok()) return listens;
  impl_ = std::move(impl);
  return Done{};
}

core::TimeUs ControlSocket::turn(core::TimeUs now) {
  if (now < look_at_) return look_at_;
  look_at_ = now + kLookInterval;
  const bool listened = impl_ != nullptr;
  if (listened && is_name_of(path_, impl_->name)) return look_at_;
  impl_.reset();
  if (const Status listens = listen(); listens.ok()) {
    console_.warning("the socket " + path_ + " was removed; listening there again");
  } else if (listened) {
    console_.warning(listens.error().message() + "; trying again every few seconds");
  }
  return look_at_;
}

Status ControlSocket::Impl::listen(EventLoop& loop) {
  const std::string operation = "listen for commands at " + path;
  if (Status fits = check_length(operation, path); !fits.ok()) return fits;
  auto taken = take_lock(operation, lock_path());
  if (!taken.ok()) return taken.error();
  lock = *std::move(taken);
  if (Status clear = clear_place(operation, path); !clear.ok()) return clear;
  auto bound = bind_at(operation, path);
  if (!bound.ok()) return bound.error();
  name = UniqueFd(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  listener = new uv_pipe_t;
  FIRN_CHECK(uv_pipe_init(loop.uv(), listener, 0) == 0);
  listener->data = this;
  // Not uv_pipe_bind(): closing would remove whatever has the name by then.
  if (const int code = uv_pipe_open(listener, bound->get()); code != 0)
    return uv_failure(operation, code);
  bound->release();
  constexpr int kBacklog = 64;
  if (const int code = uv_listen(stream_of(listener), kBacklog, accept); code != 0)
    return uv_failure(operation, code);
  return Done{};
}

ControlSocket::Impl::~Impl() {
  const std::set<Connection*> open = connections;
  for (Connection* connection : open) connection->close();
  if (listener != nullptr) {
    listener->data = nullptr;
    uv_close(reinterpret_cast<uv_handle_t*>(listener),
             [](uv_handle_t* handle) { delete reinterpret_cast<uv_pipe_t*>(handle); });
  }
  if (is_name_of(path, name)) ::unlink(path.c_str());
  // The next program makes a lock of its own.
  if (is_name_of(lock_path(), lock)) ::unlink(lock_path().c_str());
}

void ControlSocket::Impl::accept(uv_stream_t* listener, int status) {
  auto* const owner = static_cast<Impl*>(listener->data);
  if (owner == nullptr || status != 0) return;
  auto* const connection = new Connection;
  FIRN_CHECK(uv_pipe_init(listener->loop, &connection->pipe, 0) == 0);
  connection->pipe.data = connection;
  connection->owner = owner;
  connection->heard = ++owner->turns;
  const bool taken = uv_accept(listener, stream_of(&connection->pipe)) == 0;
  const bool room = owner->make_room();
  owner->connections.insert(connection);
  if (taken && room) {
    connection->read();
  } else {
    connection->close();
  }
}

// Closes the connection that has been silent the longest if there is no room for one more. One that
// has answers to read stays; false: all have.
bool ControlSocket::Impl::make_room() {
  if (connections.size() < kConnectionsMax) return true;
  Connection* silent = nullptr;
  for (Connection* const one : connections)
    if (one->unread() == 0 && (silent == nullptr || one->heard < silent->heard)) silent = one;
  if (silent == nullptr) return false;
  silent->close();
  return true;
}

void ControlSocket::Impl::Connection::read() {
  const auto give = [](uv_handle_t* handle, std::size_t, uv_buf_t* buffer) {
    auto* const connection = static_cast<Connection*>(handle->data);
    *buffer = uv_buf_init(connection->chunk, sizeof connection->chunk);
  };
  const auto take = [](uv_stream_t* stream, ssize_t count, const uv_buf_t*) {
    static_cast<Connection*>(stream->data)->arrived(count);
  };
  const int code = uv_read_start(stream_of(&pipe), give, take);
  if (code != 0 && code != UV_EALREADY) close();
}

void ControlSocket::Impl::Connection::close() {
  if (owner == nullptr) return;
  std::exchange(owner, nullptr)->connections.erase(this);
  uv_close(reinterpret_cast<uv_handle_t*>(&pipe),
           [](uv_handle_t* handle) { delete static_cast<Connection*>(handle->data); });
}

void ControlSocket::Impl::Connection::arrived(ssize_t count) {
  if (count > 0) {
    heard = ++owner->turns;
    input.append(chunk, static_cast<std::size_t>(count));
    return serve();
  }
  if (count == 0) return;
  // The other side says nothing more, and may still read what it asked for.
  uv_read_stop(stream_of(&pipe));
  last_answer = true;
  written();
}

// Answers whole lines while their answers are taken; reads on if more is wanted.
void ControlSocket::Impl::Connection::serve() {
  std::size_t taken = 0;
  while (owner != nullptr && !last_answer && unread() < kAnswerBytesMax) {
    const std::size_t end = input.find('\n', taken);
    const std::size_t bytes = (end == std::string::npos ? input.size() : end) - taken;
    if (bytes > kLineBytesMax) {
      last_answer = true;
      send(refuse_rpc(RpcError::kInvalidRequest, "the line is longer than 64 KiB"));
      break;
    }
    if (end == std::string::npos) break;
    const std::string_view line = std::string_view(input).substr(taken, bytes);
    taken = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    std::string text = owner->answer(line);
    if (!text.empty()) send(std::move(text));
  }
  if (owner == nullptr) return;
  input.erase(0, taken);
  if (last_answer || unread() >= kAnswerBytesMax) {
    uv_read_stop(stream_of(&pipe));
    if (last_answer) written();
  } else {
    read();
  }
}

void ControlSocket::Impl::Connection::send(std::string text) {
  auto* const write = new SocketWrite{{}, std::move(text)};
  write->text += '\n';
  write->request.data = write;
  const uv_buf_t buffer =
      uv_buf_init(write->text.data(), static_cast<unsigned>(write->text.size()));
  const auto done = [](uv_write_t* request, int status) {
    auto* const connection = static_cast<Connection*>(request->handle->data);
    delete static_cast<SocketWrite*>(request->data);
    if (connection->owner == nullptr) return;
    if (status != 0) return connection->close();
    connection->written();
  };
  if (uv_write(&write->request, stream_of(&pipe), &buffer, 1, done) == 0) return;
  delete write;
  close();
}

void ControlSocket::Impl::Connection::written() {
  if (owner == nullptr) return;
  if (!last_answer) return serve();
  if (unread() == 0) close();
}

}  // namespace firn::app
