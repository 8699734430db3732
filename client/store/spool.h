// Coded blocks of unfinished generations, in one file of fixed places.
//
//   file header, 4096 bytes                   slot header, 64 bytes, then the vector (n bytes)
//    0  "FIRNSPOL"                              0  "ROWS"
//    8  u32 version (1)                         4  u32 CRC32C over bytes 8..63 with zeros for the
//   12  u32 n                                         standing, vector, payload
//   16  u32 k                                   8  u32 generation
//   20  32 bytes content id                    12  u32 slot
//   52  u32 CRC32C over bytes 0..51            16  u64 epoch
//                                              24  32 bytes sender
//                                              56  u64 standing: 0 (not known), or
//                                                  4 bytes "ANSW" (answered) or "PROV" (proven)
//                                                  u32 CRC32C over bytes 0..59
//
// All little-endian. The vector of a generation with fewer than n blocks is shorter; zeros follow
// it. Extents follow, one for each generation that has rows: n slot headers with their vectors,
// zeros up to a multiple of 4096, n payloads of k bytes, zeros up to a multiple of 4096. So
// payloads are aligned where k is, and a whole generation's place is given back with one hole. A
// slot that was never written is a hole and takes no disk space.
//
// The standing may change long after the row was written, so it has a check of its own: to change
// it takes no reading of the payload, and if that write is torn the row is whole and its standing
// not known. The check covers the row's CRC too, so it fits one row alone, except for rows of equal
// CRC32C, which a sender can make (docs/security.md). Where a power cut undoes some sectors of a
// slot that was used again, the standing of one row may come to stand beside another, for which it
// counts as not known: but for such rows no crash makes a row proven that never was.
//
// The epoch grows with every extent given out. A power cut may bring slots of a dropped generation
// back beside those of the extent's next owner: the highest epoch tells who owns an extent, and
// which of two extents is a generation's.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "client/store/content_store.h"
#include "client/store/files.h"

namespace firn::store {

// Any thread, also at once; slots of one generation must not be used while it is dropped.
class Spool {
 public:
  // Makes the file or scans it: `rows` gets what is whole, but for the generations in `verified`,
  // whose places are free from now on. A file of another content, shape or version counts as empty.
  static Result<std::unique_ptr<Spool>> open(Files& files, const std::string& path,
                                             const Manifest& manifest,
                                             const std::vector<bool>& verified,
                                             std::vector<SpooledRow>& rows);

  Status write(const SpooledRow& row, std::span<const std::uint8_t> payload);
  // The row in this slot is proven now, or is not: nothing is known then of one that counted as
  // proven. Returns whether anything was written: not if there is no row, or it is marked so.
  Result<bool> set_proven(std::uint32_t generation, std::uint32_t slot, bool proven);
  Status read(std::uint32_t generation, std::uint32_t slot,
              std::span<std::uint8_t> payload_out) const;
  Status drop(std::uint32_t generation);
  Status sync();

  // Lets go of the file; all calls fail from now on.
  void close();

 private:
  struct Extent {
    std::uint32_t index = 0;
    std::uint64_t epoch = 0;
  };

  Spool(std::string path, const Manifest& manifest);
  Status prepare(bool& fresh);
  Status scan(const std::vector<bool>& verified, std::vector<SpooledRow>& rows);
  Status clear(std::uint32_t extent_index) const;
  Status altered(Status outcome);
  Status check_payload(const SpooledRow& row, std::span<const std::uint8_t> header,
                       std::uint64_t extent_offset, std::vector<std::uint8_t>& payload,
                       bool& whole) const;
  Result<std::shared_ptr<File>> file() const;

  std::uint64_t slot_header_bytes() const { return 64 + n_; }
  std::uint64_t headers_bytes() const;  // of an extent, with padding
  std::uint64_t extent_bytes() const;
  std::uint64_t extent_offset(std::uint32_t index) const;

  const std::string path_;
  const Manifest& manifest_;
  const std::uint64_t n_;
  const std::uint64_t k_;

  mutable std::mutex mutex_;  // guards what follows; not held during disk operations
  std::shared_ptr<File> file_;
  std::map<std::uint32_t, Extent> extents_;  // by generation
  std::set<std::uint32_t> free_;             // extents below end_ without an owner
  std::uint32_t end_ = 0;
  std::uint64_t next_epoch_ = 1;
  bool dirty_ = false;
};

}  // namespace firn::store
