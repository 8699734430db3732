// Reading a file of an origin to its end, past what passes.
#include "client/app/origin/origin_reading.h"

#include <doctest/doctest.h>

#include <mutex>
#include <vector>

#include "tests/app/origin/collector.h"
#include "tests/app/origin/faulty_server.h"

using namespace firn;
using namespace firn::app;
using namespace firn::tests;
using namespace std::chrono_literals;

namespace {

std::string numbered(std::size_t size, char first) {
  std::string bytes(size, first);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(first + i * 13 + i / 253);
  return bytes;
}

const std::string kBytes = numbered(200'000, 'a');
const std::string kTag = "\"one\"";

// One reading with what a test looks at.
struct Reader {
  explicit Reader(const std::string& url, std::optional<std::chrono::microseconds> timeout = {},
                  std::uint64_t rate = 0) {
    OriginReadingOptions options;
    options.timeout = timeout;
    options.bytes_per_second = rate;
    options.first_pause = 1ms;
    options.longest_pause = 20ms;
    options.cancelled = [this] { return cancelled || told.size() == told_max; };
    options.tell = [this](const std::string& message) { told.push_back(message); };
    const auto request = request_for(url);
    reading = std::make_unique<OriginReading>(transfers, request.url, request.access, options);
  }

  // What comes until the end, or until an error.
  std::string rest() {
    std::string bytes;
    std::vector<std::uint8_t> buffer(10'000);
    for (;;) {
      const auto count = reading->read(buffer);
      status = count.ok() ? Status(Done{}) : Status(count.error());
      if (!count.ok() || *count == 0) return bytes;
      bytes.append(reinterpret_cast<const char*>(buffer.data()), *count);
    }
  }
  std::string all() {
    status = reading->begin(0, {});
    return status.ok() ? rest() : "";
  }
  std::string message() const { return status.ok() ? "" : status.error().message(); }

  std::shared_ptr<Transfers> transfers = started();
  std::vector<std::string> told;
  bool cancelled = false;
  std::size_t told_max = SIZE_MAX;  // then it is cancelled
  std::unique_ptr<OriginReading> reading;
  Status status = Done{};
};

OriginFileState known_state() {
  return {kBytes.size(), kTag, ""};
}

std::string header_of_whole(const std::string& more = "") {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kBytes.size()) + "\r\n" + more +
         "\r\n";
}

// The first request is cut off after 70,000 bytes.
class CutOff {
 public:
  explicit CutOff(Answer then, std::string more = "ETag: " + kTag + "\r\n")
      : then_(std::move(then)), more_(std::move(more)) {}

  bool operator()(Exchange& exchange) {
    ranges.push_back(exchange.header("range"));
    if (ranges.size() > 1) return then_(exchange);
    exchange.send(header_of_whole(more_) + kBytes.substr(0, 70'000));
    return false;
  }

  std::vector<std::string> ranges;  // of a test without requests at the same time

 private:
  const Answer then_;
  const std::string more_;
};

bool serve_bytes(Exchange& exchange) {
  return serve_file(exchange, kBytes, kTag);
}

// Where nobody listens.
std::string gone_url() {
  return FaultyServer(serve_bytes).url();
}

}  // namespace

TEST_CASE("reading brings a file in order, and says its size and state") {
  FaultyServer server(serve_bytes);
  Reader reader(server.url());
  CHECK(reader.all() == kBytes);
  CHECK(reader.message() == "");
  CHECK(reader.reading->state().bytes == kBytes.size());
  CHECK(reader.reading->state().validator == kTag);
  CHECK(reader.told.empty());
}

TEST_CASE("reading goes on behind the last byte after a server that closed early") {
  CutOff answer(serve_bytes);
  FaultyServer server(std::ref(answer));
  Reader reader(server.url());
  CHECK(reader.all() == kBytes);
  REQUIRE(answer.ranges.size() == 2);
  CHECK(answer.ranges[1] == "bytes=70000-199999");
  REQUIRE(reader.told.size() == 1);
  CHECK(reader.told[0].find("early") != std::string::npos);
}

TEST_CASE("of a server without ranges all is fetched again, and what was read is passed over") {
  CutOff answer([](Exchange& exchange) {
    return exchange.send(header_of_whole("ETag: " + kTag + "\r\n") + kBytes);
  });
  FaultyServer server(std::ref(answer));
  Reader reader(server.url());
  CHECK(reader.all() == kBytes);
  CHECK(answer.ranges.back() == "");
}

TEST_CASE("a file that changes while it is read is an error") {
  CutOff answer(
      [](Exchange& exchange) { return serve_file(exchange, numbered(200'000, 'b'), "\"two\""); });
  FaultyServer server(std::ref(answer));
  Reader reader(server.url());
  CHECK(reader.all() == kBytes.substr(0, 70'000));
  CHECK(reader.reading->changed());
  CHECK(reader.status.error().code == ErrorCode::kCorrupt);
}

TEST_CASE("a file that may have changed is not gone on with") {
  CutOff answer(serve_bytes, "");
  FaultyServer server(std::ref(answer));
  Reader reader(server.url());
  CHECK(reader.all() == kBytes.substr(0, 70'000));
  CHECK(reader.status.error().code == ErrorCode::kUnreachable);
  CHECK(reader.message().find("neither ETag nor date") != std::string::npos);
  CHECK(answer.ranges.size() == 1);
}

TEST_CASE("a later reading begins where an earlier one stopped") {
  FaultyServer server(serve_bytes);
  Reader reader(server.url());
  REQUIRE(reader.reading->begin(150'000, known_state()).ok());
  CHECK(reader.rest() == kBytes.substr(150'000));
  REQUIRE(reader.reading->begin(kBytes.size(), known_state()).ok());
  CHECK(reader.rest() == "");
  CHECK(reader.message() == "");
}

TEST_CASE("a later reading tells that the file is another one, also if no byte of it was missing") {
  FaultyServer server(
      [](Exchange& exchange) { return serve_file(exchange, numbered(200'000, 'b'), "\"two\""); });
  Reader reader(server.url());
  for (const std::uint64_t first : {std::uint64_t{150'000}, std::uint64_t{200'000}}) {
    CHECK_FALSE(reader.reading->begin(first, known_state()).ok());
    CHECK(reader.reading->changed());
  }
  CHECK(reader.all() == numbered(200'000, 'b'));
  CHECK_FALSE(reader.reading->changed());
}

TEST_CASE("a server that is overloaded is asked again") {
  int requests = 0;
  FaultyServer server([&](Exchange& exchange) {
    if (++requests < 4) return exchange.send("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
    return serve_bytes(exchange);
  });
  Reader reader(server.url());
  CHECK(reader.all() == kBytes);
  REQUIRE(reader.told.size() == 3);
  CHECK(reader.told[0].find("next attempt is in 1 ms") != std::string::npos);
  CHECK(reader.told[2].find("next attempt is in 4 ms") != std::string::npos);
}

TEST_CASE("a server that has never been reached is given up after three attempts") {
  Reader reader(gone_url());
  CHECK(reader.all() == "");
  CHECK(reader.status.error().code == ErrorCode::kUnreachable);
  CHECK(reader.message().find("no connection") != std::string::npos);
  CHECK(reader.told.size() == 2);
}

TEST_CASE("a server that was reached before is waited for, also by a later reading") {
  Reader later(gone_url());
  later.told_max = 6;
  later.status = later.reading->begin(150'000, known_state());
  CHECK(later.status.error().code == ErrorCode::kCancelled);
  CutOff answer(serve_bytes);
  auto server = std::make_unique<FaultyServer>(std::ref(answer));
  Reader reader(server->url());
  reader.told_max = 6;
  REQUIRE(reader.reading->begin(0, {}).ok());
  server.reset();
  reader.rest();
  CHECK(reader.status.error().code == ErrorCode::kCancelled);
}

TEST_CASE("reading gives up after the timeout, and says why nothing came") {
  FaultyServer server([](Exchange& exchange) {
    return exchange.send("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
  });
  Reader reader(server.url(), 50ms);
  CHECK(reader.all() == "");
  CHECK(reader.status.error().code == ErrorCode::kUnreachable);
  CHECK(reader.message().find("nothing came for 50 ms") != std::string::npos);
  CHECK(reader.message().find("answers 503") != std::string::npos);
}

TEST_CASE("a file that is not there, or not for us, is an error at once") {
  FaultyServer server([](Exchange& exchange) {
    return exchange.send(std::string("HTTP/1.1 ") +
                         (exchange.path() == "/none" ? "404 None" : "403 No") +
                         "\r\nContent-Length: 0\r\n\r\n");
  });
  for (const char* path : {"/none", "/secret"}) {
    Reader reader(server.url(path));
    CHECK(reader.all() == "");
    CHECK(reader.status.error().code == ErrorCode::kUnreachable);
    CHECK(reader.told.empty());
  }
}

TEST_CASE("a file whose size the server does not say is read to its end") {
  FaultyServer server([](Exchange& exchange) {
    return exchange.send(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfile\r\n0\r\n\r\n");
  });
  Reader reader(server.url());
  CHECK(reader.all() == "file");
  CHECK_FALSE(reader.reading->state().bytes);
}

TEST_CASE("a file whose size is not known and whose end does not come is an error") {
  FaultyServer server([](Exchange& exchange) {
    exchange.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfile\r\n");
    return false;
  });
  Reader reader(server.url());
  CHECK(reader.all() == "file");
  CHECK_FALSE(reader.status.ok());
}

TEST_CASE("reading that is cancelled ends, also while it waits for the server") {
  FaultyServer server([](Exchange& exchange) {
    exchange.wait_for_end();
    return false;
  });
  Reader reader(server.url());
  reader.cancelled = true;
  CHECK(reader.all() == "");
  CHECK(reader.status.error().code == ErrorCode::kCancelled);
}

TEST_CASE("reading with a limit brings the same bytes, a part of a second's at a time") {
  FaultyServer server(serve_bytes);
  Reader reader(server.url(), {}, 1'000'000);
  REQUIRE(reader.reading->begin(0, {}).ok());
  std::vector<std::uint8_t> buffer(kBytes.size());
  const auto count = reader.reading->read(buffer);
  REQUIRE(count.ok());
  CHECK(*count <= 50'000);
  CHECK(reader.rest() == kBytes.substr(*count));
}
