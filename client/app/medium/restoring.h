// From the rows in a journal back to the manifest and the files.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "client/app/medium/row_journal.h"
#include "client/medium/label.h"
#include "proto/content/manifest.h"

namespace firn::app {

// The manifest that the label's content id names. Errors: kCorrupt (too few of its rows were
// read), kBadInput (it breaks a rule), disk.
Result<Manifest> restore_manifest(const medium::Label& label, const RowJournal& journal);

struct Restored {
  std::uint32_t generations = 0;   // of the content
  std::uint32_t had = 0;           // that stood there already
  std::uint32_t decoded = 0;       // from rows
  std::uint64_t rows_missing = 0;  // innovative row slices that the others lack
  std::uint64_t rows_kept = 0;     // rows of these put where a download goes on
  bool complete = false;           // all files stand, verified, under their names
};

struct RestoringOptions {
  bool overwrite = false;
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
  std::function<bool()> cancelled;
};

// Decodes every generation that `dir` lacks, from the journal's rows and those that an earlier
// download or medium left there, verifies it and puts it into its files. What cannot be decoded yet
// stays as rows of an unfinished download, which another medium or a swarm completes. Errors:
// kExists and others of ContentStore::open_download, kBadInput (the label is of another shape).
Result<Restored> restore_content(const Manifest& manifest, const medium::Label& label,
                                 const RowJournal& journal, const std::string& dir,
                                 const RestoringOptions& options);

}  // namespace firn::app
