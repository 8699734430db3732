#include "proto/content/origin_url.h"

#include <doctest/doctest.h>

#include "proto/base/limits.h"

using namespace firn;

TEST_CASE("URLs of web servers and buckets may be origins") {
  for (const char* url :
       {"http://a.example", "https://a.example/", "HTTPS://A.example:8443/x/y%20z.bin?v=1&w=(2)",
        "http://[2001:db8::1]:80/x/", "http://192.0.2.1/x", "s3://my.bucket-1/key/of/@file*",
        "S3://bucket/", "http://a/x?to=http://b/@c"})
    CHECK_MESSAGE(check_origin_text(url).ok(), url);
  const std::string head = "https://a.example/";
  CHECK(check_origin_text(head + std::string(limits::kOriginBytesMax - head.size(), 'x')).ok());
  CHECK_FALSE(
      check_origin_text(head + std::string(limits::kOriginBytesMax - head.size() + 1, 'x')).ok());
}

TEST_CASE("what is no origin's URL is refused with what is wrong, and a password is not repeated") {
  struct Wrong {
    std::string url;
    const char* says;
  };
  for (const Wrong& one : {Wrong{"", "begins with none"},
                           {"a.example/x", "begins with none"},
                           {"ftp://a.example/x", "begins with none"},
                           {"file:///etc/passwd", "begins with none"},
                           {"https:/a.example", "begins with none"},
                           {"http://", "host"},
                           {"http:///x", "host"},
                           {"https://?x", "host"},
                           {"http://:80/x", "host"},
                           {"http://*/x", "host"},
                           {"s3:///key", "bucket"},
                           {"http://a.example:0/", "port"},
                           {"http://a.example:70000/", "port"},
                           {"http://a.example:/", "port"},
                           {"http://a:b:80/", "host"},
                           {"http://[::1/", "host"},
                           {"http://[a.example]/", "host"},
                           {"http://a%2eexample/", "host"},
                           {"http://user:secret@a.example/x", "user name"},
                           {"http://secret@a.example", "user name"},
                           {"https://@a.example/", "user name"},
                           {"http://user:secret@?x", "host"},
                           {"http://a.example/x#part", "must be encoded"},
                           {"http://a.example/x y", "must be encoded"},
                           {"http://a.example/\"x\"", "must be encoded"},
                           {"http://a.example/'x'", "must be encoded"},
                           {"http://a.example\\@b.example/", "must be encoded"},
                           {"http://a.example/x\r\nHost: b", "must be encoded"},
                           {"http://a.example/\x7f", "must be encoded"},
                           {"http://a.example/<x>", "must be encoded"},
                           {"http://\xc3\xbc.example/", "must be encoded"},
                           {std::string("http://a.example/\0x", 19), "must be encoded"}}) {
    CAPTURE(one.url);
    const Status status = check_origin_text(one.url);
    REQUIRE_FALSE(status.ok());
    CHECK(status.error().code == ErrorCode::kBadInput);
    CHECK(status.error().detail.find(one.says) != std::string::npos);
    CHECK(status.error().message().find("secret") == std::string::npos);
  }
}
