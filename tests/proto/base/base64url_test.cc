#include "proto/base/base64url.h"

#include <doctest/doctest.h>

#include <random>
#include <string>

using namespace firn;

TEST_CASE("base64url is that of RFC 4648, without padding") {
  // The vectors of section 10, and two that need the letters of section 5.
  struct Vector {
    const char* bytes;
    const char* text;
  };
  for (const Vector& one : {Vector{"", ""},
                            {"f", "Zg"},
                            {"fo", "Zm8"},
                            {"foo", "Zm9v"},
                            {"foob", "Zm9vYg"},
                            {"fooba", "Zm9vYmE"},
                            {"foobar", "Zm9vYmFy"},
                            {"\xfb\xff", "-_8"},
                            {"\xff\xef\xbe", "_---"}}) {
    CHECK(base64url_encode(one.bytes) == one.text);
    CHECK(base64url_decode(one.text) == std::string(one.bytes));
  }
}

TEST_CASE("all bytes come back from base64url") {
  std::mt19937 random(1);
  for (std::size_t size = 0; size < 300; ++size) {
    std::string bytes;
    for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(random());
    CHECK(base64url_decode(base64url_encode(bytes)) == bytes);
  }
}

TEST_CASE("bytes have one text in base64url, and other texts are refused") {
  for (const char* text : {"Zg==", "Zg=", "Zh", "Zm9", "Zm9vY", "Z", "Zm9v====", "Zm9v\n", " Zm9v",
                           "Zm 9v", "+_8", "-/8", "Zm9v.", "Zm9\xc3\xa4", "=", "===="})
    CHECK_MESSAGE(!base64url_decode(text), text);
  CHECK_FALSE(base64url_decode(std::string("Zm9v\0", 5)));
  CHECK_FALSE(base64url_decode(std::string("Zm\0v", 4)));
}
