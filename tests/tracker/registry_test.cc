// The contract of registries that need no other program.
#include <memory>

#include "tests/tracker/tracker_fixture.h"
#include "tracker/registry_memory.h"
#include "tracker/registry_sqlite.h"

namespace firn::tracker::test {
namespace {

const bool kLacksKinds = false;

}  // namespace
}  // namespace firn::tracker::test

#include "tests/tracker/registry_contract.h"

namespace firn::tracker::test {
namespace {

struct InMemory {
  explicit InMemory(const RegistryLimits& limits = {}) : registry(limits) {}
  Registry& operator*() { return registry; }
  MemoryRegistry registry;
};

struct InSqlite {
  explicit InSqlite(const RegistryLimits& limits = {})
      : registry(SqliteRegistry::open(folder.path / "t.sqlite", Time{0}, limits).value()) {}
  Registry& operator*() { return *registry; }
  TemporaryFolder folder;
  std::unique_ptr<SqliteRegistry> registry;
};

FIRN_REGISTRY_CONTRACT(InMemory, InSqlite);

}  // namespace
}  // namespace firn::tracker::test
