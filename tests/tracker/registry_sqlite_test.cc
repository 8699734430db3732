// What only the registry with a database has: a life after a restart, and a disk that fails it.
#include "tracker/registry_sqlite.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include "tests/tracker/tracker_fixture.h"

namespace firn::tracker::test {
namespace {

using Opened = Result<std::unique_ptr<SqliteRegistry>>;

std::set<PeerId> members(Registry& registry, const ContentId& swarm) {
  Random random(1);
  std::set<PeerId> ids;
  for (const auto& endpoint : registry.sample(swarm, {PeerId{}, 1000, true}, random))
    ids.insert(endpoint.id);
  return ids;
}

// While it lives no file of this process can be written past its first byte, as on a full disk.
class FilesMayNotGrow {
 public:
  FilesMayNotGrow() : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit none{1, before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &none) == 0);
  }
  ~FilesMayNotGrow() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

TEST_CASE("a restart keeps swarms and manifests") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "t.sqlite";
  std::string large(300'000, 'x');
  large[123'456] = 'y';
  {
    const auto registry = SqliteRegistry::open(path, Time{0}).value();
    for (std::uint32_t number = 1; number <= 5; ++number)
      registry->announce(content(1), peer(number, number % 2 == 0), Time{0});
    registry->announce(content(2), Peer{{peer_id(6), "2001:db8::6", 99}, false}, Time{0});
    REQUIRE(registry->flush().ok());
    registry->leave(content(1), peer_id(5));
    registry->announce(content(1), peer(3, true), Time{0});
    REQUIRE(registry->put_manifest(content(1), "net 1", large).ok());
    REQUIRE(registry->put_manifest(content(2), "net 2", "small").ok());
  }
  const auto registry = SqliteRegistry::open(path, Time{500'000}).value();
  CHECK(registry->counts(content(1)) == SwarmCounts{3, 1});
  CHECK(members(*registry, content(1)) == std::set{peer_id(1), peer_id(2), peer_id(3), peer_id(4)});
  Random random(1);
  const auto other = registry->sample(content(2), {PeerId{}, 10, true}, random);
  CHECK(other == std::vector{proto::PeerEndpoint{peer_id(6), "2001:db8::6", 99}});
  CHECK(registry->manifest_part(content(1), 123'456, 1).value().data == "y");
  CHECK(registry->manifest_part(content(2), 0, 100).value().data == "small");
  // They count as announced when the database was opened.
  registry->expire(Time{500'000});
  CHECK(registry->counts(content(1)) == SwarmCounts{3, 1});
  registry->expire(Time{500'001});
  CHECK(registry->counts(content(1)) == SwarmCounts{});
}

TEST_CASE("other users cannot read, and so not lock, the database, whoever could before") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "t.sqlite";
  const auto modes = [&] {
    std::set<std::filesystem::perms> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path))
      found.insert(entry.status().permissions());
    return found;
  };
  constexpr auto kOwners = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;
  const mode_t before = ::umask(022);
  for (const bool stands : {false, true}) {
    if (stands)
      for (const char* const end : {"", "-wal", "-shm"}) {
        std::ofstream(path + end, std::ios::app);
        std::filesystem::permissions(path + end, std::filesystem::perms(0644));
      }
    const auto registry = SqliteRegistry::open(path, Time{0}).value();
    registry->announce(content(1), peer(1), Time{0});
    REQUIRE(registry->flush().ok());
    REQUIRE(std::filesystem::exists(path + "-shm"));
    CHECK(modes() == std::set{kOwners});
  }
  ::umask(before);
}

TEST_CASE("what was flushed survives a process that ends without a word") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "t.sqlite";
  const std::string copy = folder.path / "copy.sqlite";
  const auto registry = SqliteRegistry::open(path, Time{0}).value();
  registry->announce(content(1), peer(1), Time{0});
  REQUIRE(registry->flush().ok());
  REQUIRE(registry->put_manifest(content(1), "net 1", "manifest").ok());
  registry->announce(content(1), peer(2), Time{0});  // not flushed
  // The files as a kill would leave them.
  for (const char* suffix : {"", "-wal"})
    if (std::filesystem::exists(path + suffix))
      std::filesystem::copy_file(path + suffix, copy + suffix);
  const auto reopened = SqliteRegistry::open(copy, Time{0}).value();
  CHECK(members(*reopened, content(1)) == std::set{peer_id(1)});
  CHECK(reopened->has_manifest(content(1)));
}

TEST_CASE("the order of use survives a restart") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "t.sqlite";
  const RegistryLimits limits{.manifest_bytes_total_max = 30};
  {
    const auto registry = SqliteRegistry::open(path, Time{0}, limits).value();
    for (std::uint32_t number : {1, 2, 3})
      REQUIRE(registry->put_manifest(content(number), "net " + std::to_string(number), "0123456789")
                  .ok());
    CHECK(registry->manifest_part(content(1), 0, 5).ok());
  }
  const auto registry = SqliteRegistry::open(path, Time{0}, limits).value();
  REQUIRE(registry->put_manifest(content(4), "net 4", "0123456789").ok());
  CHECK(registry->has_manifest(content(1)));
  CHECK_FALSE(registry->has_manifest(content(2)));
  CHECK(registry->manifest_part(content(3), 0, 5).value().data == "01234");
}

TEST_CASE("lower limits at a restart forget the peers that do not fit") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "t.sqlite";
  {
    const auto registry = SqliteRegistry::open(path, Time{0}).value();
    for (std::uint32_t number = 1; number <= 9; ++number)
      registry->announce(content(1), peer(number), Time{0});
  }
  { CHECK(SqliteRegistry::open(path, Time{0}, {.peers_per_content_max = 4}).ok()); }
  CHECK(SqliteRegistry::open(path, Time{0}).value()->counts(content(1)).incomplete == 4);
}

TEST_CASE(
    "another program reads the database of a tracker that runs, and does not keep it waiting") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "t.sqlite";
  const auto registry = SqliteRegistry::open(path, Time{0}).value();
  registry->announce(content(1), peer(1), Time{0});
  REQUIRE(registry->flush().ok());
  Database reader = Database::open(path).value();
  const auto peers = [&] {
    Statement query = reader.prepare("SELECT count(*) FROM peer").value();
    REQUIRE(query.step().value());
    return query.integer(0);
  };
  CHECK(peers() == 1);
  REQUIRE(reader.execute("BEGIN").ok());
  CHECK(peers() == 1);
  registry->announce(content(1), peer(2), Time{0});
  CHECK(registry->flush().ok());
  CHECK(peers() == 1);  // as when it began
  REQUIRE(reader.execute("COMMIT").ok());
  CHECK(peers() == 2);
}

TEST_CASE("a second tracker is kept out while the first runs, and no longer") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "t.sqlite";
  {
    const auto first = SqliteRegistry::open(path, Time{0}).value();
    const Opened second = SqliteRegistry::open(path, Time{0});
    REQUIRE_FALSE(second.ok());
    CHECK(second.error().code == ErrorCode::kExists);
    CHECK(second.error().message().find("another tracker") != std::string::npos);
  }
  CHECK(SqliteRegistry::open(path, Time{0}).ok());
}

TEST_CASE("a file that is no database is a clear error, and is left as it is") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "t.sqlite";
  std::ofstream(path) << std::string(5000, 'z');
  const Opened opened = SqliteRegistry::open(path, Time{0});
  REQUIRE_FALSE(opened.ok());
  CHECK(opened.error().code == ErrorCode::kCorrupt);
  CHECK(opened.error().message().find(path) != std::string::npos);
  CHECK(opened.error().message().find("move the file away") != std::string::npos);
  CHECK(std::filesystem::file_size(path) == 5000);
}

TEST_CASE("a damaged database is an error, not a crash") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "t.sqlite";
  {
    const auto registry = SqliteRegistry::open(path, Time{0}).value();
    for (std::uint32_t number = 1; number <= 2000; ++number)
      registry->announce(content(number % 7), peer(number), Time{0});
  }
  const auto bytes = std::filesystem::file_size(path);
  REQUIRE(bytes > 20'000);
  {
    // All pages but the first, which says that this is a database.
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    file << std::string(bytes - 4096, '\x5a');
  }
  const Opened opened = SqliteRegistry::open(path, Time{0});
  REQUIRE_FALSE(opened.ok());
  CHECK(opened.error().code == ErrorCode::kCorrupt);
}

TEST_CASE("a peer without a real address in the database is an error, not a crash later") {
  for (const std::string wrong : {"ip='192.0.2.'", "ip=x'00ff'", "port=70000", "id=x'00'"}) {
    CAPTURE(wrong);
    const TemporaryFolder folder;
    const std::string path = folder.path / "t.sqlite";
    {
      const auto registry = SqliteRegistry::open(path, Time{0}).value();
      registry->announce(content(1), peer(1), Time{0});
    }
    REQUIRE(Database::open(path).value().execute("UPDATE peer SET " + wrong).ok());
    const Opened opened = SqliteRegistry::open(path, Time{0});
    REQUIRE_FALSE(opened.ok());
    CHECK(opened.error().code == ErrorCode::kCorrupt);
  }
}

TEST_CASE("a second tracker on the same database is told so") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "t.sqlite";
  const auto first = SqliteRegistry::open(path, Time{0}).value();
  const Opened second = SqliteRegistry::open(path, Time{0});
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().code == ErrorCode::kExists);
  CHECK(second.error().message().find("another tracker") != std::string::npos);
}

