#include "tracker/registry_schema.h"

#include <string_view>

#include "proto/content/manifest.h"

namespace firn::tracker {
namespace {

constexpr std::int64_t kSchemaVersion = 3;

constexpr const char* kPeerTable = R"(
  CREATE TABLE peer(
    content BLOB NOT NULL, id BLOB NOT NULL, ip TEXT NOT NULL, port INTEGER NOT NULL,
    complete INTEGER NOT NULL, PRIMARY KEY(content, id)) WITHOUT ROWID;
)";
constexpr const char* kManifestTable = R"(
  CREATE TABLE manifest(
    number INTEGER PRIMARY KEY, content BLOB NOT NULL, signer BLOB NOT NULL, network TEXT NOT NULL,
    used INTEGER NOT NULL, bytes BLOB NOT NULL, UNIQUE(content, signer));
  PRAGMA user_version=3;
)";

// Whether the tables are those that a tracker of this schema version made; none in version 0, that
// of a new file. Other programs have databases with versions too.
Result<bool> is_ours(Database& database, std::int64_t version) {
  auto query = database.prepare(
      "SELECT (SELECT count(*) FROM sqlite_schema),"
      "(SELECT group_concat(name) FROM pragma_table_info('peer')),"
      "(SELECT group_concat(name) FROM pragma_table_info('manifest'))");
  if (!query) return query.error();
  const auto row = query->step();
  if (!row) return row.error();
  if (version == 0) return query->integer(0) == 0;
  const std::string_view manifest = query->bytes(2);
  return query->bytes(1) == "content,id,ip,port,complete" &&
         (version != 2 || manifest == "number,content,network,used,bytes") &&
         (version != 3 || manifest == "number,content,signer,network,used,bytes");
}

// Those of version 2, whose signers only their bytes tell.
Status take_over_manifests(Database& database) {
  auto query = database.prepare("SELECT number, bytes FROM manifest_2");
  if (!query) return query.error();
  auto insert = database.prepare(
      "INSERT INTO manifest SELECT number, content, ?, network, used, bytes FROM manifest_2 "
      "WHERE number=?");
  if (!insert) return insert.error();
  for (;;) {
    const auto row = query->step();
    if (!row) return row.error();
    if (!*row) return Done{};
    const PublicKey signer = manifest_signer(query->bytes(1));
    const Status taken = insert->bind_bytes(1, signer.raw()).bind(2, query->integer(0)).run();
    if (!taken) return taken;
  }
}

}  // namespace

Result<std::int64_t> known_version(Database& database, const std::string& path) {
  auto query = database.prepare("PRAGMA user_version");
  if (!query) return query.error();
  const auto row = query->step();
  if (!row) return row.error();
  const std::int64_t version = query->integer(0);
  const std::string operation = "use the tracker's database " + path;
  if (version < 0 || version > kSchemaVersion)
    return Error{ErrorCode::kBadInput, operation,
                 "it has schema version " + std::to_string(version) + ", this program knows " +
                     std::to_string(kSchemaVersion) + "; use the newer firn-tracker"};
  const auto ours = is_ours(database, version);
  if (!ours) return ours.error();
  if (!*ours)
    return Error{ErrorCode::kExists, operation,
                 "it is a database of another program; name another folder with --data"};
  return version;
}

Status make_schema(Database& database, std::int64_t version) {
  if (version == kSchemaVersion) return Done{};
  const std::string peers = version == 0 ? kPeerTable : "";
  const std::string before = version == 2 ? "ALTER TABLE manifest RENAME TO manifest_2;"
                                          : "DROP TABLE IF EXISTS manifest;";
  Status made = database.execute("BEGIN;" + peers + before + kManifestTable);
  if (made && version == 2) made = take_over_manifests(database);
  if (made && version == 2) made = database.execute("DROP TABLE manifest_2");
  return made ? database.execute("COMMIT") : made;
}

}  // namespace firn::tracker
