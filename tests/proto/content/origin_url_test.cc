#include "proto/content/origin_url.h"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

using namespace firn;

namespace {

OriginUrl url_of(const std::string& text) {
  const auto url = parse_origin(text);
  CAPTURE(text);
  REQUIRE(url.ok());
  return *url;
}

}  // namespace

TEST_CASE("a URL is read into its parts and written the same way") {
  const OriginUrl url = url_of("https://Example.ORG:8443/a/b.bin?x=1");
  CHECK(url.scheme() == OriginUrl::Scheme::kHttps);
  CHECK(url.host() == "example.org");
  CHECK(url.port() == 8443);
  CHECK(url.path() == "/a/b.bin");
  CHECK(url.text() == "https://example.org:8443/a/b.bin?x=1");
  CHECK(url_of(url.text()) == url);
  CHECK(url_of("HTTP://h").text() == "http://h/");
  CHECK(url_of("http://h?q").text() == "http://h/?q");
  CHECK(url_of("http://h:80/x").text() == "http://h/x");
  CHECK(url_of("http://h/x#part").text() == "http://h/x");
  CHECK(url_of("http://[2001:DB8::1]:81/x").text() == "http://[2001:db8::1]:81/x");
  CHECK(url_of("http://[::1]/x").port() == 80);
  CHECK(url_of("s3://Bucket.1/a/b").text() == "s3://Bucket.1/a/b");
}

TEST_CASE("characters that no URL may hold are encoded, and what is encoded stays") {
  CHECK(url_of("http://h/a b/\u00e9?q=\"").text() == "http://h/a%20b/%C3%A9?q=%22");
  CHECK(url_of("http://h/a%2fb%20").text() == "http://h/a%2fb%20");
  CHECK(url_of("http://h/a\\b").text() == "http://h/a%5Cb");
}

TEST_CASE("what is no URL of an origin is refused") {
  const std::vector<std::string> others = {"",
                                           "h/x",
                                           "http:/h/x",
                                           "ftp://h/x",
                                           "file:///etc/passwd",
                                           "javascript://h/x",
                                           "http://",
                                           "http:///x",
                                           "http://:80/x",
                                           "http://h:/x",
                                           "http://h:0/x",
                                           "http://h:65536/x",
                                           "http://h:8x/",
                                           "http://h:-1/",
                                           "http://h%41/x",
                                           "http://h h/x",
                                           "http://h\\@evil/x",
                                           "http://h\u00e9/x",
                                           "http://[::1/x",
                                           "http://[::1%25eth0]/x",
                                           "http://[x]/x",
                                           "http://h/%4",
                                           "http://h/%zz",
                                           "http://h/x\r\nX: y",
                                           std::string("http://h/x\0y", 12),
                                           "http://h/\xff",
                                           "http://u%0a:p@h/x",
                                           "http://@h/x",
                                           "s3://",
                                           "s3:///key",
                                           "s3://u:p@bucket/key",
                                           "s3://bucket:80/key",
                                           "http://h/" + std::string(2048, 'x'),
                                           "http://h/" + std::string(1000, ' ')};
  for (const std::string& text : others) {
    CAPTURE(text);
    CHECK_FALSE(parse_origin(text).ok());
  }
}

TEST_CASE("user and password are kept apart, and are in no text") {
  const OriginUrl url = url_of("https://me%40home:p%3Aw@h/x");
  CHECK(url.user() == "me@home");
  CHECK(url.password() == "p:w");
  CHECK(url.text() == "https://h/x");
  CHECK(url.shown() == "https://h/x");
  CHECK(url.has_secrets());
  CHECK(url_of("https://a@evil@h/x").host() == "h");
  const auto wrong = parse_origin("https://me:hunter2@h:x/");
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.error().message().find("hunter2") == std::string::npos);
}

TEST_CASE("what is shown of a query are its names, without what could be a token") {
  CHECK(url_of("https://h/x?a=1&X-Amz-Signature=abc&token").shown() ==
        "https://h/x?a=...&X-Amz-Signature=...&...");
  CHECK(url_of("https://h/x?c2VjcmV0cw==").shown() == "https://h/x?...");
  CHECK(url_of("https://h/x?=secret").shown() == "https://h/x?...");
}

