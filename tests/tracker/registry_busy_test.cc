// A registry with a database that another program, or another shard, writes for a moment.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <variant>

#include "tests/tracker/tracker_fixture.h"
#include "tracker/announce_core.h"
#include "tracker/registry_sqlite.h"

namespace firn::tracker::test {
namespace {

using namespace std::chrono_literals;

constexpr int kAttempts = 20;  // of what a hurried machine may keep from happening

// Another program that writes, until it is told to stop.
class Writer {
 public:
  explicit Writer(const std::string& path) : database_(Database::open(path).value()) {}
  void begin() { REQUIRE(database_.execute("BEGIN IMMEDIATE").ok()); }
  void end() { REQUIRE(database_.execute("COMMIT").ok()); }

 private:
  Database database_;
};

// Whether `act` succeeds while a program writes for longer than changes wait that can be written
// later (20 ms), and for less than what a peer waits for (200 ms).
template <typename Act>
bool outlasts_a_writer(Writer& writer, Act act) {
  writer.begin();
  auto done = std::async(std::launch::async, act);
  (void)done.wait_for(50ms);
  writer.end();
  return done.get();
}

TEST_CASE("a finished manifest is kept though another program writes for a moment") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "t.sqlite";
  const auto registry = SqliteRegistry::open(path, Time{0}).value();
  AnnounceCore core(*registry, {}, 1);
  core.connected(1, peer_id(1), "192.0.2.1", Time{0});
  Writer writer(path);
  bool kept = false;
  for (std::uint32_t round = 1; round <= kAttempts && !kept; ++round) {
    const Manifest whole = manifest(round);
    const proto::Announce announce{.content_id = whole.id, .listen_port = 1};
    REQUIRE(std::holds_alternative<proto::AnnounceReply>(core.handle(1, announce, Time{0})));
    REQUIRE(registry->flush_some().ok());
    kept = outlasts_a_writer(writer, [&] {
      const proto::TrackerManifestPut put{whole.id, whole.file_bytes.size(), 0, whole.file_bytes};
      return std::holds_alternative<proto::TrackerManifestPutReply>(core.handle(1, put, Time{0}));
    });
    CHECK(registry->has_manifest(whole.id) == kept);
  }
  CHECK(kept);
}

TEST_CASE("a manifest is removed though another program writes for a moment") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "t.sqlite";
  const auto registry = SqliteRegistry::open(path, Time{0}).value();
  Writer writer(path);
  bool removed = false;
  for (int round = 0; round < kAttempts && !removed; ++round) {
    REQUIRE(registry->put_manifest(content(1), "net", "manifest").ok());
    registry->announce(content(1), peer(1, round % 2 == 0), Time{0});
    REQUIRE(registry->flush_some().ok());
    removed = outlasts_a_writer(writer, [&] { return registry->remove_manifest(content(1)).ok(); });
    CHECK(registry->has_manifest(content(1)) != removed);
  }
  CHECK(removed);
}

TEST_CASE("nobody is waited for where there is no manifest to remove") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "t.sqlite";
  const auto registry = SqliteRegistry::open(path, Time{0}).value();
  Writer writer(path);
  writer.begin();
  CHECK(registry->remove_manifest(content(1)).ok());
  writer.end();
}

TEST_CASE("the last flush waits for another program also where an earlier one failed") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "t.sqlite";
  const auto registry = SqliteRegistry::open(path, Time{0}).value();
  Writer writer(path);
  bool flushed = false;
  for (std::uint32_t round = 1; round <= kAttempts && !flushed; ++round) {
    registry->announce(content(1), peer(round), Time{0});
    writer.begin();
    REQUIRE_FALSE(registry->flush_some().ok());
    writer.end();
    flushed = outlasts_a_writer(writer, [&] { return registry->flush().ok(); });
    if (!flushed) REQUIRE(registry->flush().ok());
  }
  CHECK(flushed);
}

// The other shard writes while it waits for the program.
TEST_CASE("a shard that meets another one that writes tries again at the next call") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "t.sqlite";
  const auto shards = SqliteRegistry::open_shards(path, Time{0}, {}, 2).value();
  SqliteRegistry& registry = *shards[0];
  Writer writer(path);
  bool tried = false;
  for (std::uint32_t round = 1; round <= kAttempts && !tried; ++round) {
    registry.announce(content(1), peer(round), Time{0});
    writer.begin();
    REQUIRE_FALSE(registry.flush_some().ok());
    for (int call = 0; call < 20; ++call) REQUIRE_FALSE(registry.flush_some().ok());
    std::atomic<bool> began{false};
    auto put = std::async(std::launch::async, [&] {
      began = true;
      return shards[1]->put_manifest(content(round), "net", "manifest").ok();
    });
    while (!began) std::this_thread::yield();
    (void)put.wait_for(5ms);
    CHECK_FALSE(registry.flush_some().ok());
    writer.end();
    (void)put.get();
    tried = registry.flush_some().ok();
    if (!tried) REQUIRE(registry.flush().ok());
  }
  CHECK(tried);
}

}  // namespace
}  // namespace firn::tracker::test
