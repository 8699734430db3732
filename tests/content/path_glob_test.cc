#include "client/content/path_glob.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "proto/base/characters.h"
#include "tests/sampled.h"

namespace firn::content {
namespace {

bool fits(const std::string& pattern, const std::string& path, bool is_folder = false) {
  return PathGlob(pattern).fits(path, is_folder);
}

struct Case {
  std::string pattern;
  std::vector<std::string> fitting, others;
};

void check(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    CAPTURE(one.pattern);
    for (const std::string& path : one.fitting) {
      CAPTURE(path);
      CHECK(fits(one.pattern, path));
    }
    for (const std::string& path : one.others) {
      CAPTURE(path);
      CHECK_FALSE(fits(one.pattern, path));
    }
  }
}

TEST_CASE("a pattern may begin at any name of a path, and one with a slash in front at the first") {
  check({
      {"a.mkv", {"a.mkv", "x/a.mkv", "x/y/a.mkv", "a.mkv/b", "x/a.mkv/b/c"}, {"aa.mkv", "a.mkvb"}},
      {"x/a", {"x/a", "x/a/b", "y/x/a", "z/y/x/a/b"}, {"x/aa", "xx/a", "x", "a", "x/b/a"}},
      {"/x/a", {"x/a", "x/a/b"}, {"y/x/a"}},
      {"./x/a", {"x/a"}, {"y/x/a"}},
      {"docs/*.pdf", {"docs/x.pdf", "a/docs/x.pdf"}, {"docs/a/x.pdf", "adocs/x.pdf"}},
      {"/a", {"a", "a/b"}, {"b/a"}},
      {"./a", {"a", "a/b"}, {"b/a"}},
      {"a/", {"a/b", "x/a/b", "a/b/c"}, {"a", "x/a"}},
      {"/a/", {"a/b"}, {"a", "x/a/b"}},
      {"x/a/", {"x/a/b", "y/x/a/b"}, {"x/a", "y/x/a"}},
      {"A", {"A"}, {"a"}},
  });
  CHECK(fits("a/", "a", true));
  CHECK(fits("a/", "x/a", true));
  CHECK(fits("a", "a", true));
  CHECK_FALSE(fits("/a/", "x/a", true));
}

TEST_CASE("stars stop at a slash, two of them do not") {
  check({
      {"*", {"a", ".a", "a/b"}, {}},
      {"*.mkv", {"a.mkv", ".mkv", "x/a.mkv", "d.mkv/x"}, {"mkv", "a.mkv.txt"}},
      {"x*z", {"xz", "xyz", "a/xyz/b"}, {"x/z", "xy"}},
      {"x**z", {"xz", "xyz"}, {"x/z"}},  // names have no slash
      {"x/*", {"x/a", "x/a/b", "y/x/a"}, {"x", "y/x"}},
      {"x/*/z", {"x/y/z"}, {"x/z", "x/y/y/z"}},
      {"x/**/z", {"x/z", "x/y/z", "x/y/y/z", "y/x/z"}, {"x/yz", "xz", "x/y/az"}},
      {"/x/**/z", {"x/z", "x/y/z"}, {"y/x/z"}},
      {"**/z", {"z", "x/z", "x/y/z"}, {"xz", "x/yz"}},
      {"**/x/**/z", {"x/z", "a/b/x/c/d/z"}, {"x", "ax/z"}},
      {"x/**", {"x/a", "x/a/b", "y/x/a"}, {"x", "y/x"}},
      {"/x**z", {"xz", "x/y/z"}, {"y/xz"}},
      {"x/**.srt", {"x/a.srt", "x/y/a.srt"}, {"x/a.txt", "a.srt"}},
      {"x/**y/z", {"x/y/z", "x/a/by/z"}, {"x/yy", "x/z"}},
      {"**", {"a", "a/b"}, {}},
      {"**/", {"a/b", "a/b/c"}, {"a"}},
      {"**/**/a", {"a", "x/a"}, {"xa"}},
  });
}

TEST_CASE("a question mark is one character, whatever its bytes, and classes have ranges") {
  check({
      {"?", {"a", "\u00e4", "\U0001f600", "\n"}, {"ab", "a\u0308"}},
      {"a?c", {"abc", "a\u00e4c"}, {"ac", "a/c"}},
      {"x/a?c", {}, {"x/a/c"}},
      {"[a-c]x", {"ax", "cx"}, {"dx", "Bx", "-x", "x"}},
      {"[!a-c]x", {"dx", "\u00e4x", "-x"}, {"ax", "x"}},
      {"[^a]x", {"bx", "^x"}, {"ax"}},
      {"[\u00e0-\u00e4]", {"\u00e4", "\u00e0"}, {"a", "\u00e5"}},
      {"[]a]", {"]", "a"}, {"b", "[]a]"}},
      {"[!]a]", {"b"}, {"]", "a"}},
      {"[a-]", {"a", "-"}, {"b"}},
      {"[-a]", {"a", "-"}, {"b"}},
      {"[c-a]", {}, {"a", "b", "c"}},
      {"x[!a]y", {}, {"x/y"}},
      {"x/[!a]y", {}, {"x//y"}},
      {"[\\]]", {"]"}, {"\\"}},
      {"[a", {"[a"}, {"a"}},
      {"[", {"["}, {}},
      {"a[", {"a["}, {"a"}},
      {"[!", {"[!"}, {}},
      {"[a-", {"[a-"}, {"a"}},
  });
}

TEST_CASE("a backslash takes the next character as it is") {
  check({
      {"\\*", {"*"}, {"a", "\\*"}},
      {"a\\?", {"a?"}, {"ab"}},
      {"\\[a]", {"[a]"}, {"a"}},
      {"\\a", {"a"}, {"\\a"}},
      {"a\\", {"a\\"}, {"a"}},
      {"\\\\", {"\\"}, {}},
      {"\\\u00e4", {"\u00e4"}, {}},
  });
}

TEST_CASE("names have any bytes") {
  check({
      {"two words", {"two words", "x/two words"}, {"two  words"}},
      {"\u00fc*", {"\u00fcber"}, {"u\u0308ber"}},  // as they are: not brought to one form
      {"a\nb", {"a\nb"}, {"a b"}},
      {"*\n*", {"a\nb"}, {"ab"}},
      {"\xff?", {"\xff\xfe", "\xff\u00e4"}, {"\xff", "\xff\xfe\xfd"}},
      {"[\xf0-\xff]", {"\xff", "\xf0"}, {"\u00ff"}},
      {"\u00ff", {}, {"\xff"}},
  });
}

TEST_CASE("without wildcards a pattern stands for itself, and slashes for what they do") {
  const auto fits_plain = [](const std::string& pattern, const std::string& path) {
    return PathGlob(pattern, PathGlob::Syntax::kNone).fits(path, false);
  };
  CHECK(fits_plain("Film [1080p] *.mkv", "x/Film [1080p] *.mkv"));
  CHECK_FALSE(fits_plain("*", "a"));
  CHECK_FALSE(fits_plain("\\a", "a"));
  CHECK(fits_plain("x/[a]/", "x/[a]/b"));
  CHECK_FALSE(fits_plain("x/[a]/", "x/[a]"));
  CHECK_FALSE(fits_plain("**/a", "a"));
}

TEST_CASE("the time for a long name does not explode with the stars of a pattern") {
  std::string stars, folders, name(4000, 'a'), path;
  for (int i = 0; i < 500; ++i) stars += "a*";
  for (int i = 0; i < 300; ++i) folders += "**/a*/";
  while (path.size() < 4000) path += "a/";
  CHECK(fits(stars, name));
  CHECK_FALSE(fits(stars + "b", name));
  CHECK_FALSE(fits("x/" + stars + "b", "x/" + name));
  CHECK(fits(folders + "a", path + "a"));
  CHECK_FALSE(fits(folders + "b", path + "a"));
  CHECK(PathGlob(stars + "b").nearest(name, false).changes == 1);
}

// --- a matcher that tries every way ---

using Letters = std::vector<std::string>;

Letters letters_of(std::string_view text) {
  Letters letters;
  while (!text.empty()) {
    const std::size_t bytes = std::max<std::size_t>(first_character(text).bytes, 1);
    letters.emplace_back(text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
  return letters;
}

// Of patterns whose classes are [ab] and [!ab] alone.
bool naive(std::string_view pattern, const Letters& path, std::size_t at, bool name_begins,
           bool across) {
  if (pattern.empty()) return at == path.size();
  const auto rest_fits = [&](std::size_t bytes, std::size_t from, bool begins) {
    return naive(pattern.substr(bytes), path, from, begins, across);
  };
  if (name_begins && pattern.starts_with("**/")) {
    if (rest_fits(3, at, true)) return true;
    for (std::size_t i = at; i < path.size(); ++i)
      if (path[i] == "/" && rest_fits(3, i + 1, true)) return true;
    return false;
  }
  if (pattern[0] == '*') {
    const std::size_t stars = std::min(pattern.find_first_not_of('*'), pattern.size());
    for (std::size_t i = at;; ++i) {
      if (rest_fits(stars, i, false)) return true;
      if (i == path.size() || (path[i] == "/" && !(stars > 1 && across))) return false;
    }
  }
  if (at == path.size()) return false;
  if (pattern[0] == '?') return path[at] != "/" && rest_fits(1, at + 1, false);
  const bool in = path[at] == "a" || path[at] == "b";
  if (pattern.starts_with("[ab]")) return in && rest_fits(4, at + 1, false);
  if (pattern.starts_with("[!ab]")) return !in && path[at] != "/" && rest_fits(5, at + 1, false);
  const std::string letter = letters_of(pattern).front();
  return letter == path[at] && rest_fits(letter.size(), at + 1, letter == "/");
}

bool naive(std::string pattern, const std::string& path, bool is_folder) {
  const bool folder = pattern.ends_with('/');
  if (folder) pattern.pop_back();
  const bool across = pattern.find('/') != std::string::npos;
  const bool from_top = pattern.starts_with('/');
  if (from_top) pattern.erase(0, 1);
  const Letters letters = letters_of(path);
  const auto part_fits = [&](std::size_t begin, std::size_t end) {
    const auto at = [&](std::size_t i) { return letters.begin() + static_cast<std::ptrdiff_t>(i); };
    return naive(pattern, Letters(at(begin), at(end)), 0, true, across);
  };
  std::vector<std::size_t> begins = {0};
  for (std::size_t end = 0; end <= letters.size(); ++end) {
    const bool last = end == letters.size();
    if (!last && letters[end] != "/") continue;
    const auto fits_from = [&](std::size_t begin) { return part_fits(begin, end); };
    if ((!folder || !last || is_folder) && std::ranges::any_of(begins, fits_from)) return true;
    if (!from_top) begins.push_back(end + 1);
  }
  return false;
}

std::string words(std::mt19937& random, const std::vector<std::string>& from, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += from[random() % from.size()];
  return text;
}

// Names between single slashes.
std::string some_path(std::mt19937& random) {
  std::string path;
  for (std::size_t i = 1 + random() % 3; i > 0; --i)
    path += words(random, {"a", "b", "c", "\u00e4", "\xff"}, 1 + random() % 3) + (i > 1 ? "/" : "");
  return path;
}

TEST_CASE("a pattern fits what a matcher that tries every way finds") {
  std::mt19937 random(58);
  int fitting = 0;
  for (std::uint32_t i = 0; i < test::some_of(200'000); ++i) {
    const std::string pattern = words(
        random, {"a", "b", "a", "\u00e4", "\xff", "*", "*", "?", "/", "/", "**/", "[ab]", "[!ab]"},
        1 + random() % 6);
    const std::string path = some_path(random);
    const bool is_folder = random() % 2 == 0;
    CAPTURE(pattern);
    CAPTURE(path);
    CAPTURE(is_folder);
    const bool expected = naive(pattern, path, is_folder);
    REQUIRE(PathGlob(pattern).fits(path, is_folder) == expected);
    // And nearest() changes nothing just there: no pattern here differs from its path by case.
    REQUIRE((PathGlob(pattern).nearest(path, is_folder).changes == 0) == expected);
    fitting += expected ? 1 : 0;
  }
  CHECK(fitting > 1000);
}

TEST_CASE("the nearest part of a path needs the fewest changes, and case is none") {
  struct Nearness {
    std::string pattern, path, part;
    std::size_t changes;
  };
  for (const Nearness& one : std::vector<Nearness>{
           {"film.mkb", "x/film.mkv", "x/film.mkv", 1},
           {"*.MKV", "x/film.mkv", "x/film.mkv", 0},
           {"extra/", "extras/a", "extras", 1},
           {"extra", "a/extras/b/c", "a/extras", 1},
           {"docs/*.pdf", "doc/a.pdf", "doc/a.pdf", 1},
           {"f?lm", "fm", "fm", 2},
           {"[0-9]a", "xa", "xa", 1},
           {"x/**/z", "x/yy/zz", "x/yy/zz", 1},
       }) {
    CAPTURE(one.pattern);
    CAPTURE(one.path);
    const PathGlob::Near near = PathGlob(one.pattern).nearest(one.path, false);
    CHECK(near.changes == one.changes);
    CHECK(one.path.substr(0, near.bytes) == one.part);
  }
}

}  // namespace
}  // namespace firn::content
