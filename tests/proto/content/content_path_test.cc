#include <doctest/doctest.h>

#include <string>

#include "proto/base/limits.h"
#include "proto/content/manifest.h"

using namespace firn;

TEST_CASE("ordinary paths are safe") {
  for (const char* path :
       {"a", "a/b/c.txt", ".hidden", "a/.firn", "..a", "a..b", "...a", "Grüße/日本語", "a b/c d",
        "console", "com", "com10", "auxiliary.txt", "nul-", "a?b*c", "firn", "-rf", "~", "$HOME"}) {
    CAPTURE(path);
    CHECK(check_content_path(path).ok());
  }
  CHECK(check_content_path(std::string(255, 'x')).ok());
}

TEST_CASE("paths that lead elsewhere or mean something else somewhere are refused") {
  std::string deep = "a";
  for (std::size_t i = 1; i < limits::kPathComponentsMax; ++i) deep += "/a";
  CHECK(check_content_path(deep).ok());
  const struct {
    std::string path;
    const char* says;
  } cases[] = {
      {"", "empty"},
      {"/", "absolute"},
      {"/etc/passwd", "absolute"},
      {"//a", "absolute"},
      {"..", "'..'"},
      {".", "'..'"},
      {"../a", "'..'"},
      {"a/..", "'..'"},
      {"a/../b", "'..'"},
      {"a/./b", "'..'"},
      {"a//b", "empty component"},
      {"a/", "empty component"},
      {"a\\b", "backslash"},
      {"..\\a", "backslash"},
      {"C:/a", "colon"},
      {"a:stream", "colon"},
      {"CON", "reserved"},
      {"con", "reserved"},
      {"a/Nul.txt", "reserved"},
      {"aux .c", "reserved"},
      {"com1", "reserved"},
      {"LPT9.x.y", "reserved"},
      {"COM\u00b2", "reserved"},
      {"CONIN$", "reserved"},
      {"a.", "dot or a space"},
      {"a /b", "dot or a space"},
      {"a/b.. ", "dot or a space"},
      {".firn", "unfinished"},
      {".firn/x", "unfinished"},
      {".FiRn/x", "unfinished"},
      {"a\nb", "control"},
      {std::string("a\0b", 3), "control"},
      {"a\x7f", "control"},
      {"a\xc2\x85", "control"},
      {"a\xff", "UTF-8"},
      {"a/\xc0\xae\xc0\xae/b", "UTF-8"},  // an overlong ".."
      {std::string(256, 'x'), "too long"},
      {"a/" + std::string(5000, '/'), "too long"},
      {deep + "/a", "128 components"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.path);
    const Status status = check_content_path(c.path);
    REQUIRE_FALSE(status.ok());
    CHECK(status.error().code == ErrorCode::kBadInput);
    CAPTURE(status.error().detail);
    CHECK(status.error().detail.find(c.says) != std::string::npos);
  }
}
