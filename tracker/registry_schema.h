// The tables of the tracker's database (registry_sqlite.h), in this version and in earlier ones.
#pragma once

#include <cstdint>
#include <string>

#include "proto/base/result.h"
#include "proto/database/sqlite.h"

namespace firn::tracker {

// The schema version of what stands at `path`, which is not changed; 0: of a new file. Errors:
// kExists if it is not a tracker's, kBadInput if it is a newer tracker's.
Result<std::int64_t> known_version(Database& database, const std::string& path);

// Makes the tables of this version out of those of `version`. Errors: those of the disk; then
// nothing has changed once the database is closed.
Status make_schema(Database& database, std::int64_t version);

}  // namespace firn::tracker
