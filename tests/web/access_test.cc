#include "proto/web/access.h"

#include <doctest/doctest.h>

#include "proto/web/markup.h"
#include "proto/web/token.h"

using namespace firn;
using namespace firn::web;

namespace {

const std::string kToken(40, 't');

Access access_at(const std::string& host = "127.0.0.1") {
  return Access(kToken, Address{std::nullopt, host, 8080});
}

Request request_to(const std::string& host, const std::string& origin = "") {
  Request request;
  request.host = host;
  request.origin = origin;
  request.authorization = "Bearer " + kToken;
  return request;
}

std::string cookie_of(const Access& access) {
  const std::string header = access.set_cookie();
  return header.substr(0, header.find(';'));
}

using Verdict = Access::Verdict;

}  // namespace

TEST_CASE("a request for another name is foreign, whatever token it has") {
  const Access access = access_at();
  for (const char* host :
       {"localhost:8080", "LOCALHOST", "127.0.0.1:8080", "[::1]:8080", "10.0.0.1"})
    CHECK(access.judge(request_to(host)) == Verdict::kAllowed);
  for (const char* host :
       {"", "evil.example:8080", "127.0.0.1.evil.example", "[::1", "localhost.", "[x]",
        "localhost:8080.evil.example", "127.0.0.1:8080.evil.example", "[::1].evil.example",
        "[::1]:8080.evil.example", "localhost:8080@evil.example", "localhost:8080 ", "localhost: 1",
        // Two lines, as they are joined.
        "localhost,localhost", "localhost:8080,localhost:8080", "[::1],[::1]"})
    CHECK(access.judge(request_to(host)) == Verdict::kForeign);
}

TEST_CASE("a page of another origin is foreign") {
  const Access access = access_at();
  const std::string host = "localhost:8080";
  CHECK(access.judge(request_to(host, "http://localhost:8080")) == Verdict::kAllowed);
  for (const char* origin : {"null", "http://localhost:8081", "http://evil.example",
                             "http://localhost:8080.evil.example", "localhost:8080"})
    CHECK(access.judge(request_to(host, origin)) == Verdict::kForeign);
}

TEST_CASE("a token is right as a whole or wrong") {
  const Access access = access_at();
  Request request = request_to("localhost");
  for (const std::string& text : {"Bearer " + kToken.substr(1), "Bearer " + kToken + "t",
                                  std::string("Bearer "), std::string("Basic " + kToken), kToken}) {
    request.authorization = text;
    CHECK(access.judge(request) == Verdict::kWrongToken);
  }
  request.authorization = "";
  CHECK(access.judge(request) == Verdict::kNoToken);
}

TEST_CASE("a cookie stands for the token among others, and does not tell it") {
  const Access access = access_at();
  CHECK(access.set_cookie().find(kToken) == std::string::npos);
  CHECK(access.set_cookie().find("HttpOnly; SameSite=Strict") != std::string::npos);
  Request request = request_to("localhost:8080");
  request.authorization = "";
  request.cookie = "a=b; " + cookie_of(access) + "; c=d";
  CHECK(access.judge(request) == Verdict::kAllowed);
  request.cookie = cookie_of(access) + "x";
  CHECK(access.judge(request) == Verdict::kNoToken);
  request.cookie = cookie_of(access_at());  // of another process
  CHECK(access.judge(request) == Verdict::kNoToken);
}

TEST_CASE("what a cookie lets one change must name its origin") {
  const Access access = access_at();
  Request request = request_to("localhost:8080");
  request.authorization = "";
  request.cookie = cookie_of(access);
  request.method = Method::kPost;
  CHECK(access.judge(request) == Verdict::kForeign);
  request.origin = "http://localhost:8080";
  CHECK(access.judge(request) == Verdict::kAllowed);
}

TEST_CASE("secrets are compared as a whole") {
  CHECK(same_secret("abc", "abc"));
  CHECK(!same_secret("abc", "abd"));
  CHECK(!same_secret("abc", "abcd"));
  CHECK(!same_secret("", "a"));
  CHECK(fresh_token() != fresh_token());
  CHECK(derived_secret("a", "x") != derived_secret("b", "x"));
  CHECK(derived_secret("a", "x") != derived_secret("a", "y"));
}

TEST_CASE("text of strangers is text within HTML") {
  CHECK(html("<script>alert('x')&\"</script>") ==
        "&lt;script&gt;alert(&#39;x&#39;)&amp;&quot;&lt;/script&gt;");
  CHECK(html("a\x1b[1m\xff\n") == "a\\x1b[1m\\xff\\n");
  CHECK(html("x\u202egpj.exe") == "x\\u202egpj.exe");
  CHECK(html("Größe") == "Größe");
  CHECK(html("\u200b") == "\\u200b");
  CHECK(html_value("a\u200b\n\"<'") == "a\u200b\n&quot;&lt;&#39;");
}

TEST_CASE("the second token makes a reader, and signs nobody in") {
  const std::string reading(40, 'r');
  const Access access(kToken, Address{std::nullopt, "127.0.0.1", 8080}, reading);
  Request request = request_to("localhost:8080");
  CHECK(access.judge(request) == Verdict::kAllowed);
  request.authorization = "Bearer " + reading;
  CHECK(access.judge(request) == Verdict::kReader);
  CHECK_FALSE(access.is_token(reading));
  request.host = "evil.example";
  CHECK(access.judge(request) == Verdict::kForeign);
}

TEST_CASE("where there is no second token, an empty one is wrong") {
  Request request = request_to("localhost:8080");
  request.authorization = "Bearer ";
  CHECK(access_at().judge(request) == Verdict::kWrongToken);
}
