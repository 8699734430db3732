#include "proto/web/token.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/app/temp_folder.h"

using namespace firn;
using namespace firn::web;

TEST_CASE("a token is made once, for its owner alone") {
  const tests::TempFolder folder;
  const std::string path = folder.path() + "/token";
  const auto made = load_or_make_token(path);
  REQUIRE(made.ok());
  CHECK(made->size() == 52);
  struct stat there {};
  REQUIRE(::stat(path.c_str(), &there) == 0);
  CHECK((there.st_mode & 0777) == 0600);
  CHECK(*load_or_make_token(path) == *made);
}

TEST_CASE("a token that others may read, or that is none, is refused") {
  const tests::TempFolder folder;
  const std::string path = folder.path() + "/token";
  const auto write = [&](const std::string& text) {
    std::ofstream(path) << text;
    ::chmod(path.c_str(), 0600);
  };
  write("short\n");
  CHECK(load_or_make_token(path).error().code == ErrorCode::kBadInput);
  write("twenty characters, with blanks\n");
  CHECK(load_or_make_token(path).error().code == ErrorCode::kBadInput);
  write("a-token.of_20~letters\nand a second line");
  REQUIRE(load_or_make_token(path).ok());
  CHECK(*load_or_make_token(path) == "a-token.of_20~letters");
  ::chmod(path.c_str(), 0640);
  CHECK(load_or_make_token(path).error().code == ErrorCode::kBadInput);
}
