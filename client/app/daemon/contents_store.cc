#include "client/app/daemon/contents_store.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "proto/base/unique_fd.h"

namespace firn::app {
namespace {

// A change is answered only once it is on the disk, and changes are few.
constexpr const char* kContentsPragmas =
    "PRAGMA busy_timeout=200; PRAGMA journal_mode=DELETE; PRAGMA synchronous=EXTRA;"
    "PRAGMA secure_delete=ON;";

// What makes each version of the table from the one before.
struct TableVersion {
  const char* change;
  std::int64_t columns;  // that it has then
};
constexpr TableVersion kTableVersions[] = {
    {R"(
  CREATE TABLE content(
    number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, kind INTEGER NOT NULL,
    link TEXT NOT NULL, manifest BLOB NOT NULL, folder BLOB NOT NULL, seeding TEXT NOT NULL,
    paused INTEGER NOT NULL, seeded INTEGER NOT NULL, removing INTEGER NOT NULL,
    added_at INTEGER NOT NULL, finished_at INTEGER NOT NULL);
)",
     12},
    {R"(
  ALTER TABLE content ADD COLUMN trusted INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE content ADD COLUMN stamp BLOB NOT NULL DEFAULT x'';
)",
     14},
    {R"(
  ALTER TABLE content ADD COLUMN up_limit INTEGER NOT NULL DEFAULT -1;
  ALTER TABLE content ADD COLUMN down_limit INTEGER NOT NULL DEFAULT -1;
  ALTER TABLE content ADD COLUMN seed_ratio INTEGER NOT NULL DEFAULT -1;
  ALTER TABLE content ADD COLUMN seed_seconds INTEGER NOT NULL DEFAULT -1;
  ALTER TABLE content ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE content ADD COLUMN position INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE content ADD COLUMN uploaded INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE content ADD COLUMN seeded_seconds INTEGER NOT NULL DEFAULT 0;
  UPDATE content SET position = number;
  CREATE TABLE limits(
    up INTEGER NOT NULL, down INTEGER NOT NULL, seed_ratio INTEGER NOT NULL,
    seed_seconds INTEGER NOT NULL);
  INSERT INTO limits VALUES(-1, -1, -1, -1);
)",
     22},
    {R"(
  ALTER TABLE content ADD COLUMN move INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE content ADD COLUMN other_folder BLOB NOT NULL DEFAULT x'';
)",
     24},
    {"CREATE TABLE watched(folder BLOB PRIMARY KEY, output BLOB NOT NULL);", 24},
    {R"(
  ALTER TABLE content ADD COLUMN top_name TEXT NOT NULL DEFAULT '';
  ALTER TABLE content ADD COLUMN other_top_name TEXT NOT NULL DEFAULT '';
  ALTER TABLE content ADD COLUMN overwrite INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE content ADD COLUMN repair INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE content ADD COLUMN mark TEXT NOT NULL DEFAULT '';
)",
     29},
    {"ALTER TABLE content ADD COLUMN files TEXT NOT NULL DEFAULT '[]';", 30},
    {R"(
  ALTER TABLE content ADD COLUMN origins TEXT NOT NULL DEFAULT '[]';
  ALTER TABLE content ADD COLUMN no_origin INTEGER NOT NULL DEFAULT 0;
)",
     32},
};
constexpr std::int64_t kContentsVersion = std::size(kTableVersions);

