#include "proto/web/http_server.h"

#include <doctest/doctest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <vector>

#include "tests/web/http_client.h"

namespace firn::web {
namespace {

using test::HttpClient;

constexpr std::size_t kMiB = 1 << 20;

// A body of a made-up pattern, of which so much is there.
class SlowBody final : public BodySource {
 public:
  struct Shared {
    std::atomic<std::size_t> there = 0;
    std::atomic<std::size_t> given = 0;
    std::atomic<bool> fails = false;
    std::atomic<bool> gone = false;
  };
  explicit SlowBody(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  ~SlowBody() override {
    shared_->gone = true;
    shared_->gone.notify_all();
  }

  Result<std::size_t> read(std::span<std::uint8_t> out) override {
    if (shared_->fails) return Error{ErrorCode::kIo, "read", "made up"};
    const std::size_t given = shared_->given;
    const std::size_t bytes = std::min(out.size(), shared_->there - given);
    for (std::size_t i = 0; i < bytes; ++i) out[i] = byte_at(given + i);
    shared_->given = given + bytes;
    return bytes;
  }
  static std::uint8_t byte_at(std::size_t offset) {
    return static_cast<std::uint8_t>(offset * 7 + offset / 256);
  }

 private:
  const std::shared_ptr<Shared> shared_;
};

std::string pattern(std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(SlowBody::byte_at(i));
  return text;
}

// Answers "/NAME" with the body of that name.
class Bodies final : public HttpHandler {
 public:
  Bodies() {
    auto opened = HttpServer::open({.listen = {{}, "localhost", 0}, .niceness = 0});
    REQUIRE(opened.ok());
    server_ = *std::move(opened);
    REQUIRE(server_->run(*this).ok());
  }
  ~Bodies() override { server_.reset(); }

  // Before it is asked for.
  std::shared_ptr<SlowBody::Shared> add(const std::string& name, std::size_t bytes,
                                        std::size_t there) {
    auto shared = std::make_shared<SlowBody::Shared>();
    shared->there = there;
    const std::lock_guard lock(mutex_);
    bodies_["/" + name] = {shared, bytes};
    return shared;
  }
  void end() { server_.reset(); }
  int ticks() const { return ticks_; }
  std::uint16_t port() const { return server_->listening().port; }
  void resume(const std::string& name) {
    server_->post([this, name] { server_->resume(asked_.at("/" + name)); });
  }

  std::size_t body_bytes_max(const Request&) override { return 0; }
  void request(ExchangeId id, Request request) override {
    const std::lock_guard lock(mutex_);
    asked_[request.path] = id;
    const auto& [shared, bytes] = bodies_.at(request.path);
    Response response;
    response.headers = {{"etag", "\"x\""}, {"content-security-policy", "sandbox"}};
    response.source_bytes = bytes;
    if (!request.head_only) response.source = std::make_shared<SlowBody>(shared);
    server_->reply(id, std::move(response));
  }
  void over(ExchangeId) override {}
  void tick() override { ++ticks_; }

