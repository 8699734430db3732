// The contract of all registries, for one that has a Redis server behind.
#include "tests/tracker/redis/shared_registry.h"

namespace firn::tracker::test {
namespace {

const bool kLacksKinds = lacks_redis();

}  // namespace
}  // namespace firn::tracker::test

#include "tests/tracker/registry_contract.h"

namespace firn::tracker::test {
namespace {

// The cases choose their times: to Redis everything happens now.
struct InRedis {
  explicit InRedis(const RegistryLimits& limits = {})
      : registry(server.options(), limits, [] { return Time{0}; }) {
    REQUIRE(registry.wait_until_it_stands());
  }
  Registry& operator*() { return *registry; }
  RedisServer server;
  Shared registry;
};

FIRN_REGISTRY_CONTRACT(InRedis);

}  // namespace
}  // namespace firn::tracker::test
