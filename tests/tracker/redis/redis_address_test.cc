#include "tracker/redis/redis_address.h"

#include <doctest/doctest.h>

namespace firn::tracker::test {
namespace {

TEST_CASE("addresses of Redis are read in each form") {
  const auto read = [](const char* text) { return parse_redis_address(text).value(); };
  CHECK(read("redis://host") == RedisAddress{.host = "host"});
  CHECK(read("redis://10.0.0.1:7000/3") ==
        RedisAddress{.host = "10.0.0.1", .port = 7000, .database = 3});
  CHECK(read("redis://[::1]:7000/").host == "::1");
  CHECK(read("rediss://host").tls);
  CHECK(read("redis://:p%40ss%2fword@host/1") ==
        RedisAddress{.host = "host", .database = 1, .password = "p@ss/word"});
  CHECK(read("redis://word@host").password == "word");
  const RedisAddress user = read("redis://me:word@host:1");
  CHECK(user.user == "me");
  CHECK(user.password == "word");
  CHECK(read("unix://me:word@/run/a@b") ==
        RedisAddress{.path = "/run/a@b", .user = "me", .password = "word"});
  CHECK(read("unix:///run/redis.sock?2") == RedisAddress{.path = "/run/redis.sock", .database = 2});
}

TEST_CASE("what is no address of Redis is refused without its password") {
  for (const char* text :
       {"", "host:6379", "http://host", "redis://", "redis://host:x", "redis://host:70000",
        "redis://host/x", "redis://host/-1", "redis://host/99999999999", "redis://:@host",
        "redis://:sesame%4@host", "redis://:sesame%zz@host", "redis://sesame:sesame@",
        "unix://sesame", "unix:///path?x"}) {
    CAPTURE(text);
    const auto read = parse_redis_address(text);
    REQUIRE_FALSE(read.ok());
    CHECK(read.error().message().find("sesame") == std::string::npos);
  }
  CHECK_FALSE(parse_redis_address("redis://" + std::string(2000, 'h')).ok());
}

TEST_CASE("what a person is shown has no password") {
  CHECK(to_text(parse_redis_address("redis://me:sesame@host:1/2").value()) == "host:1");
  CHECK(to_text(parse_redis_address("unix:///run/x").value()) == "/run/x");
}

}  // namespace
}  // namespace firn::tracker::test
