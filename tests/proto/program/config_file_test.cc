#include "proto/program/config_file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace firn {
namespace {

using Kind = ConfigEntry::Kind;

std::string error_of(const std::string& text) {
  const auto file = parse_config("c.toml", text);
  REQUIRE(!file.ok());
  CHECK(file.error().code == ErrorCode::kBadInput);
  return file.error().message();
}

// A file with this text, gone afterwards.
class GivenFile {
 public:
  explicit GivenFile(const std::string& text)
      : path_((std::filesystem::temp_directory_path() / "firn-config-XXXXXX").string()) {
    const int fd = ::mkstemp(path_.data());
    REQUIRE(fd >= 0);
    ::close(fd);
    std::ofstream(path_) << text;
  }
  ~GivenFile() { ::unlink(path_.c_str()); }
  GivenFile(const GivenFile&) = delete;
  GivenFile& operator=(const GivenFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST_CASE("a configuration's entries come in the order of lines, with path, kind and line") {
  const auto file = parse_config("c.toml",
                                 "# first\n"
                                 "up-limit = \"10M\"\n"
                                 "max-peers = 40\n"
                                 "json = true\n"
                                 "tracker = [\"a\", \"b\"]\n"
                                 "[bench.codec]\n"
                                 "loss = 1e-9\n"
                                 "when = 2026-01-01\n"
                                 "mixed = [1, [2]]\n");
  REQUIRE(file.ok());
  struct Expected {
    std::vector<std::string> path;
    Kind kind;
    std::vector<std::string> values;
    std::uint32_t line;
  };
  const std::vector<Expected> expected = {
      {{"up-limit"}, Kind::kValue, {"10M"}, 2},
      {{"max-peers"}, Kind::kValue, {"40"}, 3},
      {{"json"}, Kind::kSwitch, {"true"}, 4},
      {{"tracker"}, Kind::kList, {"a", "b"}, 5},
      {{"bench"}, Kind::kTable, {}, 6},
      {{"bench", "codec"}, Kind::kTable, {}, 6},
      {{"bench", "codec", "loss"}, Kind::kValue, {"1e-09"}, 7},
  };
  REQUIRE(file->entries.size() == expected.size() + 2);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(file->entries[i].path == expected[i].path);
    CHECK(file->entries[i].kind == expected[i].kind);
    CHECK(file->entries[i].values == expected[i].values);
    CHECK(file->entries[i].line == expected[i].line);
  }
  CHECK(file->entries[7].kind == Kind::kOther);
  CHECK(file->entries[8].kind == Kind::kOther);
  CHECK(file->place(3) == "c.toml:3");
}

TEST_CASE("an empty configuration has no entries") {
  for (const char* text : {"", "\n\n", "# nothing"}) {
    const auto file = parse_config("c.toml", text);
    REQUIRE(file.ok());
    CHECK(file->entries.empty());
  }
}

TEST_CASE("what is no TOML is refused with its line") {
  CHECK(error_of("a = 1\nb = \n").starts_with("c.toml:2: "));
  CHECK(error_of("a = 1\na = 2\n").starts_with("c.toml:2: "));
  CHECK(error_of("a = 1\n\n[b\n").starts_with("c.toml:3: "));
  CHECK(error_of("a = \"\xff\"").starts_with("c.toml:1: "));
  CHECK(error_of(std::string("a = \0", 5)).starts_with("c.toml:1: "));
}

// toml++ 3.3 decides what such a character is by a switch that lacks some.
TEST_CASE("characters beyond ASCII stand in texts and comments, and nowhere else") {
  std::vector<unsigned> lost, taken;
  for (unsigned point = 0x80; point < 0xd800; ++point) {
    std::string character;
    if (point >= 0x800) character += static_cast<char>(0xe0 | point >> 12);
    character += static_cast<char>((point >= 0x800 ? 0x80 : 0xc0) | (point >> 6 & 0x3f));
    character += static_cast<char>(0x80 | (point & 0x3f));
    const auto text = parse_config("c.toml", "a = \"" + character + "\" # " + character);
    if (!text.ok() || text->entries.at(0).values.at(0) != character) lost.push_back(point);
    if (parse_config("c.toml", "a = " + character + "1").ok() ||
        parse_config("c.toml", "[" + character + "]").ok())
      taken.push_back(point);
  }
  CHECK(lost.empty());
  CHECK(taken.empty());
}

TEST_CASE("a configuration that is too large or too deep is refused") {
  CHECK(error_of(std::string(kConfigBytesMax + 1, '#')).find("bytes") != std::string::npos);
  std::string deep = "\na";
  for (int i = 0; i < 20'000; ++i) deep += ".a";
  CHECK(error_of(deep + " = 1").starts_with("c.toml:2: "));
  CHECK(error_of("a = " + std::string(20'000, '[')).starts_with("c.toml:1: "));
  std::string tables;
  for (int i = 0; i < 10'000; ++i) tables += "{a=";
  CHECK(error_of("a = " + tables).starts_with("c.toml:1: "));
}

TEST_CASE("a configuration that other users can write is refused") {
  const GivenFile file("json = true\n");
  for (const mode_t mode : {0600, 0644, 0400, 0444}) {
    REQUIRE(::chmod(file.path().c_str(), mode) == 0);
    CHECK(read_config_file(file.path()).ok());
  }
  for (const mode_t mode : {0620, 0602, 0664, 0666}) {
    REQUIRE(::chmod(file.path().c_str(), mode) == 0);
    const auto read = read_config_file(file.path());
    REQUIRE(!read.ok());
    CHECK(read.error().code == ErrorCode::kBadInput);
    CHECK(read.error().message().find("chmod go-w") != std::string::npos);
  }
}

TEST_CASE("a configuration that belongs to another user is refused") {
  const GivenFile file("json = true\n");
  if (::chown(file.path().c_str(), 65534, static_cast<gid_t>(-1)) != 0) {
    MESSAGE("only root can give files away");
    return;
  }
  const auto read = read_config_file(file.path());
  REQUIRE(!read.ok());
  CHECK(read.error().code == ErrorCode::kBadInput);
  CHECK(read.error().message().find("another user") != std::string::npos);
}

TEST_CASE("a configuration that is not there is not found, and a folder is none") {
  CHECK(read_config_file("/nonexistent/config.toml").error().code == ErrorCode::kNotFound);
  CHECK(read_config_file("/").error().code == ErrorCode::kExists);
}

}  // namespace
}  // namespace firn