TEST_CASE("a database of a newer program is not touched") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "t.sqlite";
  { REQUIRE(SqliteRegistry::open(path, Time{0}).ok()); }
  {
    auto database = Database::open(path).value();
    REQUIRE(database.execute("PRAGMA user_version=99").ok());
  }
  const Opened opened = SqliteRegistry::open(path, Time{0});
  REQUIRE_FALSE(opened.ok());
  CHECK(opened.error().code == ErrorCode::kBadInput);
  CHECK(opened.error().message().find("99") != std::string::npos);
}

TEST_CASE("peers that gave way to others are gone from the database too") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "t.sqlite";
  {
    const auto registry = SqliteRegistry::open(path, Time{0}, {.content_count_max = 5}).value();
    const auto announce = [&](std::uint32_t number, const std::string& ip) {
      return registry->announce(content(number), Peer{{peer_id(number), ip, 1}, false}, Time{0});
    };
    for (std::uint32_t number = 1; number <= 5; ++number)
      REQUIRE(announce(number, "192.0.2.1") == AnnounceOutcome::kKept);
    REQUIRE(registry->flush().ok());
    REQUIRE(announce(6, "198.51.100.1") == AnnounceOutcome::kKept);
  }
  const auto registry = SqliteRegistry::open(path, Time{0}).value();
  CHECK(registry->counts(content(1)) == SwarmCounts{});
  for (std::uint32_t number = 2; number <= 6; ++number)
    CHECK(registry->counts(content(number)) == SwarmCounts{0, 1});
}

