// Several registries on one database, as a tracker with several I/O threads has them.
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "tests/tracker/tracker_fixture.h"
#include "tracker/registry_sqlite.h"

namespace firn::tracker::test {
namespace {

TEST_CASE("what shards wrote is found again, also with another number of them") {
  TemporaryFolder folder;
  const std::string path = folder.path / "t.sqlite";
  const auto content_of = [](std::uint32_t number) {
    ContentId id = content(number);
    id.bytes[8] = static_cast<std::uint8_t>(number);
    return id;
  };
  constexpr std::uint32_t kContents = 30;
  for (const std::size_t shards : {3u, 2u, 1u, 4u}) {
    const auto registries = SqliteRegistry::open_shards(path, Time{0}, {}, shards).value();
    REQUIRE(registries.size() == shards);
    for (std::uint32_t number = 0; number < kContents; ++number) {
      const ContentId id = content_of(number);
      SqliteRegistry& registry = *registries[shard_of(id, shards)];
      CHECK(registry.counts(id).incomplete == (shards == 3 ? 0 : number % 3 + 1));
      CHECK(registry.has_manifest(id) == (shards != 3 && number % 5 == 0));
      for (std::uint32_t one = 0; one <= number % 3; ++one)
        registry.announce(id, peer(one), Time{0});
      if (number % 5 == 0) REQUIRE(registry.put_manifest(id, "net", "manifest").ok());
      for (const auto& other : registries)
        if (other.get() != &registry) CHECK(other->counts(id) == SwarmCounts{});
    }
  }
}

ContentId content_of_shard(std::size_t shard, std::uint32_t number) {
  ContentId id = content(number);
  id.bytes[8] = static_cast<std::uint8_t>(shard);
  return id;
}

TEST_CASE("a manifest may take all the room, however many shards there are") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "t.sqlite";
  const RegistryLimits limits{.manifest_bytes_total_max = 1000};
  const std::string large(1000, 'x');
  {
    const auto shards = SqliteRegistry::open_shards(path, Time{0}, limits, 4).value();
    const ContentId first = content_of_shard(1, 1), second = content_of_shard(2, 2);
    REQUIRE(shards[1]->put_manifest(first, "net 1", "manifest").ok());
    REQUIRE(shards[2]->put_manifest(second, "net 2", large).ok());
    // The first has made room, which its shard sees when it is asked for it, or writes.
    SUBCASE("") {
      CHECK(shards[1]->manifest_part(first, 0, 100).value().total_bytes == 0);
    }
    SUBCASE("") {
      CHECK(shards[1]->flush_some().ok());
    }
    CHECK_FALSE(shards[1]->has_manifest(first));
    CHECK_FALSE(shards[1]->hosted(first));
    CHECK(shards[1]->hosted_manifests().empty());
    CHECK(shards[2]->hosted_manifests() == std::vector{Envelope(second)});
    CHECK(shards[1]->put_manifest(first, "net 1", large + "x").error().code ==
          ErrorCode::kBadInput);
  }
  const auto shards = SqliteRegistry::open_shards(path, Time{0}, limits, 2).value();
  CHECK(shards[0]->manifest_part(content_of_shard(2, 2), 0, 2000).value().data == large);
  CHECK_FALSE(shards[1]->has_manifest(content_of_shard(1, 1)));
}

TEST_CASE("the longest unused manifest of all shards makes room, also after a restart") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "t.sqlite";
  const RegistryLimits limits{.manifest_bytes_total_max = 30};
  const auto id = [](std::uint32_t number) { return content_of_shard(number % 2, number); };
  {
    const auto shards = SqliteRegistry::open_shards(path, Time{0}, limits, 2).value();
    for (std::uint32_t number : {1, 2, 3})
      REQUIRE(shards[number % 2]
                  ->put_manifest(id(number), "net " + std::to_string(number), "0123456789")
                  .ok());
    for (std::uint32_t number : {2, 1}) CHECK(shards[number % 2]->manifest_part(id(number), 0, 5));
  }
  const auto shards = SqliteRegistry::open_shards(path, Time{0}, limits, 2).value();
  for (std::uint32_t number : {4, 5})
    REQUIRE(shards[number % 2]
                ->put_manifest(id(number), "net " + std::to_string(number), "0123456789")
                .ok());
  for (const auto& shard : shards) REQUIRE(shard->flush_some().ok());
  for (std::uint32_t number : {1, 4, 5}) CHECK(shards[number % 2]->has_manifest(id(number)));
  for (std::uint32_t number : {2, 3}) CHECK_FALSE(shards[number % 2]->has_manifest(id(number)));
}

TEST_CASE("shards on several threads read a manifest as it was put, or none") {
  const TemporaryFolder folder;
  const auto shards =
      SqliteRegistry::open_shards(folder.path / "t.sqlite", Time{0},
                                  {.manifest_bytes_total_max = 300, .manifest_shares = 1}, 3)
          .value();
  const auto bytes_of = [](const ContentId& id) { return std::string(100, char(id.bytes[0])); };
  std::atomic<std::size_t> wrong{0}, read{0};
  std::vector<std::thread> threads;
  for (std::size_t shard = 0; shard < shards.size(); ++shard)
    threads.emplace_back([&, shard] {
      SqliteRegistry& registry = *shards[shard];
      for (std::uint32_t round = 0; round < 400; ++round) {
        const ContentId one = content_of_shard(shard, round % 7);
        if (!registry.put_manifest(one, "net", bytes_of(one)).ok()) ++wrong;
        for (std::uint32_t number = 0; number < 7; ++number) {
          const ContentId other = content_of_shard(shard, number);
          const auto part = registry.manifest_part(other, 0, 200);
          if (!part.ok() || (part->total_bytes > 0 && part->data != bytes_of(other))) ++wrong;
          if (part.ok() && part->total_bytes > 0) ++read;
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(read > 0);
  std::size_t hosted = 0;
  for (const auto& shard : shards) {
    REQUIRE(shard->flush_some().ok());
    hosted += shard->hosted_manifests().size();
  }
  CHECK(hosted == 3);
}

}  // namespace
}  // namespace firn::tracker::test
