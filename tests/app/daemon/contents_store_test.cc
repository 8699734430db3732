#include "client/app/daemon/contents_store.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "../temp_folder.h"

namespace firn::app::contents_store_test {
namespace {

using tests::file_bytes;
using tests::TempFolder;

ContentId id_of(std::uint8_t number) {
  ContentId id;
  id.bytes[0] = number;
  return id;
}

KeptContent content_of(std::uint8_t number) {
  KeptContent content;
  content.id = id_of(number);
  content.link = "firn:link " + std::to_string(number);
  content.folder = "/somewhere/" + std::to_string(number);
  content.seeding = "forever";
  content.added_at = 1000 + number;
  if (number == 1) content.origins = {"https://user:word@host/a/", "s3://b/c"};
  content.no_origin = number == 2;
  return content;
}

void check_same(const KeptContent& one, const KeptContent& other) {
  CHECK(one.id == other.id);
  CHECK(one.kind == other.kind);
  CHECK(one.link == other.link);
  CHECK(one.manifest == other.manifest);
  CHECK(one.folder == other.folder);
  CHECK(one.seeding == other.seeding);
  CHECK(one.paused == other.paused);
  CHECK(one.seeded == other.seeded);
  CHECK(one.removing == other.removing);
  CHECK(one.added_at == other.added_at);
  CHECK(one.finished_at == other.finished_at);
  CHECK(one.trusted == other.trusted);
  CHECK(one.stamp == other.stamp);
  CHECK(one.limits == other.limits);
  CHECK(one.priority == other.priority);
  CHECK(one.position == other.position);
  CHECK(one.uploaded == other.uploaded);
  CHECK(one.seeded_seconds == other.seeded_seconds);
  CHECK(one.move == other.move);
  CHECK(one.other_folder == other.other_folder);
  CHECK(one.as == other.as);
  CHECK(one.other_as == other.other_as);
  CHECK(one.overwrite == other.overwrite);
  CHECK(one.repair == other.repair);
  CHECK(one.mark == other.mark);
  CHECK(one.files == other.files);
  CHECK(one.origins == other.origins);
  CHECK(one.no_origin == other.no_origin);
}

TEST_CASE("a damaged list says how its contents are taken up again") {
  const TempFolder folder;
  const std::string path = folder.path() + "/c.sqlite";
  std::ofstream(path) << std::string(8192, 'x');
  const auto opened = ContentsStore::open(path);
  REQUIRE_FALSE(opened.ok());
  CHECK(opened.error().code == ErrorCode::kCorrupt);
  CHECK(opened.error().message().find("`firn add` each content again") != std::string::npos);
}

TEST_CASE("the daemon's contents come back as they were written, in the order they were added") {
  const TempFolder folder;
  const std::string path = folder.path() + "/c.sqlite";
  KeptContent second = content_of(2);
  second.kind = KeptContent::Kind::kServe;
  second.link.clear();
  second.manifest = std::string("bytes\0with zeros", 16);
  second.paused = second.seeded = second.removing = true;
  second.finished_at = 77;
  second.trusted = true;
  second.stamp = std::string("\0\1", 2);
  second.limits = {1, 2, 3, 4};
  second.priority = -1;
  second.position = -7;
  second.uploaded = std::uint64_t{5} << 40;
  second.seeded_seconds = 6;
  second.move = KeptContent::Move::kClear;
  second.other_folder = "/elsewhere";
  second.as = "here";
  second.other_as = "there";
  second.overwrite = true;
  second.mark = "0123456789abcdef";
  REQUIRE(second.files.add({content::FileRule::Kind::kSkip, "a \"b\"\n\u00fc*"}).ok());
  REQUIRE(second.files.add({content::FileRule::Kind::kSelect, "1,3-5"}).ok());
  {
    const auto store = ContentsStore::open(path).value();
    REQUIRE(store->insert(second).ok());
    REQUIRE(store->insert(content_of(1)).ok());
  }
  const auto contents = ContentsStore::open(path).value()->load().value();
  REQUIRE(contents.size() == 2);
  check_same(contents[0], second);
  check_same(contents[1], content_of(1));
}

TEST_CASE("a content is changed, learns its manifest, and is erased") {
  const TempFolder folder;
  const auto store = ContentsStore::open(folder.path() + "/c.sqlite").value();
  REQUIRE(store->insert(content_of(1)).ok());
  REQUIRE(store->insert(content_of(2)).ok());
  KeptContent changed = content_of(1);
  changed.paused = changed.seeded = changed.removing = true;
  changed.finished_at = 5;
  changed.stamp = "stamp";
  changed.limits = {1, 2, 3, 4};
  changed.priority = 1;
  changed.position = 8;
  changed.uploaded = 5;
  changed.seeded_seconds = 6;
  changed.move = KeptContent::Move::kStage;
  changed.other_folder = "/elsewhere";
  changed.as = "here";
  changed.other_as = "there";
  changed.repair = true;
  changed.mark = "0123456789abcdef";
  REQUIRE(store->update(changed).ok());
  REQUIRE(store->keep_manifest(id_of(1), "manifest").ok());
  changed.manifest = "manifest";
  auto contents = store->load().value();
  REQUIRE(contents.size() == 2);
  check_same(contents[0], changed);
  check_same(contents[1], content_of(2));
  REQUIRE(store->erase(id_of(1)).ok());
  contents = store->load().value();
  REQUIRE(contents.size() == 1);
  check_same(contents[0], content_of(2));
}

TEST_CASE("contents that the first version of the table kept are still there") {
  const TempFolder folder;
  const std::string path = folder.path() + "/c.sqlite";
  {
    auto database = Database::open(path).value();
    REQUIRE(database
                .execute("CREATE TABLE content(number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE,"
                         " kind INTEGER NOT NULL, link TEXT NOT NULL, manifest BLOB NOT NULL,"
                         " folder BLOB NOT NULL, seeding TEXT NOT NULL, paused INTEGER NOT NULL,"
                         " seeded INTEGER NOT NULL, removing INTEGER NOT NULL,"
                         " added_at INTEGER NOT NULL, finished_at INTEGER NOT NULL);"
                         "INSERT INTO content VALUES(1, zeroblob(32), 0, 'firn:link 0', x'',"
                         " '/somewhere/0', 'forever', 0, 0, 0, 1000, 0);"
                         "PRAGMA user_version=1;")
                .ok());
  }
  for (int run = 0; run < 2; ++run) {
    const auto contents = ContentsStore::open(path).value()->load().value();
    REQUIRE(contents.size() == 1);
    KeptContent first = content_of(0);
    first.position = 1;  // in the order in which they were added
    check_same(contents.front(), first);
  }
}

TEST_CASE("two contents are changed together, or neither is") {
  const TempFolder folder;
  const std::string path = folder.path() + "/c.sqlite";
  const auto store = ContentsStore::open(path).value();
  KeptContent one = content_of(1), other = content_of(2);
  REQUIRE(store->insert(one).ok());
  REQUIRE(store->insert(other).ok());
  one.position = other.position = 3;
  REQUIRE(store->update_all(std::array{one, other}).ok());
  CHECK(store->load().value()[0].position == 3);
  CHECK(store->load().value()[1].position == 3);
  REQUIRE(Database::open(path)
              .value()
              .execute("CREATE TRIGGER refuse BEFORE UPDATE ON content WHEN OLD.number = 2"
                       " BEGIN SELECT RAISE(ABORT, 'no'); END")
              .ok());
  one.position = other.position = 4;
  CHECK_FALSE(store->update_all(std::array{one, other}).ok());
  CHECK(store->load().value()[0].position == 3);
}

TEST_CASE("a content is not added twice") {
  const TempFolder folder;
  const auto store = ContentsStore::open(folder.path() + "/c.sqlite").value();
  REQUIRE(store->insert(content_of(1)).ok());
  const Status again = store->insert(content_of(1));
  REQUIRE_FALSE(again.ok());
  CHECK(again.error().code == ErrorCode::kExists);
  CHECK(store->load().value().size() == 1);
}

TEST_CASE("nothing is left of the link of a content that was erased") {
  const TempFolder folder;
  const std::string path = folder.path() + "/c.sqlite";
  const auto store = ContentsStore::open(path).value();
  KeptContent content = content_of(1);
  content.link = "firn:a-secret-that-must-go";
  REQUIRE(store->insert(content).ok());
  CHECK(file_bytes(path).find(content.link) != std::string::npos);
  REQUIRE(store->erase(content.id).ok());
  CHECK(file_bytes(path).find(content.link) == std::string::npos);
  CHECK_FALSE(std::filesystem::exists(path + "-journal"));
}

TEST_CASE("the database is for its owner alone") {
  const TempFolder folder;
  const std::string path = folder.path() + "/c.sqlite";
  for (int time = 0; time < 2; ++time) {
    const auto store = ContentsStore::open(path).value();
    struct stat there {};
    REQUIRE(::stat(path.c_str(), &there) == 0);
    CHECK((there.st_mode & 0777) == 0600);
    REQUIRE(::chmod(path.c_str(), 0644) == 0);  // as a copy that was put there may be
  }
}

TEST_CASE("a file that is no database of a daemon's is refused and left as it is") {
  const TempFolder folder;
  const std::string text = folder.path() + "/text";
  std::ofstream(text) << std::string(5000, 'z');
  const auto no_database = ContentsStore::open(text);
  REQUIRE_FALSE(no_database.ok());
  CHECK(no_database.error().code == ErrorCode::kCorrupt);
  CHECK(no_database.error().message().find(text) != std::string::npos);
  CHECK(file_bytes(text) == std::string(5000, 'z'));

  const std::string other = folder.path() + "/other";
  REQUIRE(
      Database::open(other).value().execute("CREATE TABLE mine(a); PRAGMA user_version=1;").ok());
  const std::string before = file_bytes(other);
  const auto not_ours = ContentsStore::open(other);
  REQUIRE_FALSE(not_ours.ok());
  CHECK(not_ours.error().code == ErrorCode::kExists);
  CHECK(file_bytes(other) == before);

  const std::string newer = folder.path() + "/newer";
  REQUIRE(Database::open(newer).value().execute("PRAGMA user_version=10;").ok());
  const auto too_new = ContentsStore::open(newer);
  REQUIRE_FALSE(too_new.ok());
  CHECK(too_new.error().code == ErrorCode::kBadInput);
}

}  // namespace
}  // namespace firn::app::contents_store_test
