// Which slices of which rows were read of each generation of a content, from all of its media.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "client/app/medium/medium_journal.h"
#include "client/medium/generation_rows.h"
#include "proto/content/manifest.h"

namespace firn::app {

// One thread at a time.
class ReadSlices {
 public:
  // Media by their index, ascending.
  using Chosen = std::vector<std::uint32_t>;

  // Both are kept by reference. A medium of an earlier run whose label does not fit the manifest is
  // left out. Errors: kBadInput (such a label of one that was named).
  static Result<ReadSlices> of(const Manifest& manifest, std::span<const MediumJournal> media);

  bool any(std::uint32_t generation) const { return !slices_[generation].empty(); }
  // Those of which something was read of a generation.
  Chosen media_of(std::uint32_t generation) const;
  // What was read of a generation from these media; where two tell the same the first one counts.
  // Errors: disk.
  Result<medium::GenerationRows> rows_of(std::uint32_t generation, const Chosen& media) const;

 private:
  struct Slice {
    std::uint32_t medium = 0;  // index in media_
    std::uint32_t row = 0;
    std::uint32_t slice = 0;
    std::uint32_t place = 0;
  };
  ReadSlices(const Manifest& manifest, std::span<const MediumJournal> media);
  bool fits(const medium::Label& label) const;
  void sort(std::uint32_t medium);

  const Manifest* manifest_;
  std::span<const MediumJournal> media_;
  std::vector<std::size_t> cuts_;           // of a row, by all media (GenerationRows)
  std::vector<std::vector<Slice>> slices_;  // of each generation
};

}  // namespace firn::app
