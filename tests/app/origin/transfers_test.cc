// What transfers bring from servers that do as they should.
#include "client/app/origin/transfers.h"

#include <doctest/doctest.h>

#include <array>
#include <fstream>
#include <future>
#include <new>
#include <vector>

#include "tests/app/origin/collector.h"
#include "tests/app/origin/faulty_server.h"
#include "tests/app/temp_folder.h"

using namespace firn;
using namespace firn::app;
using namespace firn::tests;

namespace {

std::string sample(std::size_t size) {
  std::string bytes(size, 0);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7 + i / 251);
  return bytes;
}

const std::string kFile = sample(300'000);
const std::string kEtag = "\"v1\"";

bool serve_sample(Exchange& exchange) {
  return serve_file(exchange, kFile, kEtag);
}

}  // namespace

TEST_CASE("a transfer brings a whole file, and its answer says size and state") {
  FaultyServer server(serve_sample);
  const auto transfers = started();
  const auto sink = fetched(*transfers, request_for(server.url()));
  CHECK(sink->message() == "");
  CHECK(sink->bytes() == kFile);
  REQUIRE(sink->answer());
  CHECK(sink->answer()->size == kFile.size());
  CHECK(sink->answer()->validator() == kEtag);
  CHECK(sink->ends() == 1);
}