TEST_CASE("a query that signs is a secret, and another one is not") {
  for (const char* query : {"X-Amz-Signature=1",
                            "a=b&sig=1",
                            "Signature=1",
                            "access_token=1",
                            "X-Goog-Credential=1",
                            "api_key=1",
                            "s%69g=1",
                            "auth=1",
                            "md5=1",
                            "hmac=1",
                            "verify=1",
                            "hash=1",
                            "hdnts=1",
                            "hdnea=1",
                            "aws_access_key_id=1",
                            "api-key=1",
                            "apikey=1",
                            "pass=1",
                            "passwd=1",
                            "pwd=1",
                            "JWT=1",
                            "sid=1",
                            "PHPSESSION=1",
                            "code=1",
                            "oauth=1"}) {
    CAPTURE(query);
    CHECK(url_of(std::string("https://h/x?") + query).has_secrets());
  }
  for (const char* query :
       {"", "versionId=1", "download", "signal=1", "a=sig", "bypass=1", "encode=1", "inside=1"}) {
    CAPTURE(query);
    CHECK_FALSE(url_of(std::string("https://h/x?") + query).has_secrets());
  }
}

TEST_CASE("any query may hold a secret") {
  for (const char* url : {"https://h/x?versionId=1", "https://h/x?x", "https://u@h/x"}) {
    CAPTURE(url);
    CHECK(url_of(url).may_hold_secrets());
  }
  CHECK_FALSE(url_of("https://h/x?").may_hold_secrets());
  CHECK_FALSE(url_of("https://h/x#a=b").may_hold_secrets());
}

TEST_CASE("an origin at an address that is none of the Internet's is one by hand only") {
  for (const char* url : {"http://localhost/x", "http://LOCALHOST:80/x", "http://127.0.0.1/x",
                          "https://192.168.1.2:8443/x", "http://[::1]/x", "http://[fd00::1]:1/x"}) {
    CAPTURE(url);
    CHECK(url_of(url).is_by_hand_only());
  }
  for (const char* url : {"http://h/x", "http://198.51.100.7/x", "http://[2001:db8::1]/x",
                          "http://localhost.example/x", "s3://localhost/x"}) {
    CAPTURE(url);
    CHECK_FALSE(url_of(url).is_by_hand_only());
  }
}

TEST_CASE("files of a folder are below it, with every component encoded") {
  const OriginUrl folder = url_of("https://u:p@h/a/?sig=1");
  CHECK(folder.is_folder());
  const OriginUrl file = folder.file("b c/d?e#f%41+\u00e9.bin");
  CHECK(file.text() == "https://h/a/b%20c/d%3Fe%23f%2541%2B%C3%A9.bin?sig=1");
  CHECK(file.user() == "u");
  CHECK_FALSE(file.is_folder());
  CHECK(url_of(file.text()).text() == file.text());
  CHECK(*file.name() == "d?e#f%41+\u00e9.bin");
}

TEST_CASE("the name of a file is that of its URL, if it is safe here") {
  CHECK(*url_of("https://h/a/b%20c.bin?x=/y").name() == "b c.bin");
  for (const char* path : {"/", "/a/", "/..", "/%2e%2e", "/.", "/a%2fb", "/%00", "/%0a", "/a%5cb",
                           "/nul", "/.firn", "/a:b", "/%ff"}) {
    CAPTURE(path);
    const auto name = url_of(std::string("https://h") + path).name();
    REQUIRE_FALSE(name.ok());
    CHECK(name.error().detail.find("--as") != std::string::npos);
  }
}

TEST_CASE("hosts are the same by scheme, name and port") {
  const OriginUrl url = url_of("https://h/x");
  CHECK(url.same_host(url_of("https://H:443/y?z")));
  for (const char* other : {"http://h:443/x", "https://h:444/x", "https://i/x", "https://h./x"}) {
    CAPTURE(other);
    CHECK_FALSE(url.same_host(url_of(other)));
  }
}
