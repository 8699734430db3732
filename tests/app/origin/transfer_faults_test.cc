// What servers do wrong: each fault has its kind and a message that says what to do.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/socket.h>

#include <atomic>
#include <ctime>
#include <string>

#include "client/app/origin/transfers.h"
#include "tests/app/origin/collector.h"
#include "tests/app/origin/faulty_server.h"

using namespace firn;
using namespace firn::app;
using namespace firn::tests;

namespace {

const std::string kTen = "0123456789";
constexpr const char* kPartHead =
    "HTTP/1.1 206 Partial Content\r\nETag: \"v1\"\r\nContent-Range: bytes 0-9/20\r\n";

struct Ending {
  Fault fault;
  std::string message, bytes;
  std::optional<std::uint32_t> retry_after_s;
};

// How a transfer of the first 10 of 20 bytes ends if the server sends `answer`, then closes the
// connection or waits for the client to close it.
Ending ending_of(const std::string& answer, bool closes = true,
                 const std::string& validator = "\"v1\"") {
  FaultyServer server([&](Exchange& exchange) {
    exchange.send(answer);
    if (!closes) exchange.wait_for_end();
    return false;
  });
  TransfersOptions options = no_environment();
  options.stall_timeout_s = 1;
  const auto transfers = started(options);
  auto request = request_for(server.url() + "?sig=secret");
  request.range = FileRange{0, 10};
  request.size = 20;
  request.validator = validator;
  const auto sink = fetched(*transfers, request);
  const TransferEnd& end = sink->wait_for_end();
  CHECK(sink->message().find("secret") == std::string::npos);
  if (end.fault != Fault::kNone)
    CHECK(sink->message().starts_with("fetch " + server.url() + "?sig=...: "));
  return {end.fault, sink->message(), sink->bytes(), end.retry_after_s};
}

Ending ending_of_status(const std::string& line, const std::string& headers = "") {
  return ending_of("HTTP/1.1 " + line + "\r\nContent-Length: 5\r\n" + headers + "\r\nsorry");
}

bool contains(const std::string& text, const std::string& part) {
  CAPTURE(text);
  CAPTURE(part);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

}  // namespace

TEST_CASE("the answer as it should be has no fault") {
  const Ending end = ending_of(kPartHead + ("Content-Length: 10\r\n\r\n" + kTen));
  CHECK(end.message == "");
  CHECK(end.fault == Fault::kNone);
  CHECK(end.bytes == kTen);
}

TEST_CASE("the whole file in place of a range is no range, and is not read") {
  const Ending end =
      ending_of("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 20\r\n\r\n" + kTen + kTen);
  CHECK(end.fault == Fault::kNoRanges);
  CHECK(end.bytes == "");
  contains(end.message, "sends the whole file");
}

TEST_CASE("the whole file in place of a range says after If-Range that the file has changed") {
  CHECK(ending_of("HTTP/1.1 200 OK\r\nETag: \"v2\"\r\nContent-Length: 20\r\n\r\n" + kTen).fault ==
        Fault::kChanged);
  CHECK(ending_of("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n" + kTen).fault == Fault::kChanged);
  CHECK(ending_of("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n" + kTen, true, "").fault ==
        Fault::kNoRanges);
}

TEST_CASE("another range than the one asked for is none") {
  const Ending other = ending_of(
      "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 5-14/20\r\nContent-Length: 10\r\n\r\n" +
      kTen);
  CHECK(other.fault == Fault::kNoRanges);
  CHECK(other.bytes == "");
  contains(other.message, "the 10 bytes from 5 on");
  CHECK(ending_of("HTTP/1.1 206 Partial Content\r\nContent-Length: 10\r\n\r\n" + kTen).fault ==
        Fault::kNoRanges);
  CHECK(ending_of(kPartHead + ("Content-Length: 11\r\n\r\n" + kTen + "!")).fault ==
        Fault::kNoRanges);
}

TEST_CASE("a file of another size has changed") {
  const Ending end = ending_of(
      "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-9/21\r\nContent-Length: 10\r\n\r\n" +
      kTen);
  CHECK(end.fault == Fault::kChanged);
  contains(end.message, "has 21 bytes, not 20");
  CHECK(ending_of_status("416 Range Not Satisfiable", "Content-Range: bytes */7\r\n").fault ==
        Fault::kChanged);
}

TEST_CASE("a file with another ETag or date has changed") {
  const std::string head = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-9/20\r\n";
  CHECK(ending_of(head + "ETag: \"v2\"\r\n\r\n" + kTen).fault == Fault::kChanged);
  CHECK(ending_of(head + "ETag: W/\"v1\"\r\n\r\n" + kTen).fault == Fault::kNone);
  const std::string date = "Sun, 06 Nov 1994 08:49:37 GMT";
  CHECK(ending_of(head + "Last-Modified: " + date + "\r\n\r\n" + kTen, true, date).fault ==
        Fault::kNone);
  const Ending later =
      ending_of(head + "Last-Modified: Sun, 06 Nov 1994 08:49:38 GMT\r\n\r\n" + kTen, true, date);
  CHECK(later.fault == Fault::kChanged);
  contains(later.message, "date is another one");
  CHECK(ending_of_status("412 Precondition Failed").fault == Fault::kChanged);
}

TEST_CASE("compressed bytes are not taken for the file's, nor decompressed") {
  const Ending end =
      ending_of(kPartHead + ("Content-Encoding: gzip\r\nContent-Length: 10\r\n\r\n" + kTen));
  CHECK(end.fault == Fault::kEncoded);
  CHECK(end.bytes == "");
  contains(end.message, "compressed (gzip)");
}

TEST_CASE("refusals are told apart by whether asking again helps") {
  CHECK(ending_of_status("401 Unauthorized").fault == Fault::kForbidden);
  const Ending forbidden = ending_of_status("403 Forbidden");
  CHECK(forbidden.fault == Fault::kForbidden);
  contains(forbidden.message, "answers 403");
  CHECK(ending_of_status("404 Not Found").fault == Fault::kGone);
  CHECK(ending_of_status("410 Gone").fault == Fault::kGone);
  CHECK(ending_of_status("416 Range Not Satisfiable", "Content-Range: bytes */20\r\n").fault ==
        Fault::kNoRanges);
  CHECK(ending_of_status("500 Internal Server Error").fault == Fault::kPassing);
  CHECK(ending_of_status("502 Bad Gateway").fault == Fault::kPassing);
  CHECK(ending_of_status("400 Bad Request").fault == Fault::kForbidden);
}

TEST_CASE("a refusal names the reason that its body gives, however long that is") {
  const std::string body =
      "<Error><Code>AccessDenied</Code><Message>Ask the owner.</Message></Error>" +
      std::string(20'000, 'x');
  FaultyServer server([&](Exchange& exchange) {
    return exchange.send("HTTP/1.1 403 Forbidden\r\nContent-Length: " +
                         std::to_string(body.size()) + "\r\n\r\n" + body);
  });
  const auto sink = fetched(*started(), request_for(server.url()));
  CHECK(sink->wait_for_end().fault == Fault::kForbidden);
  contains(sink->message(), "answers 403 (AccessDenied: Ask the owner.)");
}

TEST_CASE("a server that asks for patience says how long, up to an hour") {
  CHECK(ending_of_status("503 Service Unavailable", "Retry-After: 120\r\n").retry_after_s == 120);
  CHECK(ending_of_status("429 Too Many Requests", "Retry-After: 999999999999\r\n").retry_after_s ==
        3600);
  CHECK(ending_of_status("429 Too Many Requests", "Retry-After: Fri, 31 Dec 2999 23:59:59 GMT\r\n")
            .retry_after_s == 3600);
  CHECK(ending_of_status("429 Too Many Requests", "Retry-After: Thu, 01 Jan 1970 00:00:00 GMT\r\n")
            .retry_after_s == 0);
  const Ending end = ending_of_status("429 Too Many Requests", "Retry-After: soon\r\n");
  CHECK(end.fault == Fault::kPassing);
  CHECK_FALSE(end.retry_after_s);
}

TEST_CASE("a connection that is closed early may work later") {
  const Ending announced =
      ending_of(kPartHead + ("Content-Length: 10\r\n\r\n" + kTen.substr(0, 4)));
  CHECK(announced.fault == Fault::kPassing);
  CHECK(announced.bytes == "0123");
  contains(announced.message, "after 4 bytes");
  CHECK(ending_of(kPartHead + ("\r\n" + kTen.substr(0, 4))).fault == Fault::kPassing);
  CHECK(
      ending_of(kPartHead + std::string("Transfer-Encoding: chunked\r\n\r\n4\r\n0123\r\n")).fault ==
      Fault::kPassing);
  CHECK(ending_of("").fault == Fault::kPassing);
  CHECK(ending_of("HTTP/1.1 206 Par").fault == Fault::kPassing);
}

TEST_CASE("more bytes than asked for are cut off, with a fault") {
  const Ending chunked = ending_of(
      kPartHead + std::string("Transfer-Encoding: chunked\r\n\r\n10\r\n0123456789abcdef\r\n"),
      false);
  CHECK(chunked.fault == Fault::kNoRanges);
  CHECK(chunked.bytes == kTen);
  contains(chunked.message, "more than the 10 bytes that were asked for");
  CHECK(ending_of(kPartHead + ("\r\n" + kTen + "!")).fault == Fault::kNoRanges);
}

TEST_CASE("a server that sends without a pause, but a few bytes a second, stalls") {
  FaultyServer server([](Exchange& exchange) {
    exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
    while (exchange.send(kTen)) exchange.pause_ms(50);
    return false;
  });
  TransfersOptions options = no_environment();
  options.stall_timeout_s = 1;
  const auto transfers = started(options);
  const auto sink = fetched(*transfers, request_for(server.url()));
  CHECK(sink->wait_for_end().fault == Fault::kPassing);
  CHECK(sink->bytes().starts_with(kTen));
  contains(sink->message(), "sent less than 2 KiB/s for 1 s");
}

TEST_CASE("a body without an end is read up to what was asked for") {
  std::atomic<bool> gone = false;
  FaultyServer server([&](Exchange& exchange) {
    exchange.send(kPartHead + std::string("Transfer-Encoding: chunked\r\n\r\n"));
    while (exchange.send("a\r\n" + kTen + "\r\n")) {
    }
    gone = true;
    return false;
  });
  const auto transfers = started();
  auto request = request_for(server.url());
  request.range = FileRange{0, 10};
  const auto sink = fetched(*transfers, request);
  CHECK(sink->wait_for_end().fault == Fault::kNoRanges);
  CHECK(sink->bytes() == kTen);
  // Of a whole file whose size is known, too.
  auto whole = request_for(server.url());
  whole.size = 20;
  FaultyServer endless([](Exchange& exchange) {
    exchange.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    while (exchange.send("a\r\n" + kTen + "\r\n")) {
    }
    return false;
  });
  whole.url = *parse_origin(endless.url());
  const auto longer = fetched(*transfers, whole);
  CHECK(longer->wait_for_end().fault == Fault::kChanged);
  CHECK(longer->bytes() == kTen + kTen);
  contains(longer->message(), "more than the 20 bytes that the file has");
}

TEST_CASE("a server that says nothing any more may do so later") {
  const Ending before = ending_of("", false);
  CHECK(before.fault == Fault::kPassing);
  contains(before.message, "sent less than 2 KiB/s for 1 s");
  const Ending within =
      ending_of(kPartHead + ("Content-Length: 10\r\n\r\n" + kTen.substr(0, 4)), false);
  CHECK(within.fault == Fault::kPassing);
  CHECK(within.bytes == "0123");
  contains(within.message, "sent less than 2 KiB/s for 1 s");
}

TEST_CASE("what is no HTTP, or has headers without an end, is a fault and no crash") {
  CHECK(ending_of("SSH-2.0-OpenSSH_9.2\r\n").fault == Fault::kPassing);
  CHECK(ending_of("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 9-0/20\r\n\r\n").fault ==
        Fault::kPassing);
  CHECK(ending_of("HTTP/1.1 200 OK\r\nX: " + std::string(200'000, 'x')).fault == Fault::kPassing);
  std::string many = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 20'000; ++i) many += "X: " + std::to_string(i) + "\r\n";
  CHECK(ending_of(many).fault == Fault::kPassing);
}

TEST_CASE("a provisional answer and trailers are not the answer") {
  const Ending end =
      ending_of("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + std::string(kPartHead) +
                "Transfer-Encoding: chunked\r\n\r\na\r\n" + kTen + "\r\n0\r\nETag: \"v9\"\r\n\r\n");
  CHECK(end.message == "");
  CHECK(end.bytes == kTen);
}

TEST_CASE("a server that closes after each request serves all of them") {
  FaultyServer server([](Exchange& exchange) {
    exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\n" + kTen);
    return false;
  });
  const auto transfers = started();
  for (int i = 0; i < 5; ++i)
    CHECK(fetched(*transfers, request_for(server.url()))->bytes() == kTen);
  CHECK(server.connections() == 5);
}

TEST_CASE("a server that closes kept connections without a word serves all requests") {
  FaultyServer server([](Exchange& exchange) {
    exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n" + kTen);
    return false;
  });
  const auto transfers = started();
  for (int i = 0; i < 5; ++i)
    CHECK(fetched(*transfers, request_for(server.url()))->bytes() == kTen);
}

TEST_CASE("a server that serves one connection and refuses others serves one transfer") {
  std::atomic<int> open = 0;
  FaultyServer server([&](Exchange& exchange) {
    if (open.fetch_add(1) > 0) {
      exchange.send("HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n");
      return false;
    }
    exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n01234");
    exchange.wait_for_end();
    return false;
  });
  const auto transfers = started();
  auto first = std::make_shared<Collector>(4);  // stays paused
  transfers->begin(request_for(server.url()), first);
  first->wait_for_pause();
  const auto second = fetched(*transfers, request_for(server.url()));
  CHECK(second->wait_for_end().fault == Fault::kPassing);
  CHECK(second->wait_for_end().retry_after_s == 1);
}

TEST_CASE("a closed port and a name that nobody has are faults that pass") {
  int port = 0;
  {
    FaultyServer server([](Exchange&) { return false; });
    port = server.port();
  }
  const auto transfers = started();
  const auto closed =
      fetched(*transfers, request_for("http://127.0.0.1:" + std::to_string(port) + "/file"));
  CHECK(closed->wait_for_end().fault == Fault::kPassing);
  CHECK(closed->wait_for_end().status.error().code == ErrorCode::kUnreachable);
  CHECK_FALSE(closed->wait_for_end().reached);
  contains(closed->message(), "no connection");
  const auto nobody = fetched(*transfers, request_for("http://no-such-host.invalid/file"));
  CHECK(nobody->wait_for_end().fault == Fault::kPassing);
  CHECK_FALSE(nobody->wait_for_end().reached);
  contains(nobody->message(), "name is not found");
}