// The file with the mode that SQLite's own journal then takes over.
Status make_private_file(const std::string& path) {
  const UniqueFd made(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (made.get() < 0) return error_from_errno("open the database " + path, errno);
  return Done{};
}

// A list is kept as JSON; a choice of files is a list of its rules.
std::string text_of(const std::vector<std::string>& texts) {
  return nlohmann::json(texts).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string text_of(const content::FileChoice& files) {
  return nlohmann::json(files.texts()).dump();
}

std::optional<std::vector<std::string>> texts_of(std::string_view text) {
  const auto texts = nlohmann::json::parse(text, nullptr, false);
  const auto is_text = [](const nlohmann::json& one) { return one.is_string(); };
  if (!texts.is_array() || !std::ranges::all_of(texts, is_text)) return std::nullopt;
  return texts.get<std::vector<std::string>>();
}

Result<content::FileChoice> choice_of(std::string_view text) {
  const auto rules = texts_of(text);
  if (!rules) return Error{ErrorCode::kCorrupt, "read a choice of files", "it is no list of rules"};
  return content::FileChoice::from_texts(*rules);
}

Result<KeptContent> content_of(const Statement& row) {
  KeptContent content;
  const auto id = ContentId::from_bytes(row.bytes(0));
  const std::int64_t kind = row.integer(1);
  const std::int64_t move = row.integer(21);
  auto files = choice_of(row.bytes(28));
  auto origins = texts_of(row.bytes(29));
  if (!id || kind < 0 || kind > 1 || move < 0 || move > 3 || !files.ok() || !origins)
    return Error{ErrorCode::kCorrupt, "read the daemon's contents",
                 "a row makes no sense; move the database away and start again"};
  content.id = *id;
  content.kind = static_cast<KeptContent::Kind>(kind);
  content.link = row.bytes(2);
  content.manifest = row.bytes(3);
  content.folder = row.bytes(4);
  content.seeding = row.bytes(5);
  content.paused = row.integer(6) != 0;
  content.seeded = row.integer(7) != 0;
  content.removing = row.integer(8) != 0;
  content.added_at = row.integer(9);
  content.finished_at = row.integer(10);
  content.trusted = row.integer(11) != 0;
  content.stamp = row.bytes(12);
  content.limits = {row.integer(13), row.integer(14), row.integer(15), row.integer(16)};
  content.priority = row.integer(17);
  content.position = row.integer(18);
  content.uploaded = static_cast<std::uint64_t>(row.integer(19));
  content.seeded_seconds = row.integer(20);
  content.move = static_cast<KeptContent::Move>(move);
  content.other_folder = row.bytes(22);
  content.as = row.bytes(23);
  content.other_as = row.bytes(24);
  content.overwrite = row.integer(25) != 0;
  content.repair = row.integer(26) != 0;
  content.mark = row.bytes(27);
  content.files = *std::move(files);
  content.origins = *std::move(origins);
  content.no_origin = row.integer(30) != 0;
  return content;
}

// The files of the contents are none of the database's, and stand as they stood.
Error with_remedy(Error error) {
  if (error.code == ErrorCode::kCorrupt)
    error.detail +=
        "; the list is empty then: `firn add` each content again with the folder that it is in, "
        "which fetches nothing that is there";
  return error;
}

// SQLite takes a view of nothing for NULL.
std::string_view not_null(std::string_view bytes) {
  return bytes.data() == nullptr ? std::string_view("") : bytes;
}

// What a row may change, as the parameters from 5 on. `files`: text_of() its choice; outlives the
// statement's run().
Statement& bind_changeable(Statement& statement, const KeptContent& content,
                           const std::string& files) {
  return statement.bind_bytes(5, content.folder)
      .bind_text(6, content.seeding)
      .bind(7, content.paused)
      .bind(8, content.seeded)
      .bind(9, content.removing)
      .bind(10, content.added_at)
      .bind(11, content.finished_at)
      .bind(12, content.trusted)
      .bind_bytes(13, not_null(content.stamp))
      .bind(14, content.limits.up)
      .bind(15, content.limits.down)
      .bind(16, content.limits.seed_ratio)
      .bind(17, content.limits.seed_seconds)
      .bind(18, content.priority)
      .bind(19, content.position)
      .bind(20, static_cast<std::int64_t>(content.uploaded))
      .bind(21, content.seeded_seconds)
      .bind(22, static_cast<std::int64_t>(content.move))
      .bind_bytes(23, not_null(content.other_folder))
      .bind_text(24, content.as)
      .bind_text(25, content.other_as)
      .bind(26, content.overwrite)
      .bind(27, content.repair)
      .bind_text(28, content.mark)
      .bind_text(29, files);
}

}  // namespace

Result<std::unique_ptr<ContentsStore>> ContentsStore::open(const std::string& path) {
  if (const Status made = make_private_file(path); !made.ok()) return made.error();
  auto database = Database::open(path);
  if (!database.ok()) return with_remedy(database.error());
  std::unique_ptr<ContentsStore> store(new ContentsStore(*std::move(database)));
  if (const Status ready = store->prepare_tables(path); !ready.ok())
    return with_remedy(ready.error());
  return store;
}

Status ContentsStore::prepare_tables(const std::string& path) {
  std::int64_t version = 0;
  std::int64_t tables = 0;
  {
    auto query = database_.prepare(
        "SELECT (SELECT user_version FROM pragma_user_version),"
        "(SELECT count(*) FROM sqlite_schema), (SELECT count(*) FROM "
        "pragma_table_info('content'))");
    if (!query.ok()) return query.error();
    const auto row = query->step();
    if (!row.ok()) return row.error();
    version = query->integer(0);
    tables = query->integer(1);
    if (version > kContentsVersion)
      return Error{ErrorCode::kBadInput, "use the database " + path,
                   "a newer version of firn made it; use that one"};
    const bool ours = version == 0
                          ? tables == 0
                          : version > 0 && query->integer(2) == kTableVersions[version - 1].columns;
    if (!ours)
      return Error{ErrorCode::kExists, "use the database " + path,
                   "it is not one of the daemon's; move it away, or name another folder with "
                   "--data"};
  }
  make_database_private(path);
  if (const Status set = database_.execute(kContentsPragmas); !set.ok()) return set;
  if (version == kContentsVersion) return Done{};
  std::string changes = "BEGIN;";
  for (; version < kContentsVersion; ++version) changes += kTableVersions[version].change;
  changes += "PRAGMA user_version=" + std::to_string(version) + ";COMMIT;";
  return database_.execute(changes);
}

Result<std::vector<KeptContent>> ContentsStore::load() {
  auto query = database_.prepare(
      "SELECT id, kind, link, manifest, folder, seeding, paused, seeded, removing, added_at,"
      " finished_at, trusted, stamp, up_limit, down_limit, seed_ratio, seed_seconds, priority,"
      " position, uploaded, seeded_seconds, move, other_folder, top_name, other_top_name,"
      " overwrite, repair, mark, files, origins, no_origin FROM content ORDER BY number");
  if (!query.ok()) return with_remedy(query.error());
  std::vector<KeptContent> contents;
  for (;;) {
    const auto row = query->step();
    if (!row.ok()) return with_remedy(row.error());
    if (!*row) return contents;
    auto content = content_of(*query);
    if (!content.ok()) return with_remedy(content.error());
    contents.push_back(*std::move(content));
  }
}

Status ContentsStore::insert(const KeptContent& content) {
  {
    auto known = database_.prepare("SELECT 1 FROM content WHERE id = ?1");
    if (!known.ok()) return known.error();
    const auto row = known->bind_bytes(1, content.id.raw()).step();
    if (!row.ok()) return row.error();
    if (*row) return Error{ErrorCode::kExists, "add " + content.id.text(), "it is there already"};
  }
  const std::string files = text_of(content.files), origins = text_of(content.origins);
  auto insert = database_.prepare(
      "INSERT INTO content(id, kind, link, manifest, folder, seeding, paused, seeded, removing,"
      " added_at, finished_at, trusted, stamp, up_limit, down_limit, seed_ratio, seed_seconds,"
      " priority, position, uploaded, seeded_seconds, move, other_folder, top_name,"
      " other_top_name, overwrite, repair, mark, files, origins, no_origin)"
      " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,"
      " ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31)");
  if (!insert.ok()) return insert.error();
  insert->bind_bytes(1, content.id.raw())
      .bind(2, static_cast<std::int64_t>(content.kind))
      .bind_text(3, content.link)
      .bind_bytes(4, not_null(content.manifest))
      .bind_text(30, origins)
      .bind(31, content.no_origin);
  return bind_changeable(*insert, content, files).run();
}

Status ContentsStore::update(const KeptContent& content) {
  const std::string files = text_of(content.files);
  auto update = database_.prepare(
      "UPDATE content SET folder = ?5, seeding = ?6, paused = ?7, seeded = ?8, removing = ?9,"
      " added_at = ?10, finished_at = ?11, trusted = ?12, stamp = ?13, up_limit = ?14,"
      " down_limit = ?15, seed_ratio = ?16, seed_seconds = ?17, priority = ?18, position = ?19,"
      " uploaded = ?20, seeded_seconds = ?21, move = ?22, other_folder = ?23, top_name = ?24,"
      " other_top_name = ?25, overwrite = ?26, repair = ?27, mark = ?28, files = ?29"
      " WHERE id = ?1");
  if (!update.ok()) return update.error();
  update->bind_bytes(1, content.id.raw());
  return bind_changeable(*update, content, files).run();
}

Status ContentsStore::keep_manifest(const ContentId& id, const std::string& manifest) {
  auto update = database_.prepare("UPDATE content SET manifest = ?2 WHERE id = ?1");
  if (!update.ok()) return update.error();
  return update->bind_bytes(1, id.raw()).bind_bytes(2, manifest).run();
}

Status ContentsStore::update_all(std::span<const KeptContent> contents) {
  // At once for writing: where another program has the lock, that is waited for once.
  if (const Status begun = database_.execute("BEGIN IMMEDIATE"); !begun.ok()) return begun;
  Status written = Done{};
  for (const KeptContent& content : contents)
    if (written.ok()) written = update(content);
  if (written.ok()) written = database_.execute("COMMIT");
  // After some errors SQLite has undone everything by itself, and has nothing to undo.
  if (!written.ok()) (void)database_.execute("ROLLBACK");
  return written;
}

Result<LimitValues> ContentsStore::limits() {
  auto query = database_.prepare("SELECT up, down, seed_ratio, seed_seconds FROM limits");
  if (!query.ok()) return query.error();
  const auto row = query->step();
  if (!row.ok()) return row.error();
  if (!*row) return LimitValues{};
  return LimitValues{query->integer(0), query->integer(1), query->integer(2), query->integer(3)};
}

Status ContentsStore::keep_limits(const LimitValues& limits) {
  auto update =
      database_.prepare("UPDATE limits SET up = ?1, down = ?2, seed_ratio = ?3, seed_seconds = ?4");
  if (!update.ok()) return update.error();
  return update->bind(1, limits.up)
      .bind(2, limits.down)
      .bind(3, limits.seed_ratio)
      .bind(4, limits.seed_seconds)
      .run();
}

Status ContentsStore::erase(const ContentId& id) {
  auto erase = database_.prepare("DELETE FROM content WHERE id = ?1");
  if (!erase.ok()) return erase.error();
  return erase->bind_bytes(1, id.raw()).run();
}

Result<std::vector<WatchedFolder>> ContentsStore::load_folders() {
  auto query = database_.prepare("SELECT folder, output FROM watched ORDER BY folder");
  if (!query.ok()) return query.error();
  std::vector<WatchedFolder> folders;
  for (;;) {
    const auto row = query->step();
    if (!row.ok()) return row.error();
    if (!*row) return folders;
    folders.push_back({std::string(query->bytes(0)), std::string(query->bytes(1))});
  }
}

Status ContentsStore::keep_folder(const WatchedFolder& watched) {
  auto keep = database_.prepare("INSERT OR REPLACE INTO watched(folder, output) VALUES(?1, ?2)");
  if (!keep.ok()) return keep.error();
  return keep->bind_bytes(1, watched.folder).bind_bytes(2, watched.output).run();
}

Status ContentsStore::forget_folder(const std::string& folder) {
  auto forget = database_.prepare("DELETE FROM watched WHERE folder = ?1");
  if (!forget.ok()) return forget.error();
  return forget->bind_bytes(1, folder).run();
}

}  // namespace firn::app
