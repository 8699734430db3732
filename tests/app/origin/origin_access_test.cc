#include "client/app/origin/origin_access.h"

#include <doctest/doctest.h>

#include "tests/app/origin/made_content.h"

using namespace firn;
using namespace firn::app;
using firn::tests::url_of;

TEST_CASE("a bucket is at Amazon in its region, or below an endpoint") {
  OriginAccess access;
  const auto request = [&](const char* url) { return request_url(url_of(url), access)->text(); };
  CHECK(request("s3://bucket/a b/c?versionId=1") ==
        "https://bucket.s3.us-east-1.amazonaws.com/a%20b/c?versionId=1");
  CHECK(request("http://h/x(1)") == "http://h/x(1)");
  access.region = "cn-north-1";
  CHECK(request("s3://bucket/key") == "https://bucket.s3.cn-north-1.amazonaws.com.cn/key");
  access.region = "eu-west-1";
  CHECK(request("s3://with.dots/key") == "https://s3.eu-west-1.amazonaws.com/with.dots/key");
  CHECK(request("s3://Old/key") == "https://s3.eu-west-1.amazonaws.com/Old/key");
  access.endpoint = "http://minio:9000/";
  CHECK(request("s3://bucket/a/") == "http://minio:9000/bucket/a/");
  for (const char* endpoint : {"minio", "s3://x", "http://u:p@h", "http://h/?x"}) {
    CAPTURE(endpoint);
    access.endpoint = endpoint;
    CHECK_FALSE(request_url(url_of("s3://bucket/key"), access).ok());
  }
  access.endpoint = "";
  access.region = "evil.example/";
  CHECK_FALSE(request_url(url_of("s3://bucket/key"), access).ok());
}

TEST_CASE("headers of the user's own are whole lines that leave the request what it is") {
  for (const char* header : {"X-Token: a", "Authorization: Bearer b", "Cookie:", "X: a: b"}) {
    CAPTURE(header);
    CHECK(check_header(header).ok());
  }
  for (const char* header :
       {"", "X", ": a", "X : a", "X\u00e9: a", "X: a\r\nY: b", "Range: bytes=0-", "if-range: x",
        "Accept-Encoding: gzip", "transfer-encoding: x"}) {
    CAPTURE(header);
    CHECK_FALSE(check_header(header).ok());
  }
  CHECK(check_header("Range: secret").error().message().find("secret") == std::string::npos);
}
