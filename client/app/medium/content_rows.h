// The payloads of a medium's places, made from a content's files and its manifest.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/content/top_name.h"
#include "client/medium/label.h"
#include "client/medium/rows.h"
#include "client/store/content_store.h"
#include "client/store/files.h"
#include "proto/content/manifest.h"

namespace firn::app {

// One thread at a time.
class ContentRows {
 public:
  struct Watch {
    std::function<void(const char* what, std::uint64_t done, std::uint64_t total)> progress;
    std::function<bool()> cancelled;
  };

  // Reads every generation, verifies it, and makes its coded rows, which stay in memory: as much of
  // the content's size as the spare rows are. Errors: those of ContentStore::open_complete and
  // read_generation; kBadInput (the label does not fit the content).
  static Result<std::unique_ptr<ContentRows>> open(const Manifest& manifest,
                                                   const content::ContentPlace& place,
                                                   const medium::Label& label, const Watch& watch);

  // At most payload_bytes(). Errors: disk.
  Result<std::vector<std::uint8_t>> payload(std::uint64_t place);

  // Whether the files still are what the manifest says, as they may have changed while rows were
  // taken from them. Errors: kCorrupt, disk, kCancelled.
  Status verify() const;

 private:
  ContentRows(const Manifest& manifest, const std::string& as, const medium::Label& label,
              const Watch& watch);
  Status make_coded_rows();
  Status read_all(
      const char* what,
      const std::function<void(std::uint32_t, std::span<const std::uint8_t>)>& take) const;
  Result<std::vector<std::uint8_t>> source_slice(const medium::RowSlice& at, std::uint64_t first,
                                                 std::size_t bytes);
  std::vector<std::uint8_t> manifest_row(const medium::RowSlice& at) const;

  const Manifest manifest_;
  const std::string as_;
  const medium::Label label_;
  const Watch watch_;
  std::vector<std::uint8_t> manifest_blocks_;  // whole blocks, zeros at the end
  medium::RowOrder manifest_order_, content_order_;
  medium::Layout layout_;
  std::unique_ptr<store::ContentStore> store_;
  std::unique_ptr<store::Files> files_;
  // Of each generation its coded rows, k bytes each.
  std::vector<std::vector<std::uint8_t>> coded_;
  std::uint32_t open_file_ = 0;  // index of file_
  std::shared_ptr<store::File> file_;
};

}  // namespace firn::app
