// A lock by claims: files named after the processes that want it.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "client/store/claim_lock.h"
#include "tests/store/memory_disk.h"

namespace firn::store::claim_lock_test {
namespace {

using test::MemoryDisk;

constexpr const char* kFolder = ".firn/claims";

// The fields of the claim that this process makes: machine, boot, processes, process, started,
// count, host.
std::vector<std::string> own_fields() {
  MemoryDisk disk;
  const auto files = disk.mount();
  const auto lock = take_claim(disk.mount(), kFolder);
  REQUIRE(lock.ok());
  const auto names = files->list(kFolder);
  REQUIRE(names->size() == 1);
  std::vector<std::string> fields;
  std::string rest = names->front();
  for (int i = 0; i < 6; ++i) {
    fields.push_back(rest.substr(0, rest.find('.')));
    rest.erase(0, rest.find('.') + 1);
  }
  fields.push_back(rest);
  return fields;
}

std::string name_of(const std::vector<std::string>& fields) {
  std::string name;
  for (const std::string& field : fields) name += (name.empty() ? "" : ".") + field;
  return name;
}

// Whether the lock can be had beside this claim; the claim is gone then.
bool gives_way(const std::string& name) {
  MemoryDisk disk;
  disk.put(std::string(kFolder) + "/" + name, {});
  const auto lock = take_claim(disk.mount(), kFolder);
  if (!lock) {
    CHECK(lock.error().code == ErrorCode::kExists);
    CHECK(lock.error().message().find(name) != std::string::npos);
    CHECK(disk.paths() == std::vector<std::string>{std::string(kFolder) + "/" + name});
    return false;
  }
  CHECK_FALSE(disk.exists(std::string(kFolder) + "/" + name));
  return true;
}

std::string ended_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  REQUIRE(child > 0);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  return std::to_string(child);
}

TEST_CASE("a claim holds until it is given back, and leaves nothing") {
  MemoryDisk disk;
  {
    const auto first = take_claim(disk.mount(), kFolder);
    REQUIRE(first.ok());
    for (int i = 0; i < 2; ++i) CHECK_FALSE(take_claim(disk.mount(), kFolder).ok());
  }
  CHECK_FALSE(disk.exists(kFolder));
  CHECK(take_claim(disk.mount(), kFolder).ok());
}

TEST_CASE("the claim of a process of this machine that has ended gives way") {
  std::vector<std::string> fields = own_fields();
  CHECK_FALSE(gives_way(name_of(fields)));  // it runs
  const std::string own = fields[3];
  fields[3] = ended_process();
  CHECK(gives_way(name_of(fields)));
  fields[3] = own;
  fields[4] = "1";  // the number is that of a later process
  CHECK(gives_way(name_of(fields)));
}

TEST_CASE("a claim of which nothing can be known holds, and the error says what to do") {
  std::vector<std::string> other = own_fields();
  other[3] = ended_process();
  SUBCASE("of another machine") {
    other[0] = other[1] = "0";
    other[6] = "far.example";
  }
  SUBCASE("of another container") {
    other[2] = "1";
  }
  SUBCASE("of nobody knows what") {
    other = {"rubbish"};
  }
  CHECK_FALSE(gives_way(name_of(other)));
}

TEST_CASE("a claim of this machine from before it was started again gives way") {
  std::vector<std::string> fields = own_fields();
  fields[1] = "0";
  // Containers may have no number of their machine, and then nothing is known.
  CHECK(gives_way(name_of(fields)) == (fields[0].size() == 32));
  fields[1] = "-";  // it could not read that
  CHECK_FALSE(gives_way(name_of(fields)));
  fields[1] = "0";
  fields[6] = "other-host";
  CHECK_FALSE(gives_way(name_of(fields)));
}

}  // namespace
}  // namespace firn::store::claim_lock_test
