#include "client/app/daemon/control_client.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "proto/base/unique_fd.h"

namespace firn::app {
namespace {

constexpr std::size_t kReplyBytesMax = 64 << 20;
// A daemon answers within milliseconds, but for a disk that is slow to sync.
constexpr int kReplySeconds = 60;

Result<UniqueFd> connect_to(const std::string& path) {
  const std::string operation = "reach the daemon at " + path;
  sockaddr_un address{};
  if (path.empty() || path.size() >= sizeof address.sun_path)
    return Error{ErrorCode::kBadInput, operation, "this is no path for a socket"};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size());
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (fd.get() < 0) return error_from_errno(operation, errno);
  const timeval patience{kReplySeconds, 0};
  (void)::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  (void)::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return fd;
  if (errno == ENOENT || errno == ECONNREFUSED || errno == ENOTDIR)
    return Error{ErrorCode::kUnreachable, operation,
                 "none listens there; start one with `firn daemon`, or name its socket with "
                 "--socket"};
  return error_from_errno(operation, errno);
}

const Error kClosed = {ErrorCode::kUnreachable, "ask the daemon",
                       "it closed the connection; it may be stopping, or have too many others"};

Error no_reply(int error_number) {
  if (error_number == ECONNRESET || error_number == EPIPE) return kClosed;
  const bool late = error_number == EAGAIN || error_number == EWOULDBLOCK;
  return {ErrorCode::kUnreachable, "ask the daemon",
          late ? "it does not answer" : std::strerror(error_number)};
}

Status send_all(int fd, const std::string& text) {
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t count = ::send(fd, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return no_reply(errno);
    sent += static_cast<std::size_t>(count);
  }
  return Done{};
}

Result<std::string> receive_line(int fd) {
  std::string line;
  char chunk[16 << 10];
  while (line.size() < kReplyBytesMax) {
    const ssize_t count = ::recv(fd, chunk, sizeof chunk, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return no_reply(errno);
    if (count == 0) return kClosed;
    line.append(chunk, static_cast<std::size_t>(count));
    if (line.back() == '\n') return line;
  }
  return Error{ErrorCode::kProtocol, "ask the daemon", "its answer does not end"};
}

ErrorCode code_named(const std::string& name) {
  for (int code = 0; code <= static_cast<int>(ErrorCode::kInternal); ++code)
    if (name == error_code_name(static_cast<ErrorCode>(code))) return static_cast<ErrorCode>(code);
  return ErrorCode::kInternal;
}

const Json* member(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

std::string text_of(const Json* value) {
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

Result<Json> result_of(const std::string& line) {
  const Json reply = Json::parse(line, nullptr, false);
  if (const Json* const result = member(reply, "result")) return *result;
  const Json* const error = member(reply, "error");
  if (error == nullptr)
    return Error{ErrorCode::kProtocol, "ask the daemon", "what listens there is no daemon of firn"};
  const Json* const data = member(*error, "data");
  const std::string name = data != nullptr ? text_of(member(*data, "code")) : "";
  return Error{name.empty() ? ErrorCode::kBadInput : code_named(name),
               text_of(member(*error, "message")),
               {}};
}

}  // namespace

Result<Json> call_daemon(const std::string& socket, const std::string& method, const Json& params) {
  const auto connection = connect_to(socket);
  if (!connection.ok()) return connection.error();
  Json request = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}};
  if (!params.is_null()) request["params"] = params;
  std::string line;
  try {
    line = request.dump() + "\n";
  } catch (const Json::type_error&) {
    return Error{ErrorCode::kBadInput, method,
                 "a path or name in it is no UTF-8, which the daemon's socket does not carry"};
  }
  const Status sent = send_all(connection->get(), line);
  if (!sent.ok()) return sent.error();
  const auto reply = receive_line(connection->get());
  return reply.ok() ? result_of(*reply) : reply.error();
}

}  // namespace firn::app
