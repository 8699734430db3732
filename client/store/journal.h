// Which generations of a content are verified, and which of those are durable.
//
//   header, 64 bytes                          record, 16 bytes
//    0  "FIRNJRNL"                             0  u32 CRC32C over bytes 4..15 and the record's
//    8  u32 version (1)                               number (u64)
//   12  u32 n                                  4  u32 kind: "GENV" verified, "LOST" not any more,
//   16  u32 k                                         "MARK" durable
//   20  u32 generation count                   8  u64 verified, lost: the generation
//                                                     mark: the number of records before it that
//                                                     are durable
//   24  32 bytes content id
//   56  u32 0
//   60  u32 CRC32C over bytes 0..59
//
// All little-endian. Records have one size and carry their number in the CRC, so that a torn or
// damaged one costs itself only. A mark is written after the data that it speaks of was synced.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "client/store/files.h"
#include "proto/content/manifest.h"

namespace firn::store {

// What a journal file says.
struct JournalContents {
  bool readable = false;               // false: missing or its header is damaged
  std::vector<std::uint32_t> durable;  // verified, their data synced before a mark
  std::vector<std::uint32_t> recent;   // verified, but their data may not have reached the disk
  std::vector<std::uint32_t> lost;     // found changed or gone, and not verified again since
};

// kExists if the journal belongs to another content, shape or version of the format.
Result<JournalContents> read_journal(Files& files, const std::string& path,
                                     const Manifest& manifest);

// The journal of a running download. Any thread, also at once.
class Journal {
 public:
  // Replaces what stands at `path` by a journal that says `durable`, with a mark. Durable itself
  // but for its folder's entry. A kill meanwhile leaves the old one.
  static Result<std::unique_ptr<Journal>> create(Files& files, const std::string& path,
                                                 const Manifest& manifest,
                                                 std::span<const std::uint32_t> durable);

  Status append_verified(std::uint32_t generation);
  // Takes back all earlier records of the generation.
  Status append_lost(std::uint32_t generation);
  std::uint64_t records() const;

  // Says that the data of the first `covered` records is durable, and makes that durable. Appending
  // goes on meanwhile.
  Status mark(std::uint64_t covered);

  // kNotFound if the file was removed underneath.
  Status check_present() const;

 private:
  Journal(std::shared_ptr<File> file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}
  Status append(std::uint32_t kind, std::uint64_t value);  // with mutex_ held

  const std::shared_ptr<File> file_;
  const std::string path_;

  mutable std::mutex mutex_;
  std::uint64_t records_ = 0;
  // Records since the last good sync: after a failed one the kernel may have forgotten them, so
  // they are written again.
  std::vector<std::uint8_t> unsynced_;
  bool sync_failed_ = false;
};

}  // namespace firn::store
