#include "client/app/push/host_list.h"

#include <doctest/doctest.h>

#include <fstream>

#include "tests/app/temp_folder.h"

namespace firn::app {
namespace {

using Hosts = std::vector<PushHost>;

Hosts hosts_of(const std::vector<std::string>& arguments,
               const std::vector<std::string>& options = {}, const std::string& dir = {}) {
  auto list = parse_hosts(arguments, options, dir);
  INFO((list.ok() ? "" : list.error().message()));
  REQUIRE(list.ok());
  return list->hosts;
}

std::vector<std::string> names_of(const std::string& text) {
  std::vector<std::string> names;
  for (const PushHost& host : hosts_of({text})) names.push_back(host.host);
  return names;
}

std::string refusal(const std::string& text) {
  const auto list = parse_hosts({text}, {}, "");
  REQUIRE_MESSAGE(!list.ok(), text);
  CHECK(list.error().code == ErrorCode::kBadInput);
  return list.error().message();
}

bool says(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

TEST_CASE("a host may have a user and a folder, which wins over that of -o") {
  CHECK(hosts_of({"node1"}) == Hosts{{"node1", ""}});
  CHECK(hosts_of({"me@node1:/data"}) == Hosts{{"me@node1", "/data"}});
  CHECK(hosts_of({"a", "b:x y/z:1", "c:"}, {}, "/out") ==
        Hosts{{"a", "/out"}, {"b", "x y/z:1"}, {"c", "/out"}});
}

TEST_CASE("an IPv6 address stands in brackets, and one without is refused") {
  CHECK(hosts_of({"[2001:db8::1]"}) == Hosts{{"[2001:db8::1]", ""}});
  CHECK(hosts_of({"me@[fe80::1%eth0]:/d"}) == Hosts{{"me@[fe80::1%eth0]", "/d"}});
  for (const char* bare : {"::1", "2001:db8::1", "me@fe80::1%eth0", "2001:db8:0:0:0:0:0:1:/data"})
    CHECK(says(refusal(bare), "brackets"));
  CHECK(says(refusal("[1:2]:/x"), "no IPv6 address"));
  CHECK(says(refusal("[::1]x:/x"), "no IPv6 address"));
}

TEST_CASE("a set names its members in order, with the zeros that it is written with") {
  CHECK(names_of("n[8-11]") == std::vector<std::string>{"n8", "n9", "n10", "n11"});
  CHECK(names_of("n[08-10,3,007]-ib") ==
        std::vector<std::string>{"n08-ib", "n09-ib", "n10-ib", "n3-ib", "n007-ib"});
  CHECK(names_of("r[1-2]n[1,3]") == std::vector<std::string>{"r1n1", "r1n3", "r2n1", "r2n3"});
  CHECK(names_of("a,me@b[1-2].x,c") == std::vector<std::string>{"a", "me@b1.x", "me@b2.x", "c"});
  CHECK(hosts_of({"n[1-2]:/a,b"}) == Hosts{{"n1", "/a,b"}, {"n2", "/a,b"}});
  CHECK(names_of("n[1-100]").size() == 100);
}

TEST_CASE("a set that is none is refused, and so is one with too many members") {
  for (const char* text : {"n[1-", "n1]", "n[[1]]", "n]1[", "n[1]]"}) {
    INFO(text);
    refusal(text);
  }
  CHECK(says(refusal("n[]"), "node[1-100]"));
  CHECK(says(refusal("n[a-c]"), "node[1-100]"));
  CHECK(says(refusal("n[1-9/2]"), "node[1-100]"));
  CHECK(says(refusal("n[-1]"), "node[1-100]"));
  CHECK(says(refusal("n[9-1]"), "counts down"));
  CHECK(says(refusal("n[1-999999999999999999]"), "more than 100000"));
  CHECK(says(refusal("n[0-99999999999999999999999]"), "node[1-100]"));
  CHECK(says(refusal("n[1-1000][1-1000][1-1000]"), "more than 100000"));
  CHECK(says(refusal("n[1-99999],m[1-2]"), "more than 100000"));
  CHECK(names_of("n[1-100000]").size() == kPushHostsMax);
  CHECK(!parse_hosts({"n[1-100000]", "m"}, {}, "").ok());
}

TEST_CASE("a host that ssh or a shell could take for something else is refused by name") {
  for (const char* text : {"-oProxyCommand=x", "me@-oProxyCommand=x", "a,-x", "-[1-2]"})
    CHECK(says(refusal(text), "begins with '-'"));
  CHECK(says(refusal("-oProxyCommand=x"), "'-oProxyCommand=x'"));
  for (const char* text : {"a;b", "a`b", "$(b)", "a|b", "x'y@b", "a\\b", "a*"})
    CHECK(says(refusal(text), "cannot be part of a name"));
  CHECK(says(refusal("a\x1b[2J"), "\\x1b"));
  CHECK(says(refusal("a\xff"), "do not show"));
  CHECK(says(refusal("a\xe2\x80\xae"), "do not show"));
  CHECK(says(refusal("a:/x\ny"), "folder"));
  CHECK(says(refusal("/data"), "HOST:DIR"));
  CHECK(says(refusal("ssh://a:22"), "--ssh"));
  for (const char* text : {"", ":/data", "@a", "me@", "a,,b"}) {
    INFO(text);
    refusal(text);
  }
  CHECK(!parse_hosts({}, {}, "").ok());
}

TEST_CASE("a host given twice gets it once, and a notice names it") {
  const auto list = parse_hosts({"a", "b", "a", "a:/x", "a"}, {}, "");
  REQUIRE(list.ok());
  CHECK(list->hosts == Hosts{{"a", ""}, {"b", ""}, {"a", "/x"}});
  REQUIRE(list->notices.size() == 1);
  CHECK(list->notices[0] == "hosts given more than once get it once: a");
  const auto many = parse_hosts({"n[1-9]", "n[1-5]"}, {}, "");
  REQUIRE(many.ok());
  CHECK(many->notices[0] == "hosts given more than once get it once: n1, n2, n3 and 2 more");
}

TEST_CASE("--hosts is a file where one is there or the text has a slash, else a set") {
  const tests::TempFolder folder;
  const std::string path = folder.path() + "/hosts";
  std::ofstream(path) << "# all\n\n  node[1-2]\nme@x:/my data\n\t[::1]\r\n";
  CHECK(hosts_of({"first"}, {path, "m[1-2]:/d/e"}, "/o") == Hosts{{"first", "/o"},
                                                                  {"node1", "/o"},
                                                                  {"node2", "/o"},
                                                                  {"me@x", "/my data"},
                                                                  {"[::1]", "/o"},
                                                                  {"m1", "/d/e"},
                                                                  {"m2", "/d/e"}});
  CHECK(parse_hosts({}, {path + "-not"}, "").error().code == ErrorCode::kNotFound);
  std::ofstream(path) << "node1 root\n";
  CHECK(says(parse_hosts({}, {path}, "").error().message(), "USER@HOST"));
  std::ofstream(path) << "# none\n";
  CHECK(says(parse_hosts({}, {path}, "").error().message(), "no host"));
}

}  // namespace
}  // namespace firn::app
