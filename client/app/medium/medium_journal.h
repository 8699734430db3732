// What was read of one medium: its label, and the journal of its rows below the folder that its
// content goes to.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/app/medium/medium_reading.h"
#include "client/app/medium/row_journal.h"
#include "client/medium/label.h"
#include "client/store/files.h"
#include "proto/base/ids.h"
#include "proto/base/result.h"

namespace firn::app {

struct MediumJournal {
  std::string name;                   // of its files, but for the ending
  std::unique_ptr<store::Lock> lock;  // against other processes
  std::unique_ptr<RowJournal> rows;
  bool earlier = false;  // an earlier run left it; nobody named the medium in this one

  const medium::Label& label() const { return rows->label(); }
};

struct MediumSource {
  std::string path;                    // the medium file
  std::string dir;                     // where the content goes; made if missing
  std::optional<ContentId> expected;   // a medium of another content is refused
  std::optional<medium::Rates> rates;  // told by the user; else those of the label
};

// The bits fit a channel of other rates than were assumed.
using OnMisfit = std::function<void(const medium::Rates& fitted, const medium::Rates& assumed)>;

// What is told while a medium is read. Only `on_rows` may be empty.
struct MediumEvents {
  OnMisfit on_misfit;
  std::function<void()> on_rows = {};  // from here on what is read is kept
};

// Reads all groups of the medium that its journal lacks. Nothing is made in `dir` before the
// medium's label is read and its content is the one that is expected. Errors: those of
// MediumReading; kBadInput (another content), kExists (another process has the journal), disk.
Result<MediumJournal> read_medium_journal(const MediumSource& source, const ReadingOptions& options,
                                          const MediumEvents& events);

// Adds to `media`, which holds one journal at least, those of other media of the content that
// earlier runs left below `dir`. One that another process has is left out, and those that go
// meanwhile as another process has completed the content. Errors: disk.
Status add_earlier_journals(const std::string& dir, std::vector<MediumJournal>& media);

}  // namespace firn::app
