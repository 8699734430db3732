// Reads the frames of a medium file: finds its label, the rates that its bits fit, its groups, and
// decodes these on several threads into a RowJournal.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "client/app/medium/medium_file.h"
#include "client/app/medium/row_journal.h"
#include "client/medium/groups.h"
#include "client/medium/label_code.h"
#include "client/medium/sync_inner_code.h"
#include "codec/thread_pool.h"

namespace firn::app {

struct ReadingOptions {
  unsigned threads = 2;
  std::function<void(const char* what, std::uint64_t done, std::uint64_t total)> progress;
  std::function<bool()> cancelled;
};

struct FoundLabels {
  medium::Label label;      // the first that could be read
  std::size_t marks = 0;    // of labels that were found
  std::size_t read = 0;     // of these
  std::size_t foreign = 0;  // read, and of another medium
};

// The rates of a channel whose bits are what was read: of some around those that are assumed, the
// likeliest.
struct FittedRates {
  medium::Rates rates;
  double factor = 1;        // of the rates that were assumed
  std::uint32_t words = 0;  // that were looked at; 0: none could be
};

class MediumReading {
 public:
  MediumReading(const MediumInput& input, const ReadingOptions& options);

  // Stops at the first label that can be read, unless `all`. Errors: kCorrupt (none), kIo,
  // kCancelled.
  Result<FoundLabels> find_label(bool all) const;

  // What the following need: the label, and the rates that the decoder assumes. Errors: kBadInput.
  Status use(const medium::Label& label, const medium::Rates& rates);

  // Errors: kIo, kCancelled.
  Status find_groups();
  std::size_t group_count() const { return marks_.size(); }

  // From some groups; changes nothing.
  Result<FittedRates> fit() const;

  // Decodes the groups that `journal` lacks. Errors: disk, kCancelled.
  Status read_groups(RowJournal& journal);
  // The readings of some groups, spread over the medium. For a look at it.
  Result<std::vector<medium::GroupReading>> sample(std::size_t groups) const;

  // Names the medium in a journal: its label and all of its bits. Errors:
  // kIo, kCancelled.
  Result<Digest> fingerprint() const;

 private:
  using Marks = std::vector<const medium::FoundMark*>;  // of marks_

  MarkScan scan_for(const char* what) const;
  Result<medium::GroupReading> read_group(const medium::GroupReader& reader,
                                          const medium::FoundMark& mark,
                                          std::uint32_t frames_max) const;
  // On all threads; the first failure if there is one.
  Result<std::vector<medium::GroupReading>> read_all(
      const medium::GroupReader& reader, std::span<const medium::FoundMark* const> marks,
      std::uint32_t frames_max = 0xffffffff) const;
  Marks spread_marks(std::size_t count) const;

  const MediumInput& input_;
  const ReadingOptions& options_;
  const medium::LabelCode labels_;
  mutable codec::ThreadPool threads_;
  medium::Label label_;
  medium::Rates rates_;
  std::shared_ptr<const medium::SyncInnerCode> inner_;  // reader_'s
  std::unique_ptr<const medium::GroupReader> reader_;
  std::vector<medium::FoundMark> marks_;
};

}  // namespace firn::app
