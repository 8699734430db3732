#include "proto/web/form.h"

#include <doctest/doctest.h>

#include "proto/base/percent.h"

using namespace firn::web;

namespace {

constexpr const char* kType = "multipart/form-data; boundary=XX";

std::string part(const std::string& headers, const std::string& value) {
  return "--XX\r\n" + headers + "\r\n\r\n" + value + "\r\n";
}

std::string file_part(const std::string& value) {
  return part(
      "Content-Disposition: form-data; name=\"manifest\"; filename=\"a;b.firn\"\r\n"
      "Content-Type: application/octet-stream",
      value);
}

}  // namespace

TEST_CASE("a form's names and values are decoded") {
  const auto fields = parse_urlencoded("a=1&b=x+y%2b%C3%A9&&c&d==");
  REQUIRE(fields);
  CHECK(*fields == Fields{{"a", "1"}, {"b", "x y+\xC3\xA9"}, {"c", ""}, {"d", "="}});
  CHECK(parse_urlencoded("")->empty());
}

TEST_CASE("an escape that is not two digits refuses a form") {
  for (const char* text : {"a=%", "a=%2", "a=%zz", "%=1", "a=1&b=%f"}) {
    CAPTURE(text);
    CHECK(!parse_urlencoded(text));
  }
}

TEST_CASE("a form has a bounded number of fields") {
  std::string text = "a";
  for (std::size_t i = 1; i < kFieldsMax; ++i) text += "&a";
  CHECK(parse_urlencoded(text)->size() == kFieldsMax);
  CHECK(!parse_urlencoded(text + "&a"));
}

TEST_CASE("what is encoded is decoded to itself") {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  CHECK(firn::percent_decode(firn::percent_encode(all)) == all);
  CHECK(firn::percent_encode("a-b.c_d~9/") == "a-b.c_d~9%2F");
}

TEST_CASE("parts of a form with a file come as their bytes") {
  const std::string bytes("\r\n--X\0\r\n--", 10);
  const auto fields = parse_multipart(
      kType,
      file_part(bytes) + part("content-disposition: form-data; name=folder", "/x") + "--XX--\r\n");
  REQUIRE(fields);
  CHECK(*fields == Fields{{"manifest", bytes}, {"folder", "/x"}});
}

TEST_CASE("a form with files that is cut or has no names is refused") {
  const std::string whole = file_part("abc") + "--XX--\r\n";
  CHECK(parse_multipart(kType, whole));
  for (std::size_t size = 0; size < whole.size() - 4; ++size) {
    CAPTURE(size);
    CHECK(!parse_multipart(kType, whole.substr(0, size)));
  }
  CHECK(!parse_multipart("multipart/form-data", whole));
  CHECK(!parse_multipart("multipart/form-data; boundary=", whole));
  CHECK(!parse_multipart("multipart/form-data; boundary=\"XX", whole));
  CHECK(!parse_multipart(kType, part("Content-Disposition: form-data", "x") + "--XX--"));
  CHECK(parse_multipart("Multipart/Form-Data; charset=x; boundary=\"XX\"", whole));
}

TEST_CASE("a form is read as its type says") {
  Request request;
  request.body = "a=b";
  request.content_type = "application/x-www-form-urlencoded; charset=UTF-8";
  CHECK(parse_form(request) == Fields{{"a", "b"}});
  request.content_type = "text/plain";
  CHECK(!parse_form(request));
  request.content_type = "";
  CHECK(!parse_form(request));
}