TEST_CASE("a network's share survives a restart") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "t.sqlite";
  const RegistryLimits limits{.manifest_bytes_total_max = 100, .manifest_shares = 5};
  {
    const auto registry = SqliteRegistry::open(path, Time{0}, limits).value();
    REQUIRE(registry->put_manifest(content(1), "other", "0123456789").ok());
    for (std::uint32_t number : {2, 3})
      REQUIRE(registry->put_manifest(content(number), "flood", "0123456789").ok());
  }
  const auto registry = SqliteRegistry::open(path, Time{0}, limits).value();
  REQUIRE(registry->put_manifest(content(4), "flood", "0123456789").ok());
  CHECK_FALSE(registry->has_manifest(content(2)));
  for (std::uint32_t number : {1, 3, 4}) CHECK(registry->has_manifest(content(number)));
}

TEST_CASE("a database of version 1 keeps its peers; its manifests were not checked and go") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "t.sqlite";
  {
    const auto registry = SqliteRegistry::open(path, Time{0}).value();
    registry->announce(content(1), peer(1), Time{0});
  }
  {
    auto database = Database::open(path).value();
    REQUIRE(
        database
            .execute("DROP TABLE manifest; CREATE TABLE manifest(number INTEGER PRIMARY KEY, "
                     "content BLOB NOT NULL UNIQUE, used INTEGER NOT NULL, bytes BLOB NOT NULL);"
                     "INSERT INTO manifest(content, used, bytes) VALUES(zeroblob(32), 1, 'm');"
                     "PRAGMA user_version=1")
            .ok());
  }
  const auto registry = SqliteRegistry::open(path, Time{0}).value();
  CHECK(members(*registry, content(1)) == std::set{peer_id(1)});
  CHECK_FALSE(registry->has_manifest(content(0)));
  REQUIRE(registry->put_manifest(content(0), "net", "manifest").ok());
  CHECK(registry->manifest_part(content(0), 0, 100).value().data == "manifest");
}

TEST_CASE("a database in a folder that does not exist is an error that names it") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "missing" / "t.sqlite";
  const Opened opened = SqliteRegistry::open(path, Time{0});
  REQUIRE_FALSE(opened.ok());
  CHECK(opened.error().message().find(path) != std::string::npos);
}

