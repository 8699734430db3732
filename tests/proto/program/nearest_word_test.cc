#include "proto/program/nearest_word.h"

#include <doctest/doctest.h>

namespace firn {
namespace {

TEST_CASE("the distance of words counts letters and swaps of neighbours") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("get", "get") == 0);
  CHECK(edit_distance("gte", "get") == 1);
  CHECK(edit_distance("geet", "get") == 1);
  CHECK(edit_distance("gt", "get") == 1);
  CHECK(edit_distance("gxt", "get") == 1);
  CHECK(edit_distance("abcd", "badc") == 2);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("the nearest word is one that may have been meant") {
  const std::vector<std::string> commands = {"create", "share", "get", "seed", "verify"};
  CHECK(nearest_word("gte", commands) == "get");
  CHECK(nearest_word("SHARE", commands) == "share");
  CHECK(nearest_word("ver", commands) == "verify");
  CHECK(nearest_word("craete", commands) == "create");
  CHECK(nearest_word("download", commands) == "");
  CHECK(nearest_word("x", commands) == "");
  CHECK(nearest_word("", commands) == "");
  CHECK(nearest_word("get", {}) == "");
  CHECK(nearest_word("cpu", {"codec", "gpu"}) == "");
  const std::vector<std::string> options = {"--output", "--overwrite", "--log"};
  CHECK(nearest_word("--outptu", options) == "--output");
  CHECK(nearest_word("-log", options) == "--log");
  CHECK(nearest_word("--out", options) == "--output");
}

}  // namespace
}  // namespace firn
