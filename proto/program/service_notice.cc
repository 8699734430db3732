#include "proto/program/service_notice.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <string>

#include "proto/base/unique_fd.h"

namespace firn {

Status tell_service_manager(std::string_view state) {
  const char* set = std::getenv("NOTIFY_SOCKET");
  if (set == nullptr || *set == '\0') return Done{};
  const std::string name = set;
  const std::string operation = "tell the service manager at " + name;
  sockaddr_un address{};
  if ((name[0] != '/' && name[0] != '@') || name.size() >= sizeof(address.sun_path))
    return Error{ErrorCode::kBadInput, operation, "NOTIFY_SOCKET is no name of a Unix socket"};
  address.sun_family = AF_UNIX;
  std::copy(name.begin(), name.end(), address.sun_path);
  // A name with @ is of the abstract namespace: the kernel wants a zero there, and all else as it
  // is.
  if (name[0] == '@') address.sun_path[0] = '\0';
  const auto address_bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());

  const UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.get() < 0) return error_from_errno(operation, errno);
  const auto sent = ::sendto(socket.get(), state.data(), state.size(), MSG_NOSIGNAL,
                             reinterpret_cast<const sockaddr*>(&address), address_bytes);
  if (sent < 0) return error_from_errno(operation, errno);
  return Done{};
}

}  // namespace firn
