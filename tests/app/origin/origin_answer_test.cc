#include "client/app/origin/origin_answer.h"

#include <doctest/doctest.h>

#include <string>

using namespace firn;
using namespace firn::app;

namespace {

// 784111777 s: Sun, 06 Nov 1994 08:49:37 GMT.
constexpr std::int64_t kNowS = 784'111'777;

OriginAnswer answer_of(const std::string& header) {
  const auto answer = parse_answer(header, kNowS);
  CAPTURE(header);
  REQUIRE(answer.ok());
  return *answer;
}

TransferRequest asking(std::optional<FileRange> range) {
  TransferRequest request;
  request.range = range;
  return request;
}

Fault judged(const TransferRequest& request, const std::string& header) {
  return check_answer(request, answer_of(header), "http://h/x").fault;
}

}  // namespace

TEST_CASE("an answer's header is read whatever the case and blanks of its lines") {
  const OriginAnswer answer = answer_of(
      "HTTP/1.1 206 Partial Content\r\ncontent-RANGE:bytes 5-9/100\t\r\nContent-Length: 5\r\n"
      "ETag: \"x\"\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nX-Other: \xff\r\n\r\n");
  CHECK(answer.status == 206);
  CHECK(answer.range == FileRange{5, 5});
  CHECK(answer.size == 100);
  CHECK(answer.body_bytes == 5);
  CHECK(answer.etag == "\"x\"");
  CHECK(answer.last_modified == "Sun, 06 Nov 1994 08:49:37 GMT");
  CHECK(answer.encoding == "");
  CHECK(answer_of("HTTP/2 200\n").status == 200);
  CHECK(answer_of("HTTP/1.0 200 OK\nContent-Length: 7\nContent-Length: 7\n").size == 7);
}

TEST_CASE("a size is known only where the answer says one that counts") {
  CHECK_FALSE(answer_of("HTTP/1.1 206 P\r\nContent-Range: bytes 0-4/*\r\n").size);
  CHECK(answer_of("HTTP/1.1 416 R\r\nContent-Range: bytes */7\r\nContent-Length: 30\r\n").size ==
        7);
  CHECK_FALSE(
      answer_of("HTTP/1.1 200 OK\r\nContent-Length: 7\r\nTransfer-Encoding: chunked\r\n").size);
  CHECK_FALSE(answer_of("HTTP/1.1 404 N\r\nContent-Length: 7\r\n").size);
}

