// SQLite's C interface as owned objects and Results. One thread for a database and its statements.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "proto/base/result.h"

namespace firn {

struct SqliteClose {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  void operator()(sqlite3_blob* blob) const { sqlite3_blob_close(blob); }
};

// A prepared statement. Bind, step until it says false, then it is ready to be bound again. Bytes
// and text that are bound must live until the last step.
class Statement {
 public:
  Statement() = default;

  Statement& bind(int place, std::int64_t value);
  Statement& bind_bytes(int place, std::string_view bytes);
  Statement& bind_text(int place, std::string_view text);
  // True: there is a row. False: done, and reset.
  Result<bool> step();
  // Steps to the end.
  Status run();

  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
  // Views that live until the next step.
  std::string_view bytes(int column) const;

 private:
  friend class Database;
  std::unique_ptr<sqlite3_stmt, SqliteClose> statement_;
};

// Leaves the database at `path`, and what SQLite keeps beside it, to their owner alone (mode 0600),
// as far as they are there: who may read these files can lock them, and nothing is written then.
// What SQLite makes there later has the database's mode.
void make_database_private(const std::string& path);

class Database {
 public:
  // Opens or makes the file. Errors name it.
  static Result<Database> open(const std::string& path);

  Status execute(const std::string& sql);
  Result<Statement> prepare(const std::string& sql);
  // Reads `bytes` bytes at `offset` of column "bytes" of a row of `table`.
  Result<std::string> read_blob(const char* table, std::int64_t row, std::uint64_t offset,
                                std::size_t bytes);
  std::int64_t last_row() const { return sqlite3_last_insert_rowid(database_.get()); }

 private:
  std::unique_ptr<sqlite3, SqliteClose> database_;
};

}  // namespace firn
