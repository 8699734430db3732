#include "client/app/backends/learnt_costs.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "tests/app/temp_folder.h"

namespace firn::app {
namespace {

const LearntCosts kCosts{{"CPU", true, 64, 16384, 8, 0.001},
                         {"CPU", false, 64, 16384, 3, 0.0125},
                         {"a \"card\"", false, 1024, 1, 1, 1e-7}};

TEST_CASE("costs are read as they were written, by the same machine alone") {
  const std::string text = costs_text("two threads", kCosts);
  CHECK(parse_costs("two threads", text) == kCosts);
  CHECK(parse_costs("three threads", text).empty());
  CHECK(parse_costs("two threads", costs_text("two threads", {})).empty());
}

TEST_CASE("text that was cut off or holds what is no cost counts for nothing") {
  const std::string text = costs_text("m", kCosts);
  for (std::size_t size = 0; size + 2 < text.size(); size += 5)
    CHECK(parse_costs("m", text.substr(0, size)).empty());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    other.replace(other.find(from), from.size(), to);
    return parse_costs("m", other);
  };
  CHECK(with("\"count\": 8", "\"count\": 9").size() == 3);
  for (const char* count : {"0", "-8", "8.5", "\"8\"", "99999999999", "null"}) {
    CAPTURE(count);
    CHECK(with("\"count\": 8", std::string("\"count\": ") + count).empty());
  }
  for (const char* seconds : {"0", "-1", "1e9", "\"1\"", "[]"}) {
    CAPTURE(seconds);
    CHECK(with("\"seconds\": 0.001", std::string("\"seconds\": ") + seconds).empty());
  }
  CHECK(with("\"member\": \"CPU\"", "\"member\": 1").empty());
  CHECK(with("\"version\": 1", "\"version\": 2").empty());
  for (const char* other : {"", "[]", "1", "{}", "{\"costs\": 1}"})
    CHECK(parse_costs("m", other).empty());
}

TEST_CASE("costs are kept in a folder for the machine they are of") {
  tests::TempFolder folder;
  const std::filesystem::path place = std::filesystem::path(folder.path()) / "made" / "here";
  CHECK(load_costs(place, "m").empty());
  save_costs(place, "m", kCosts);
  CHECK(load_costs(place, "m") == kCosts);
  CHECK(load_costs(place, "other").empty());
  save_costs(place, "m", {});  // nothing learnt is no reason to forget
  CHECK(load_costs(place, "m") == kCosts);
  save_costs("", "m", kCosts);
  CHECK(load_costs("", "m").empty());
}

TEST_CASE("what is no file of costs is left where it stands") {
  tests::TempFolder folder;
  save_costs(folder.path(), "m", kCosts);
  const std::filesystem::path path = *std::filesystem::directory_iterator(folder.path());
  std::ofstream(path) << "mine";
  save_costs(folder.path(), "m", kCosts);
  CHECK(std::filesystem::file_size(path) == 4);
  std::filesystem::remove(path);
  std::filesystem::create_symlink("mine", path);
  save_costs(folder.path(), "m", kCosts);
  CHECK(std::filesystem::is_symlink(path));
}

}  // namespace
}  // namespace firn::app
