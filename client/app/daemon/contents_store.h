// The daemon's contents in a SQLite database (docs/formats.md, "The daemon's contents"). Each
// change is one transaction, durable when the function returns: a kill or a power cut leaves the
// contents as before or after it. Deleted bytes are overwritten in the database, as links hold
// secrets; not in the journal, which SQLite deletes.
//
// One thread. Errors: as SQLite's, naming the file.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "client/app/daemon/kept_content.h"
#include "client/app/daemon/watched_folder.h"
#include "proto/base/result.h"
#include "proto/database/sqlite.h"

namespace firn::app {

class ContentsStore {
 public:
  // Opens or makes the file, for its owner alone. Errors besides: kExists (another program's
  // database), kBadInput (a newer daemon's).
  static Result<std::unique_ptr<ContentsStore>> open(const std::string& path);

  // In the order in which they were added. kCorrupt: a row that no daemon wrote.
  Result<std::vector<KeptContent>> load();
  // kExists: the id is there already.
  Status insert(const KeptContent& content);
  // All but id, kind, link, origins and manifest of a content that is there.
  Status update(const KeptContent& content);
  // All, synced once, or none.
  Status update_all(std::span<const KeptContent> contents);
  // Of the daemon.
  Result<LimitValues> limits();
  Status keep_limits(const LimitValues& limits);
  Status keep_manifest(const ContentId& id, const std::string& manifest);
  Status erase(const ContentId& id);

  // Watched folders, by name.
  Result<std::vector<WatchedFolder>> load_folders();
  // Also one that is there already.
  Status keep_folder(const WatchedFolder& watched);
  Status forget_folder(const std::string& folder);

 private:
  explicit ContentsStore(Database database) : database_(std::move(database)) {}
  Status prepare_tables(const std::string& path);

  Database database_;
};

}  // namespace firn::app
