#include "proto/program/memory_limit.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace firn {
namespace {

namespace fs = std::filesystem;

// Control groups in a folder of their own.
struct Groups {
  Groups() {
    std::string name = (fs::temp_directory_path() / "firn-groups-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    mounted = name;
  }
  ~Groups() { fs::remove_all(mounted); }
  void set(const std::string& file, const std::string& text) const {
    fs::create_directories(fs::path(mounted + "/" + file).parent_path());
    std::ofstream(mounted + "/" + file) << text << '\n';
  }

  std::string mounted;
};

TEST_CASE("the limit of memory is the least of the control group and those above it") {
  const Groups groups;
  groups.set("a.slice/b.service/memory.max", "max");
  CHECK_FALSE(memory_limit_of("0::/a.slice/b.service\n", groups.mounted));
  groups.set("a.slice/memory.max", "67108864");
  CHECK(memory_limit_of("0::/a.slice/b.service\n", groups.mounted) == 67108864);
  groups.set("a.slice/b.service/memory.max", "33554432");
  CHECK(memory_limit_of("0::/a.slice/b.service\n", groups.mounted) == 33554432);
}

TEST_CASE("a container sees its own control group as the root") {
  const Groups groups;
  groups.set("memory.max", "50000000");
  CHECK(memory_limit_of("0::/\n", groups.mounted) == 50000000);
}

TEST_CASE("control groups of version 1 tell the limit too, and that there is none") {
  const Groups groups;
  const std::string lines = "12:pids:/x\n5:cpu,memory:/docker/1f\n0::/x\n";
  groups.set("memory/docker/1f/memory.limit_in_bytes", "9223372036854771712");
  CHECK_FALSE(memory_limit_of(lines, groups.mounted));
  // As a container has it whose group is mounted at the root, under another name.
  fs::remove_all(groups.mounted + "/memory/docker");
  groups.set("memory/memory.limit_in_bytes", "40000000");
  CHECK(memory_limit_of(lines, groups.mounted) == 40000000);
}

TEST_CASE("what cannot be read is no limit") {
  const Groups groups;
  for (const char* lines : {"", "nonsense", "0:", "0::", "0::/nowhere\n"})
    CHECK_FALSE(memory_limit_of(lines, groups.mounted));
}

}  // namespace
}  // namespace firn