 private:
  std::atomic<int> ticks_ = 0;
  std::mutex mutex_;
  std::map<std::string, std::pair<std::shared_ptr<SlowBody::Shared>, std::size_t>> bodies_;
  std::map<std::string, ExchangeId> asked_;
  std::unique_ptr<HttpServer> server_;
};

TEST_CASE("a body is read from its source to its end, and the connection takes the next request") {
  Bodies bodies;
  const auto long_one = bodies.add("long", 3 * kMiB + 1, 3 * kMiB + 1);
  bodies.add("short", 10, 10);
  HttpClient client(bodies.port());
  client.ask("GET", "/long");
  const std::string head = client.head();
  CHECK(head.starts_with("HTTP/1.1 200"));
  CHECK(head.find("content-length: 3145729\r\n") != std::string::npos);
  CHECK(head.find("etag: \"x\"\r\n") != std::string::npos);
  CHECK(client.body(3 * kMiB + 1) == pattern(3 * kMiB + 1));
  client.ask("GET", "/short");
  CHECK(client.head().find("content-length: 10\r\n") != std::string::npos);
  CHECK(client.body(10) == pattern(10));
  long_one->gone.wait(false);
}

TEST_CASE("a header of a response replaces the one that pages have") {
  Bodies bodies;
  bodies.add("x", 10, 10);
  HttpClient client(bodies.port());
  client.ask("GET", "/x");
  const std::string head = client.head();
  CHECK(head.find("content-security-policy: sandbox\r\n") != std::string::npos);
  CHECK(head.find("default-src") == std::string::npos);
  CHECK(head.find("x-content-type-options: nosniff\r\n") != std::string::npos);
}

TEST_CASE("HEAD is answered as GET, without the body") {
  Bodies bodies;
  bodies.add("x", 5'000'000'000, 0);
  bodies.add("y", 10, 10);
  HttpClient client(bodies.port());
  client.ask("HEAD", "/x");
  CHECK(client.head().find("content-length: 5000000000\r\n") != std::string::npos);
  client.ask("GET", "/y");
  CHECK(client.head().find("content-length: 10\r\n") != std::string::npos);
  CHECK(client.body(10) == pattern(10));
}

TEST_CASE("a body waits for bytes that have not come, and holds up no other") {
  Bodies bodies;
  const auto waiting = bodies.add("waiting", 1000, 100);
  bodies.add("other", 10, 10);
  HttpClient client(bodies.port()), other(bodies.port());
  client.ask("GET", "/waiting");
  (void)client.head();
  CHECK(client.body(100) == pattern(100));
  other.ask("GET", "/other");
  (void)other.head();
  CHECK(other.body(10) == pattern(10));
  bodies.resume("waiting");  // for nothing
  waiting->there = 1000;
  bodies.resume("waiting");
  CHECK(client.body(900) == pattern(1000).substr(100));
}

TEST_CASE("a reader that leaves while its body waits is let go of at the next tick") {
  for (const bool sends : {false, true}) {
    CAPTURE(sends);
    Bodies bodies;
    const auto waiting = bodies.add("waiting", 1000, 100);
    auto client = std::make_unique<HttpClient>(bodies.port());
    client->ask("GET", "/waiting");
    (void)client->head();
    CHECK(client->body(100) == pattern(100));
    if (sends) client->ask("GET", "/waiting");
    const int before = bodies.ticks();
    client.reset();
    waiting->gone.wait(false);
    CHECK(bodies.ticks() - before <= 3);
  }
}

TEST_CASE("a reader that sends something and takes nothing is let go of") {
  Bodies bodies;
  const auto large = bodies.add("large", 64 * kMiB, 64 * kMiB);
  HttpClient client(bodies.port());
  client.ask("GET", "/large");
  (void)client.head();
  client.ask("GET", "/large");
  large->gone.wait(false);
  CHECK(large->given < kMiB);
}

TEST_CASE("a request that comes while the body before leaves is answered after that body") {
  Bodies bodies;
  bodies.add("long", 3 * kMiB, 3 * kMiB);
  bodies.add("next", 10, 10);
  HttpClient client(bodies.port());
  client.ask("GET", "/long");
  client.ask("GET", "/next");
  (void)client.head();
  CHECK(client.body(3 * kMiB) == pattern(3 * kMiB));
  CHECK(client.head().starts_with("HTTP/1.1 200"));
  CHECK(client.body(10) == pattern(10));
}

TEST_CASE("a source that fails ends its connection before the body is whole") {
  Bodies bodies;
  const auto failing = bodies.add("failing", 1000, 100);
  HttpClient client(bodies.port());
  client.ask("GET", "/failing");
  (void)client.head();
  CHECK(client.body(100) == pattern(100));
  failing->fails = true;
  bodies.resume("failing");
  CHECK(client.body(1) == "");
  failing->gone.wait(false);
}

TEST_CASE("a reader that takes nothing makes its source give less than 1 MiB") {
  Bodies bodies;
  const auto large = bodies.add("large", 64 * kMiB, 64 * kMiB);
  HttpClient client(bodies.port());
  client.ask("GET", "/large");
  // The server's thread has a turn for each connection that it can write to.
  HttpClient other(bodies.port());
  for (int i = 0; i < 200; ++i) {
    bodies.add("short", 10, 10);
    other.ask("GET", "/short");
    (void)other.head();
    CHECK(other.body(10) == pattern(10));
  }
  CHECK(large->given > 0);
  CHECK(large->given < kMiB);
  (void)client.head();
  CHECK(client.body(8 * kMiB) == pattern(8 * kMiB));
}

TEST_CASE("many readers of one body get all of it") {
  Bodies bodies;
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int i = 0; i < 20; ++i) {
    bodies.add(std::to_string(i), kMiB, kMiB);
    clients.push_back(std::make_unique<HttpClient>(bodies.port()));
    clients.back()->ask("GET", "/" + std::to_string(i));
  }
  for (const auto& client : clients) {
    (void)client->head();
    CHECK(client->body(kMiB) == pattern(kMiB));
  }
}

TEST_CASE("a server that ends lets go of what it waits for") {
  Bodies bodies;
  const auto waiting = bodies.add("waiting", 1000, 100);
  HttpClient client(bodies.port());
  client.ask("GET", "/waiting");
  (void)client.head();
  CHECK(client.body(100) == pattern(100));
  bodies.end();
  CHECK(waiting->gone);
  CHECK(client.body(900) == "");
}

}  // namespace
}  // namespace firn::web
