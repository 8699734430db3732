#include "client/app/push/ssh_line.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace firn::app {
namespace {

using Words = std::vector<std::string>;

bool has(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

Words end_of(const Words& words, std::ptrdiff_t count) {
  return {words.end() - count, words.end()};
}

TEST_CASE("the host stands behind --, and the constant is the only word of the remote shell") {
  SshOptions options;
  options.words = {"ssh", "-p", "2222"};
  options.jump = "gate";
  options.user = "me";
  const Words line = ssh_arguments(options, {"node1", "/x; rm"}, false, "CONSTANT");
  CHECK(Words(line.begin(), line.begin() + 4) == Words{"ssh", "-p", "2222", "-T"});
  CHECK(end_of(line, 7) == Words{"-J", "gate", "-l", "me", "--", "node1", "CONSTANT"});
  CHECK(!has(line, "/x; rm"));
}

TEST_CASE("ssh may ask for a password where there is one host alone") {
  CHECK(has(ssh_arguments({}, {"a", ""}, false, "C"), "BatchMode=yes"));
  CHECK(!has(ssh_arguments({}, {"a", ""}, true, "C"), "BatchMode=yes"));
}

TEST_CASE("a user in the host's name wins over --user") {
  SshOptions options;
  options.user = "me";
  CHECK(end_of(ssh_arguments(options, {"you@a", ""}, true, "C"), 3) == Words{"--", "you@a", "C"});
  CHECK(!has(ssh_arguments(options, {"you@a", ""}, true, "C"), "-l"));
}

TEST_CASE("ssh gets an IPv6 address without brackets") {
  CHECK(end_of(ssh_arguments({}, {"[::1]", ""}, true, "C"), 2) == Words{"::1", "C"});
  CHECK(end_of(ssh_arguments({}, {"me@[fe80::1%e0]", ""}, true, "C"), 2) ==
        Words{"me@fe80::1%e0", "C"});
}

TEST_CASE("--ssh is split into words as a shell splits them, and nothing is expanded") {
  const auto words = [](const char* text) {
    const auto split = split_words(text);
    REQUIRE_MESSAGE(split.ok(), text);
    return *split;
  };
  CHECK(words("ssh -p 2222  -i key") == Words{"ssh", "-p", "2222", "-i", "key"});
  CHECK(words("ssh -o 'ProxyCommand=nc %h %p' a\\ b") ==
        Words{"ssh", "-o", "ProxyCommand=nc %h %p", "a b"});
  CHECK(words(R"(a "b \" \\ \n $X" '' c'\'"d")") == Words{"a", R"(b " \ \n $X)", "", R"(c\d)"});
  CHECK(words("~/ssh $HOME *; x | y") == Words{"~/ssh", "$HOME", "*;", "x", "|", "y"});
  for (const char* text : {"", "  ", "ssh 'x", "ssh \"x", "ssh \\"}) {
    INFO(text);
    CHECK(!split_words(text).ok());
  }
}

}  // namespace
}  // namespace firn::app
