// Names whose addresses are looked up: name servers that do not answer, and several addresses. The
// program's getaddrinfo goes through here.
#include <doctest/doctest.h>
#include <netdb.h>
#include <sys/socket.h>

#include <condition_variable>
#include <mutex>
#include <string_view>
#include <vector>

#include "proto/transport/sockets.h"
#include "tests/transport/recorder.h"

namespace firn::proto::transport::test {
namespace {

// What the names of this test stand for.
struct NameServer {
  std::mutex mutex;
  std::condition_variable changed;
  bool answers = false;
  int asked = 0;  // and not answered

  void wait() {
    std::unique_lock lock(mutex);
    ++asked;
    changed.notify_all();
    changed.wait(lock, [this] { return answers; });
    --asked;
    changed.notify_all();
  }
  bool wait_asked(int count) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, kPatience, [&] { return asked == count; });
  }
  void set_answers(bool now) {
    const std::lock_guard lock(mutex);
    answers = now;
    changed.notify_all();
  }
};

NameServer& name_server() {
  static NameServer* const server = new NameServer;
  return *server;
}

// Does not answer until the end of the test.
class SilentNameServer {
 public:
  SilentNameServer() { name_server().set_answers(false); }
  ~SilentNameServer() {
    name_server().set_answers(true);
    CHECK(name_server().wait_asked(0));
  }
};

}  // namespace

extern "C" {
int __real_getaddrinfo(const char*, const char*, const addrinfo*, addrinfo**);

int __wrap_getaddrinfo(const char* host, const char* port, const addrinfo* hints, addrinfo** list) {
  const std::string_view name = host == nullptr ? "" : host;
  const bool numeric = hints != nullptr && (hints->ai_flags & AI_NUMERICHOST) != 0;
  if (!numeric && name == "silent.test") {
    name_server().wait();
    return EAI_AGAIN;
  }
  if (numeric || name != "both.test") return __real_getaddrinfo(host, port, hints, list);
  addrinfo* second = nullptr;
  if (__real_getaddrinfo("127.0.0.1", port, hints, list) != 0) return EAI_FAIL;
  if (__real_getaddrinfo("127.0.0.2", port, hints, &second) != 0) return EAI_FAIL;
  (*list)->ai_next = second;
  return 0;
}
}

namespace {

TEST_CASE("a transport ends while a name server does not answer") {
  const SilentNameServer silent;
  {
    Node client;
    client.transport->connect(Address{{}, "silent.test", 4711});
    REQUIRE(name_server().wait_asked(1));
  }
  CHECK(name_server().wait_asked(1));  // still
}

TEST_CASE("a connection whose name nobody answers for ends in time, or when it is closed") {
  const SilentNameServer silent;
  Options options;
  options.connect_timeout = std::chrono::milliseconds(50);
  Node hasty(options), patient;
  const ConnectionId out = hasty.transport->connect(Address{{}, "silent.test", 4711});
  REQUIRE(hasty.recorder.wait_closed(out));
  CHECK(hasty.recorder.ending(out).code == ErrorCode::kUnreachable);
  const ConnectionId other = patient.transport->connect(Address{{}, "silent.test", 4711});
  patient.transport->close(other);
  REQUIRE(patient.recorder.wait_closed(other));
  CHECK(patient.recorder.ending(other).code == ErrorCode::kCancelled);
}

TEST_CASE("names that are answered for do not wait for those that are not") {
  const SilentNameServer silent;
  Node server, client;
  const Address where = server.listen();
  for (int i = 0; i < 8; ++i) client.transport->connect(Address{{}, "silent.test", 4711});
  REQUIRE(name_server().wait_asked(8));
  CHECK(client.recorder.wait_open(client.transport->connect(Address{{}, "localhost", where.port})));
}

TEST_CASE("listening on a name that nobody answers for is given up") {
  const SilentNameServer silent;
  Node node;
  const auto result = node.transport->listen(Address{{}, "silent.test", 0});
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().code == ErrorCode::kBadInput);
}

// A socket that listens and takes no connection any more, not even into the kernel's queue.
class FullListener {
 public:
  FullListener(const std::string& host, std::uint16_t port)
      : where_(*numeric_address(host, port)),
        listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    REQUIRE(::bind(listening_.fd(), where_.get(), where_.bytes) == 0);
    REQUIRE(::listen(listening_.fd(), 0) == 0);
    for (int i = 0; i < 4; ++i) {
      callers_.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      (void)::connect(callers_.back().fd(), where_.get(), where_.bytes);
    }
  }

 private:
  const SocketAddress where_;
  const Socket listening_;
  std::vector<Socket> callers_;
};

TEST_CASE("the second address of a name is tried while the first does not answer") {
  Options options;
  options.connect_timeout = std::chrono::hours(1);  // half of it would be too long for this test
  Node server, client(options);
  const Address where = server.listen("127.0.0.2");
  const FullListener full("127.0.0.1", where.port);
  const ConnectionId out = client.transport->connect(Address{{}, "both.test", where.port});
  REQUIRE(client.recorder.wait_open(out));
  CHECK(client.recorder.connection(out).info.ip == "127.0.0.2");
}

TEST_CASE("the second address of a name is tried when the first refuses") {
  Node server, client;
  const Address where = server.listen("127.0.0.2");
  const ConnectionId out = client.transport->connect(Address{{}, "both.test", where.port});
  REQUIRE(client.recorder.wait_open(out));
  CHECK(client.recorder.connection(out).info.ip == "127.0.0.2");
}

}  // namespace
}  // namespace firn::proto::transport::test
