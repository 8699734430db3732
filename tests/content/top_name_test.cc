#include "client/content/top_name.h"

#include <doctest/doctest.h>

namespace firn::content {
namespace {

TEST_CASE("final paths stand below the folder that was given") {
  Info info;
  info.name = "name";
  info.files.resize(1);
  info.files[0].path = "a/b";
  CHECK(final_path(info, "", "/out", 0) == "/out/name/a/b");
  CHECK(final_path(info, "", "/out/", 0) == "/out/name/a/b");
  CHECK(final_path(info, "other", "/out/", 0) == "/out/other/a/b");
  info.single_file = true;
  CHECK(final_path(info, "", ".", 0) == "./name");
  CHECK(final_path(info, "other", "", 0) == "other");
}

}  // namespace
}  // namespace firn::content
