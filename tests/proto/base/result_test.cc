#include "proto/base/result.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <set>
#include <string>

#include "proto/base/plain_text.h"

using namespace firn;

TEST_CASE("system errors get the code that tells a person what to do") {
  CHECK(error_from_errno("open /a", ENOENT).code == ErrorCode::kNotFound);
  CHECK(error_from_errno("open /a", EACCES).code == ErrorCode::kReadOnly);
  CHECK(error_from_errno("open /a", EROFS).code == ErrorCode::kReadOnly);
  CHECK(error_from_errno("write /a", ENOSPC).code == ErrorCode::kDiskFull);
  CHECK(error_from_errno("write /a", EDQUOT).code == ErrorCode::kDiskFull);
  CHECK(error_from_errno("write /a", EIO).code == ErrorCode::kIo);
  CHECK(error_from_errno("listen", EADDRINUSE).code == ErrorCode::kExists);
  CHECK(error_from_errno("connect", ECONNREFUSED).code == ErrorCode::kUnreachable);
  CHECK(error_from_errno("open /a", ENOSPC).message() == "open /a: No space left on device");
}

TEST_CASE("every code has a name of its own") {
  std::set<std::string> names;
  const int last = static_cast<int>(ErrorCode::kInternal);
  for (int code = 0; code <= last; ++code)
    names.insert(error_code_name(static_cast<ErrorCode>(code)));
  CHECK(names.size() == static_cast<std::size_t>(last) + 1);
  CHECK(names.contains("disk_full"));
}

TEST_CASE("plain text is UTF-8 without control characters") {
  for (const char* good : {"", "a", "Grüße", "日本語", "\xf0\x9f\x8c\xb2", "a b", "\xed\x9f\xbf",
                           "\xee\x80\x80", "\xc2\xa0", "\xf4\x8f\xbf\xbf"}) {
    CAPTURE(good);
    CHECK(is_plain_text(good));
    CHECK(to_plain_text(good, 100) == good);
  }
  for (const std::string& bad :
       {std::string("\0", 1), std::string("\n"), std::string("\x7f"), std::string("\xc2\x85"),
        std::string("\xc2"), std::string("\x80"), std::string("\xc0\xaf"), std::string("\xc1\xbf"),
        std::string("\xe0\x9f\xbf"), std::string("\xed\xa0\x80"), std::string("\xf0\x8f\xbf\xbf"),
        std::string("\xf4\x90\x80\x80"), std::string("\xf5\x80\x80\x80"), std::string("a\xe2\x82"),
        std::string("\xe2\x28\xa1"), std::string("\xff")}) {
    CAPTURE(bad);
    CHECK_FALSE(is_plain_text(bad));
    CHECK(is_plain_text(to_plain_text(bad, 100)));
  }
}

TEST_CASE("what a terminal or a reader would take for more than text is escaped") {
  CHECK(escaped("Grüße, 日本語 \xf0\x9f\x8c\xb2") == "Grüße, 日本語 \xf0\x9f\x8c\xb2");
  CHECK(escaped("a\x1b[2J\r\n\tb\x7f") == "a\\x1b[2J\\x0d\\n\\tb\\x7f");
  CHECK(escaped("\xff\xc2\x9b") == "\\xff\\xc2\\x9b");
  CHECK(escaped("a\u202eb\u2066\u2028") == "a\\u202eb\\u2066\\u2028");
  CHECK(escaped("\u061ca\u200b\ufeff\u00ad\ufffa") == "\\u061ca\\u200b\\ufeff\\u00ad\\ufffa");
  CHECK(escaped("\U000e0041\U000e007fb") == "\\U000e0041\\U000e007fb");
  CHECK(escaped(std::string_view("a\0b", 3)) == "a\\x00b");
  CHECK(escaped_lines("one\n  two\nthree") == "one\n  two\\nthree");
}

TEST_CASE("a line of JSON has such characters as JSON's escapes") {
  CHECK(escaped_json("{\"a\":\"Gr\u00fc\u00dfe \u202e\u200b\u009b\x7f\"}") ==
        "{\"a\":\"Gr\u00fc\u00dfe \\u202e\\u200b\\u009b\\u007f\"}");
  CHECK(escaped_json("\"\U000e0041 \U0001f332\"") == "\"\\udb40\\udc41 \U0001f332\"");
  CHECK(escaped_json("") == "");
}

TEST_CASE("making text plain keeps what fits and cuts between characters") {
  CHECK(to_plain_text("a\nb\xff", 100) == "a?b?");
  CHECK(to_plain_text("aü", 2) == "a");
  CHECK(to_plain_text("aü", 3) == "aü");
  CHECK(to_plain_text("abc", 0) == "");
}
