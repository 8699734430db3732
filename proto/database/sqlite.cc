#include "proto/database/sqlite.h"

#include <sys/stat.h>

namespace firn {
namespace {

// What the last failed call on `database` means for a person.
Error sqlite_error(sqlite3* database) {
  const char* path = database != nullptr ? sqlite3_db_filename(database, "main") : nullptr;
  const int code = database != nullptr ? sqlite3_errcode(database) & 0xff : SQLITE_NOMEM;
  Error error{ErrorCode::kIo, std::string("use the database ") + (path != nullptr ? path : ""),
              database != nullptr ? sqlite3_errmsg(database) : "out of memory"};
  switch (code) {
    case SQLITE_FULL:
      error.code = ErrorCode::kDiskFull;
      error.detail += "; make room";
      break;
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      error.code = ErrorCode::kReadOnly;
      error.detail += "; the folder must be writable";
      break;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      error.code = ErrorCode::kCorrupt;
      error.detail += "; move the file away and start again";
      break;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      error.code = ErrorCode::kBusy;
      error.detail += "; another process seems to use it";
      break;
    default:
      break;
  }
  return error;
}

}  // namespace

// By name: a descriptor that is closed takes this process's locks along.
void make_database_private(const std::string& path) {
  for (const char* const end : {"", "-wal", "-shm", "-journal"})
    (void)::chmod((path + end).c_str(), 0600);
}

Statement& Statement::bind(int place, std::int64_t value) {
  FIRN_CHECK(sqlite3_bind_int64(statement_.get(), place, value) == SQLITE_OK);
  return *this;
}

Statement& Statement::bind_bytes(int place, std::string_view bytes) {
  FIRN_CHECK(sqlite3_bind_blob64(statement_.get(), place, bytes.data(), bytes.size(),
                                 SQLITE_STATIC) == SQLITE_OK);
  return *this;
}

Statement& Statement::bind_text(int place, std::string_view text) {
  FIRN_CHECK(sqlite3_bind_text64(statement_.get(), place, text.data(), text.size(), SQLITE_STATIC,
                                 SQLITE_UTF8) == SQLITE_OK);
  return *this;
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    sqlite3_reset(statement_.get());
    return false;
  }
  Error error = sqlite_error(sqlite3_db_handle(statement_.get()));
  sqlite3_reset(statement_.get());
  return error;
}

Status Statement::run() {
  for (;;) {
    const auto row = step();
    if (!row) return row.error();
    if (!*row) return Done{};
  }
}

std::string_view Statement::bytes(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

Result<Database> Database::open(const std::string& path) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(
      path.c_str(), &raw,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
      nullptr);
  Database database;
  database.database_.reset(raw);
  if (code != SQLITE_OK) {
    Error error = sqlite_error(raw);
    error.operation = "open the database " + path;
    return error;
  }
  return database;
}

Status Database::execute(const std::string& sql) {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return sqlite_error(database_.get());
  return Done{};
}

Result<Statement> Database::prepare(const std::string& sql) {
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v3(database_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  if (code != SQLITE_OK) return sqlite_error(database_.get());
  Statement statement;
  statement.statement_.reset(raw);
  return statement;
}

Result<std::string> Database::read_blob(const char* table, std::int64_t row, std::uint64_t offset,
                                        std::size_t bytes) {
  sqlite3_blob* raw = nullptr;
  const int code = sqlite3_blob_open(database_.get(), "main", table, "bytes", row, 0, &raw);
  const std::unique_ptr<sqlite3_blob, SqliteClose> blob(raw);
  std::string data(bytes, '\0');
  if (code != SQLITE_OK || sqlite3_blob_read(raw, data.data(), static_cast<int>(bytes),
                                             static_cast<int>(offset)) != SQLITE_OK)
    return sqlite_error(database_.get());
  return data;
}

}  // namespace firn