TEST_CASE("a header with a fault in what counts is no answer") {
  for (const char* header :
       {"",
        "x",
        "HTTP/1.1",
        "HTTP/1.1 20 OK",
        "HTTP/1.1 2000 OK",
        "HTTP/1.1 600 OK",
        "HTTP/1.1 2x0 OK",
        "ICY 200 OK",
        "HTTP/1.1 200 OK\r\nContent-Length: -1",
        "HTTP/1.1 200 OK\r\nContent-Length: 1, 1",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2",
        "HTTP/1.1 206 P\r\nContent-Range: bytes 5-4/9",
        "HTTP/1.1 206 P\r\nContent-Range: bytes 0-9/9",
        "HTTP/1.1 206 P\r\nContent-Range: bytes */9",
        "HTTP/1.1 206 P\r\nContent-Range: items 0-1/9",
        "HTTP/1.1 206 P\r\nContent-Range: bytes 0-18446744073709551615/*",
        "HTTP/1.1 206 P\r\nContent-Range: bytes 0-4/9\r\nContent-Range: bytes 1-4/9",
        "HTTP/1.1 416 R\r\nContent-Range: bytes 0-4/9",
        "HTTP/1.1 416 R\r\nContent-Range: bytes */*"}) {
    CAPTURE(header);
    CHECK_FALSE(parse_answer(header, kNowS).ok());
  }
  CHECK_FALSE(parse_answer("HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'x'), kNowS).ok());
}

TEST_CASE("the state of a file is its strong ETag, else its date") {
  const std::string date = "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
  CHECK(answer_of("HTTP/1.1 200 OK\r\nETag: \"a\"\r\n" + date).validator() == "\"a\"");
  CHECK(answer_of("HTTP/1.1 200 OK\r\nETag: W/\"a\"\r\n" + date).validator() ==
        "Sun, 06 Nov 1994 08:49:37 GMT");
  for (const char* etag : {"a", "\"a", "a\"", "\"a\"b\"", "\"a b\"", "\"\xff\"", "W/", "w/\"a\""}) {
    CAPTURE(etag);
    CHECK(answer_of(std::string("HTTP/1.1 200 OK\r\nETag: ") + etag).validator() == "");
  }
  CHECK(answer_of("HTTP/1.1 200 OK\r\nLast-Modified: yesterday").validator() == "");
}

TEST_CASE("encodings are joined, and identity is none") {
  CHECK(answer_of("HTTP/1.1 200 OK\r\nContent-Encoding: Identity").encoding == "");
  CHECK(answer_of("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Encoding: BR").encoding ==
        "gzip, br");
}

TEST_CASE("a date of the last change whose nanoseconds no 64 bits hold counts as none") {
  const auto last_modified = [](const std::string& date) {
    return answer_of("HTTP/1.1 200 OK\r\nLast-Modified: " + date + "\r\n").last_modified;
  };
  const std::string last = "Fri, 11 Apr 2262 23:47:16 GMT";
  CHECK(last_modified(last) == last);
  CHECK(seconds_of_date(last) == INT64_MAX / 1'000'000'000);
  CHECK(last_modified("Fri, 11 Apr 2262 23:47:17 GMT") == "");
  CHECK(last_modified("Fri, 31 Dec 9999 23:59:59 GMT") == "");
}

TEST_CASE("Retry-After is a number or a date, and at most an hour") {
  const auto retry_after = [](const std::string& text) {
    return answer_of("HTTP/1.1 503 S\r\nRetry-After: " + text + "\r\n").retry_after_s;
  };
  CHECK(retry_after("0") == 0);
  CHECK(retry_after("90") == 90);
  CHECK(retry_after("3601") == 3600);
  CHECK(retry_after("99999999999999999999999") == 3600);
  CHECK(retry_after("Sun, 06 Nov 1994 08:49:57 GMT") == 20);
  CHECK(retry_after("Sun, 06 Nov 1994 08:49:07 GMT") == 0);
  CHECK(retry_after("Mon, 07 Nov 1994 08:49:37 GMT") == 3600);
  for (const char* text :
       {"", "-1", "1.5", "soon", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET",
        "xxx, 06 Nov 1994 08:49:37 GMT", "Sun, 06 ovD 1994 08:49:37 GMT",
        "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, -6 Nov 1994 08:49:37 GMT"}) {
    CAPTURE(text);
    CHECK_FALSE(retry_after(text));
  }
}

TEST_CASE("an answer without a fault is one for the bytes that were asked for") {
  CHECK(judged(asking({}), "HTTP/1.1 200 OK") == Fault::kNone);
  CHECK(judged(asking({}), "HTTP/1.1 206 P\r\nContent-Range: bytes 0-4/5") == Fault::kNoRanges);
  CHECK(judged(asking({}), "HTTP/1.1 204 No Content") == Fault::kNoRanges);
  CHECK(judged(asking(FileRange{0, 5}), "HTTP/1.1 206 P\r\nContent-Range: bytes 0-4/5") ==
        Fault::kNone);
  CHECK(judged(asking(FileRange{0, 5}), "HTTP/1.1 206 P\r\nContent-Range: bytes 0-4/*") ==
        Fault::kNone);
  CHECK(judged(asking(FileRange{0, 5}), "HTTP/1.1 200 OK\r\nContent-Length: 5") == Fault::kNone);
  CHECK(judged(asking(FileRange{1, 4}), "HTTP/1.1 200 OK\r\nContent-Length: 5") ==
        Fault::kNoRanges);
}

TEST_CASE("of several faults the first in order is said: status, encoding, state, size, range") {
  TransferRequest request = asking(FileRange{0, 5});
  request.size = 9;
  request.validator = "\"a\"";
  const std::string rest =
      "\r\nContent-Encoding: gzip\r\nETag: \"b\"\r\nContent-Range: bytes 1-4/8\r\n";
  CHECK(judged(request, "HTTP/1.1 404 N" + rest) == Fault::kGone);
  CHECK(judged(request, "HTTP/1.1 206 P" + rest) == Fault::kEncoded);
  CHECK(judged(request, "HTTP/1.1 206 P\r\nETag: \"b\"\r\nContent-Range: bytes 1-4/8") ==
        Fault::kChanged);
  CHECK(judged(request, "HTTP/1.1 206 P\r\nETag: \"a\"\r\nContent-Range: bytes 1-4/8") ==
        Fault::kChanged);
  CHECK(judged(request, "HTTP/1.1 206 P\r\nETag: \"a\"\r\nContent-Range: bytes 1-4/9") ==
        Fault::kNoRanges);
}

TEST_CASE("a fault says where, what, and what to do") {
  const auto end = check_answer(asking(FileRange{5, 5}),
                                answer_of("HTTP/1.1 403 F\r\nRetry-After: 5"), "http://h/x");
  CHECK(end.fault == Fault::kForbidden);
  CHECK_FALSE(end.retry_after_s);
  CHECK(end.status.error().message() ==
        "fetch http://h/x: the server answers 403: it refuses the request; credentials are missing "
        "or "
        "wrong, or the signature in the URL has expired");
}

TEST_CASE("the reason that an S3 server gives is told, in one line") {
  const std::string body =
      "<?xml version=\"1.0\"?>\n<Error><Code>NoSuchKey</Code><Message>The specified\nkey does not "
      "exist.</Message><Key>x</Key></Error>";
  const std::string reason = reason_of_body(body);
  CHECK(reason.starts_with("NoSuchKey: The specified"));
  CHECK(reason.find('\n') == std::string::npos);
  CHECK(reason_of_body("<Error><Code>AccessDenied</Code></Error>") == "AccessDenied");
  CHECK(reason_of_body("<Error><Code>Cut off").empty());
  CHECK(reason_of_body("<html><Code>x</Code><Message>y</Message></html>").empty());
  CHECK(reason_of_body("<Error><Code>" + std::string(2000, 'x') + "</Code></Error>").size() < 300);
}

TEST_CASE("a missing bucket is not called a missing file") {
  OriginAnswer answer = answer_of("HTTP/1.1 404 None\r\n");
  answer.reason = "NoSuchBucket: It is not there.";
  const std::string message = check_answer(asking({}), answer, "s3://b/k").status.error().message();
  CHECK(message.find("answers 404 (NoSuchBucket: It is not there.)") != std::string::npos);
  CHECK(message.find("no such bucket") != std::string::npos);
  CHECK(message.find("no such file") == std::string::npos);
}
