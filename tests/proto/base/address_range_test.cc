#include "proto/base/address_range.h"

#include <doctest/doctest.h>

namespace firn {
namespace {

bool contains(const char* range, const char* ip) {
  return AddressRange::parse(range).value().contains(ip);
}

TEST_CASE("a range holds the addresses that begin with its bits, and no others") {
  CHECK(contains("10.0.0.0/8", "10.255.0.1"));
  CHECK_FALSE(contains("10.0.0.0/8", "11.0.0.1"));
  CHECK(contains("192.0.2.128/25", "192.0.2.255"));
  CHECK_FALSE(contains("192.0.2.128/25", "192.0.2.127"));
  CHECK(contains("2001:db8::/33", "2001:db8:7fff::1"));
  CHECK_FALSE(contains("2001:db8::/33", "2001:db8:8000::1"));
}

TEST_CASE("a range without bits is one address") {
  CHECK(contains("192.0.2.7", "192.0.2.7"));
  CHECK_FALSE(contains("192.0.2.7", "192.0.2.6"));
  CHECK(contains("::1", "0:0::1"));
  CHECK_FALSE(contains("::1", "::2"));
}

TEST_CASE("a range of no bits holds all addresses of its family alone") {
  CHECK(contains("0.0.0.0/0", "203.0.113.9"));
  CHECK_FALSE(contains("0.0.0.0/0", "::1"));
  CHECK(contains("::/0", "2001:db8::1"));
  CHECK_FALSE(contains("::/0", "203.0.113.9"));
}

TEST_CASE("what is no address is in no range") {
  CHECK_FALSE(contains("0.0.0.0/0", "localhost"));
  CHECK_FALSE(contains("0.0.0.0/0", ""));
}

TEST_CASE("a text that is no range is refused with the right form") {
  for (const char* text :
       {"", "/8", "10.0.0.0/", "10.0.0.0/33", "::/129", "10.0.0.0/-1", "10.0.0/8", "10.0.0.0/8x",
        "10.1.0.0/8", "example.org", "[::1]", "10.0.0.1:80"}) {
    CAPTURE(text);
    const auto range = AddressRange::parse(text);
    REQUIRE_FALSE(range.ok());
    CHECK(range.error().code == ErrorCode::kBadInput);
    CHECK(range.error().detail.find("ADDRESS/BITS") != std::string::npos);
  }
}

}  // namespace
}  // namespace firn