TEST_CASE("a transfer of a range brings its bytes alone, and an empty file brings none") {
  FaultyServer server([](Exchange& exchange) {
    return serve_file(exchange, exchange.path() == "/empty" ? std::string() : kFile, kEtag);
  });
  const auto transfers = started();
  auto request = request_for(server.url());
  request.range = FileRange{1000, 70'000};
  request.size = kFile.size();
  request.validator = kEtag;
  const auto sink = fetched(*transfers, request);
  CHECK(sink->message() == "");
  CHECK(sink->bytes() == kFile.substr(1000, 70'000));
  const auto empty = fetched(*transfers, request_for(server.url("/empty")));
  CHECK(empty->message() == "");
  CHECK(empty->bytes() == "");
  CHECK(empty->answer()->size == 0);
}

TEST_CASE("a range that is all of the file may come as the whole from a server without ranges") {
  FaultyServer server([](Exchange& exchange) {
    return exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfile");
  });
  const auto transfers = started();
  auto request = request_for(server.url());
  request.range = FileRange{0, 4};
  CHECK(fetched(*transfers, request)->bytes() == "file");
}

TEST_CASE("a request says who asks, and that it wants the bytes as they are") {
  std::promise<std::array<std::string, 3>> said;
  FaultyServer server([&](Exchange& exchange) {
    said.set_value({exchange.header("user-agent"), exchange.header("accept-encoding"),
                    exchange.header("range")});
    return serve_file(exchange, kFile, kEtag);
  });
  const auto transfers = started();
  auto request = request_for(server.url());
  request.range = FileRange{5, 10};
  fetched(*transfers, request);
  const auto headers = said.get_future().get();
  CHECK(headers[0].starts_with("firn/"));
  CHECK(headers[1] == "identity");
  CHECK(headers[2] == "bytes=5-14");
}

TEST_CASE("twenty requests one after the other go through one connection") {
  FaultyServer server(serve_sample);
  const auto transfers = started();
  for (std::uint64_t i = 0; i < 20; ++i) {
    auto request = request_for(server.url());
    request.range = FileRange{i * 1000, 1000};
    CHECK(fetched(*transfers, request)->bytes() == kFile.substr(i * 1000, 1000));
  }
  CHECK(server.requests() == 20);
  CHECK(server.connections() == 1);
}

TEST_CASE("a refused request leaves its connection for the next one") {
  FaultyServer server([](Exchange& exchange) {
    if (exchange.path() == "/file") return serve_file(exchange, kFile, kEtag);
    return exchange.send("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone");
  });
  const auto transfers = started();
  CHECK(fetched(*transfers, request_for(server.url("/other")))->bytes() == "");
  CHECK(fetched(*transfers, request_for(server.url()))->bytes() == kFile);
  CHECK(server.connections() == 1);
}

TEST_CASE("many transfers at a time each get their own bytes") {
  FaultyServer server(serve_sample);
  const auto transfers = started();
  std::vector<std::shared_ptr<Collector>> sinks;
  for (std::uint64_t i = 0; i < 12; ++i) {
    auto request = request_for(server.url());
    request.range = FileRange{i * 20'000, 20'000};
    sinks.push_back(std::make_shared<Collector>());
    transfers->begin(request, sinks.back());
  }
  for (std::size_t i = 0; i < sinks.size(); ++i) {
    CAPTURE(i);
    CHECK(sinks[i]->wait_for_end().fault == Fault::kNone);
    CHECK(sinks[i]->bytes() == kFile.substr(i * 20'000, 20'000));
  }
}

TEST_CASE(
    "a transfer pauses while its sink takes nothing, however long, and goes on where it was") {
  FaultyServer server([](Exchange& exchange) {
    if (exchange.path() == "/file") return serve_file(exchange, kFile, kEtag);
    exchange.wait_for_end();
    return false;
  });
  TransfersOptions options = no_environment();
  options.stall_timeout_s = 1;
  const auto transfers = started(options);
  auto sink = std::make_shared<Collector>(100'000);
  const std::uint64_t id = transfers->begin(request_for(server.url()), sink);
  sink->wait_for_pause();
  // Longer than a stall: another transfer ends by one meanwhile.
  CHECK(fetched(*transfers, request_for(server.url("/silence")))->wait_for_end().fault ==
        Fault::kPassing);
  transfers->resume(id);  // still no room: pauses again
  sink->set_room(SIZE_MAX);
  transfers->resume(id);
  CHECK(sink->wait_for_end().fault == Fault::kNone);
  CHECK(sink->bytes() == kFile);
  transfers->resume(id);  // has ended: nothing happens
  CHECK(sink->ends() == 1);
}

TEST_CASE("a cancelled transfer ends once, and other transfers go on") {
  FaultyServer server(serve_sample);
  const auto transfers = started();
  auto paused = std::make_shared<Collector>(10), other = std::make_shared<Collector>(10);
  const std::uint64_t id = transfers->begin(request_for(server.url()), paused);
  const std::uint64_t other_id = transfers->begin(request_for(server.url()), other);
  paused->wait_for_pause();
  other->wait_for_pause();
  transfers->cancel(id);
  transfers->cancel(id);
  CHECK(paused->wait_for_end().fault == Fault::kCancelled);
  CHECK(paused->message().find(server.url()) != std::string::npos);
  other->set_room(SIZE_MAX);
  transfers->resume(other_id);
  CHECK(other->wait_for_end().fault == Fault::kNone);
  CHECK(paused->ends() == 1);
}

TEST_CASE("all transfers end with the object that makes them") {
  FaultyServer server([](Exchange& exchange) {
    exchange.wait_for_end();
    return false;
  });
  auto transfers = started();
  std::vector<std::shared_ptr<Collector>> sinks(5);
  for (auto& sink : sinks) {
    sink = std::make_shared<Collector>();
    transfers->begin(request_for(server.url()), sink);
  }
  transfers.reset();
  for (const auto& sink : sinks) {
    CHECK(sink->ends() == 1);
    CHECK(sink->wait_for_end().fault == Fault::kCancelled);
  }
}

TEST_CASE("a sink that wants no such answer ends its transfer with its own error") {
  FaultyServer server(serve_sample);
  const auto transfers = started();
  auto sink = std::make_shared<Collector>();
  sink->answer_heads_with(Error{ErrorCode::kDiskFull, "write the file", "no space"});
  transfers->begin(request_for(server.url()), sink);
  CHECK(sink->wait_for_end().fault == Fault::kCancelled);
  CHECK(sink->message() == "write the file: no space");
  CHECK(sink->bytes() == "");
}

TEST_CASE("a transfer that finds no memory ends, and the next one is as ever") {
  class Poor : public Collector {
    Status head(const OriginAnswer& answer) override {
      if (in_head) throw std::bad_alloc();
      return Collector::head(answer);
    }
    bool take(std::span<const std::uint8_t>) override { throw std::bad_alloc(); }

   public:
    bool in_head = false;
  };
  FaultyServer server(serve_sample);
  const auto transfers = started();
  for (const bool in_head : {true, false}) {
    auto sink = std::make_shared<Poor>();
    sink->in_head = in_head;
    transfers->begin(request_for(server.url()), sink);
    CHECK(sink->wait_for_end().fault == Fault::kPassing);
    CHECK(sink->message().find("memory") != std::string::npos);
  }
  CHECK(fetched(*transfers, request_for(server.url()))->bytes() == kFile);
}

TEST_CASE("https is read from a server whose certificate holds, and from no other") {
  FaultyServer server(serve_sample, Speaks::kHttps);
  const TempFolder folder;
  const std::string trusted = folder.path() + "/trusted.pem";
  std::ofstream(trusted) << server.certificate();
  TransfersOptions options = no_environment();
  options.environment = [&](const char* name) {
    return name == std::string("SSL_CERT_FILE") ? trusted : std::string();
  };
  CHECK(fetched(*started(options), request_for(server.url()))->bytes() == kFile);

  const auto refused = fetched(*started(), request_for(server.url()));
  CHECK(refused->wait_for_end().fault == Fault::kWrongServer);
  CHECK(refused->wait_for_end().status.error().code == ErrorCode::kWrongIdentity);
  CHECK(refused->message().find("certificate") != std::string::npos);
  CHECK(server.requests() == 1);
}
