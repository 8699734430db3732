// From the rows that were read of a content's media back to its manifest and its files.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "client/app/medium/medium_journal.h"
#include "proto/content/manifest.h"

namespace firn::app {

// The manifest that the labels' content id names, from the first medium that gives it. Errors:
// kCorrupt (too few of its rows were read of each), kBadInput (it breaks a rule), disk.
Result<Manifest> restore_manifest(std::span<const MediumJournal> media);

struct Restored {
  std::uint32_t generations = 0;   // of the content
  std::uint32_t had = 0;           // that stood there already
  std::uint32_t decoded = 0;       // from rows
  std::uint32_t false_ones = 0;    // that all rows are there of, and not what the manifest says
  bool false_media = false;        // some medium has false rows; false_ones or others' rows tell it
  std::uint64_t rows_missing = 0;  // innovative pieces of rows that the others lack
  std::uint64_t rows_kept = 0;     // rows of the others, there for a download to go on with
  bool complete = false;           // all files stand, verified, under their names

  std::uint32_t whole() const { return had + decoded; }
};

struct RestoringOptions {
  std::string as = {};  // as store::OpenOptions::as
  bool overwrite = false;
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
  std::function<bool()> cancelled;
};

// Decodes every generation that `dir` lacks, from the rows of all these media together and those
// that an earlier download or medium left there, verifies it and puts it into its files. What
// cannot be decoded yet stays as rows of an unfinished download, which another medium or a swarm
// completes.
//
// Rows that no generation's digest has proven are only as true as the frames' checks, which the
// writer of a medium can make fit. So where rows of the media decode to a false generation, each
// medium is tried alone, those that were named first, then all without those that are false alone,
// then all but one. And no unproven row of media is kept then, this run's or an earlier one's;
// those of peers are. Where only rows that an earlier run kept make a generation false, these are
// dropped. Errors: kExists and others of ContentStore::open_download, kBadInput (the
// label of a medium that was named is of another content or shape).
Result<Restored> restore_content(const Manifest& manifest, std::span<const MediumJournal> media,
                                 const std::string& dir, const RestoringOptions& options);

}  // namespace firn::app
