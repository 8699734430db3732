#include "client/app/origin/proxy_choice.h"

#include <doctest/doctest.h>

#include <map>
#include <string>

using namespace firn;
using namespace firn::app;

namespace {

std::string proxy_of(const std::string& url, std::map<std::string, std::string> variables) {
  const auto parsed = parse_origin(url);
  REQUIRE(parsed.ok());
  return proxy_for(*parsed, [&](const char* name) { return variables[name]; });
}

}  // namespace

TEST_CASE("each scheme has its proxy, and others have that of all") {
  CHECK(proxy_of("http://h/", {}) == "");
  CHECK(proxy_of("http://h/", {{"http_proxy", "p"}}) == "p");
  CHECK(proxy_of("http://h/", {{"HTTP_PROXY", "p"}}) == "");  // a request's header, in CGI
  CHECK(proxy_of("https://h/", {{"http_proxy", "p"}}) == "");
  CHECK(proxy_of("https://h/", {{"HTTPS_PROXY", "p"}}) == "p");
  CHECK(proxy_of("https://h/", {{"HTTPS_PROXY", "p"}, {"https_proxy", "q"}}) == "q");
  CHECK(proxy_of("http://h/", {{"ALL_PROXY", "p"}}) == "p");
  CHECK(proxy_of("http://h/", {{"ALL_PROXY", "p"}, {"http_proxy", "q"}}) == "q");
}

TEST_CASE("hosts that NO_PROXY names have none") {
  const auto excepted = [](const std::string& host, const std::string& list) {
    return proxy_of("http://" + host + "/", {{"http_proxy", "p"}, {"no_proxy", list}}).empty();
  };
  CHECK(excepted("h", "*"));
  CHECK(excepted("a.example.org", "x, example.org"));
  CHECK(excepted("example.org", ".Example.ORG"));
  CHECK(excepted("10.1.2.3", "10.0.0.0/8"));
  CHECK(excepted("10.1.2.3", "10.1.2.3"));
  CHECK(excepted("[fd00::1]", "fd00::/8"));
  CHECK_FALSE(excepted("notexample.org", "example.org"));
  CHECK_FALSE(excepted("example.org", "a.example.org"));
  CHECK_FALSE(excepted("11.1.2.3", "10.0.0.0/8,, "));
  CHECK_FALSE(excepted("h", ""));
  CHECK(proxy_of("http://h/", {{"http_proxy", "p"}, {"NO_PROXY", "h"}}) == "");
}