TEST_CASE("changes that could not be written are served from memory and written later") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "t.sqlite";
  {
    const auto registry = SqliteRegistry::open(path, Time{0}).value();
    registry->announce(content(1), peer(1), Time{0});
    {
      const FilesMayNotGrow full_disk;
      CHECK_FALSE(registry->flush().ok());
      CHECK_FALSE(registry->put_manifest(content(1), "net 1", "manifest").ok());
      CHECK_FALSE(registry->has_manifest(content(1)));
      CHECK(members(*registry, content(1)) == std::set{peer_id(1)});
    }
    CHECK(registry->flush().ok());
    CHECK(registry->put_manifest(content(1), "net 1", "manifest").ok());
  }
  const auto registry = SqliteRegistry::open(path, Time{0}).value();
  CHECK(members(*registry, content(1)) == std::set{peer_id(1)});
  CHECK(registry->has_manifest(content(1)));
}

TEST_CASE("peers that come and go while the disk is full leave only those that stayed") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "t.sqlite";
  const RegistryLimits limits{.peer_count_max = 4};
  std::set<PeerId> stayed;
  {
    const auto registry = SqliteRegistry::open(path, Time{0}, limits).value();
    registry->announce(content(1), peer(1), Time{0});
    REQUIRE(registry->flush().ok());
    {
      const FilesMayNotGrow full_disk;
      for (std::uint8_t i = 2; i < 40; ++i) {
        registry->announce(content(1), peer(i), Time{0});
        registry->leave(content(1), peer_id(i - 1));
        if (i % 5 == 0) CHECK_FALSE(registry->flush().ok());
      }
    }
    stayed = members(*registry, content(1));
    REQUIRE(stayed == std::set{peer_id(39)});
    CHECK(registry->flush().ok());
    registry->announce(content(2), peer(3), Time{0});
  }
  const auto registry = SqliteRegistry::open(path, Time{0}, limits).value();
  CHECK(members(*registry, content(1)) == stayed);
  CHECK(members(*registry, content(2)) == std::set{peer_id(3)});
}

// Each attempt takes time in which no announce is answered.
TEST_CASE("a database that takes nothing is tried again a few seconds later, not at each call") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "t.sqlite";
  const auto registries = SqliteRegistry::open_shards(path, Time{0}, {}, 2).value();
  SqliteRegistry& registry = *registries[0];
  registry.announce(content(1), peer(1), Time{0});
  {
    Database other = Database::open(path).value();
    REQUIRE(other.execute("BEGIN IMMEDIATE").ok());
    const Status failed = registry.flush_some();
    REQUIRE_FALSE(failed.ok());
    CHECK(failed.error().code == ErrorCode::kBusy);
  }
  SUBCASE("by itself") {
    int calls = 1;
    for (; calls < 100 && !registry.flush_some(); ++calls) {
    }
    CHECK(calls == 21);  // some five seconds
  }
  SUBCASE("or when a manifest turns out to be written") {
    CHECK_FALSE(registry.flush_some().ok());
    CHECK(registry.put_manifest(content(1), "net 1", "manifest").ok());
  }
  CHECK(registry.flush_some().ok());
  registry.announce(content(1), peer(2), Time{0});
  CHECK(registry.flush_some().ok());
  auto database = Database::open(path).value();
  auto query = database.prepare("SELECT count(*) FROM peer").value();
  REQUIRE(query.step().value());
  CHECK(query.integer(0) == 2);
}

TEST_CASE("changes are written in parts, and all of them after a few") {
  TemporaryFolder folder;
  const std::string path = folder.path / "t.sqlite";
  constexpr std::uint32_t kPeers = 20'000;
  {
    const auto registry = SqliteRegistry::open(path, Time{0}).value();
    for (std::uint32_t number = 0; number < kPeers; ++number)
      registry->announce(content(1), peer(number), Time{0});
    const auto written = [&] {
      auto database = Database::open(path).value();
      auto query = database.prepare("SELECT count(*) FROM peer").value();
      REQUIRE(query.step().value());
      return query.integer(0);
    };
    REQUIRE(registry->flush_some().ok());
    CHECK(written() == kPeers / 4);
    int calls = 1;
    for (; written() < kPeers; ++calls) REQUIRE(registry->flush_some().ok());
    CHECK(calls < 20);
    // What changes back and forth meanwhile is written as it is at last.
    registry->leave(content(1), peer_id(1));
    registry->announce(content(1), peer(1, true), Time{0});
    registry->leave(content(1), peer_id(2));
    REQUIRE(registry->flush_some().ok());
    CHECK(written() == kPeers - 1);
  }
  CHECK(SqliteRegistry::open(path, Time{0}).value()->counts(content(1)) ==
        SwarmCounts{1, kPeers - 2});
}

}  // namespace
}  // namespace firn::tracker::test
