#include "proto/web/byte_range.h"

#include <doctest/doctest.h>

namespace firn::web {
namespace {

using Kind = ByteRange::Kind;

constexpr ByteRange kWhole{Kind::kWhole, 0, 1000};
constexpr ByteRange kNothing{Kind::kUnsatisfiable, 0, 0};

TEST_CASE("a range names its first and last byte, or is open, or is a suffix") {
  CHECK(byte_range("bytes=0-0", 1000) == ByteRange{Kind::kPart, 0, 1});
  CHECK(byte_range("bytes=10-19", 1000) == ByteRange{Kind::kPart, 10, 10});
  CHECK(byte_range("bytes=990-", 1000) == ByteRange{Kind::kPart, 990, 10});
  CHECK(byte_range("bytes=-10", 1000) == ByteRange{Kind::kPart, 990, 10});
  CHECK(byte_range("Bytes= 0-9 ", 1000) == ByteRange{Kind::kPart, 0, 10});
}

TEST_CASE("what goes past the end is cut") {
  CHECK(byte_range("bytes=990-5000", 1000) == ByteRange{Kind::kPart, 990, 10});
  CHECK(byte_range("bytes=0-99999999999999999999999", 1000) == ByteRange{Kind::kPart, 0, 1000});
  CHECK(byte_range("bytes=0-18446744073709551615", 1000) == ByteRange{Kind::kPart, 0, 1000});
  CHECK(byte_range("bytes=-5000", 1000) == ByteRange{Kind::kPart, 0, 1000});
}

TEST_CASE("a range behind the end cannot be satisfied, and neither can no bytes of a suffix") {
  CHECK(byte_range("bytes=1000-", 1000) == kNothing);
  CHECK(byte_range("bytes=1000-1001", 1000) == kNothing);
  CHECK(byte_range("bytes=99999999999999999999999-", 1000) == kNothing);
  CHECK(byte_range("bytes=-0", 1000) == kNothing);
  CHECK(byte_range("bytes=0-", 0) == kNothing);
  CHECK(content_range(kNothing, 1000) == "bytes */1000");
}

TEST_CASE("a suffix of an empty file is the whole file, which no Content-Range can say") {
  CHECK(byte_range("bytes=-5", 0) == ByteRange{Kind::kWhole, 0, 0});
}

TEST_CASE("headers with a fault, of other units and with several ranges are ignored") {
  for (const char* text :
       {"", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=5-2", "bytes=+1-2", "bytes=1--2",
        "bytes=1-2x", "bytes=0x1-2", "bytes=--1", "bytes = 0-1", "items=0-1", "0-1", "bytes=0 - 1",
        "bytes=0-1,5-6", "bytes=0-1,", "bytes=-1,0-"}) {
    CAPTURE(text);
    CHECK(byte_range(text, 1000) == kWhole);
  }
}

TEST_CASE("If-Range lets a range count for the same strong tag alone") {
  CHECK(range_holds("", "\"abc\""));
  CHECK(range_holds("\"abc\"", "\"abc\""));
  CHECK_FALSE(range_holds("\"abd\"", "\"abc\""));
  CHECK_FALSE(range_holds("W/\"abc\"", "\"abc\""));
  CHECK_FALSE(range_holds("abc", "\"abc\""));
  CHECK_FALSE(range_holds("Mon, 30 Nov 2026 12:00:00 GMT", "\"abc\""));
}

TEST_CASE("Content-Range says first and last byte and the size") {
  CHECK(content_range({Kind::kPart, 10, 10}, 1000) == "bytes 10-19/1000");
}

}  // namespace
}  // namespace firn::web
