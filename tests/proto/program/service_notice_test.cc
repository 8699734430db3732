#include "proto/program/service_notice.h"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "proto/base/unique_fd.h"

namespace firn::test {
namespace {

// The service manager's end, while it lives: a socket of this name, which NOTIFY_SOCKET names.
class Manager {
 public:
  explicit Manager(const std::string& name)
      : name_(name), socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    REQUIRE(name.size() < sizeof(address.sun_path));
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    REQUIRE(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), bytes) == 0);
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
  }
  ~Manager() {
    ::unsetenv("NOTIFY_SOCKET");
    if (name_[0] == '/') ::unlink(name_.c_str());
  }
  Manager(const Manager&) = delete;

  // What was said, or an empty text if nothing was.
  std::string heard() const {
    char text[100];
    const auto bytes = ::recv(socket_.get(), text, sizeof(text), 0);
    return bytes < 0 ? std::string() : std::string(text, static_cast<std::size_t>(bytes));
  }

 private:
  const std::string name_;
  const UniqueFd socket_;
};

std::string own_name(const std::string& start) {
  return start + "firn-notice-" + std::to_string(::getpid());
}

TEST_CASE("the service manager hears the state, at a path and under an abstract name") {
  for (const std::string& name :
       {own_name(std::filesystem::temp_directory_path().string() + "/"), own_name("@")}) {
    CAPTURE(name);
    const Manager manager(name);
    REQUIRE(tell_service_manager("READY=1"));
    CHECK(manager.heard() == "READY=1");
    CHECK(manager.heard().empty());
  }
}

TEST_CASE("without a service manager nothing is told, and nothing fails") {
  ::unsetenv("NOTIFY_SOCKET");
  CHECK(tell_service_manager("READY=1"));
  ::setenv("NOTIFY_SOCKET", "", 1);
  CHECK(tell_service_manager("READY=1"));
  ::unsetenv("NOTIFY_SOCKET");
}

TEST_CASE("a name that is no socket's, or that nobody has, is an error that names it") {
  for (const std::string& name : {std::string("relative"), std::string(200, '/')}) {
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
    const Status told = tell_service_manager("READY=1");
    REQUIRE(!told);
    CHECK(told.error().code == ErrorCode::kBadInput);
    CHECK(told.error().message().find(name) != std::string::npos);
  }
  ::setenv("NOTIFY_SOCKET", own_name("@nobody-").c_str(), 1);
  CHECK(!tell_service_manager("READY=1"));
  ::unsetenv("NOTIFY_SOCKET");
}

}  // namespace
}  // namespace firn::test
