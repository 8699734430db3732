// What has been read of a medium, kept on disk so that a read that is ended goes on where it was.
//
//   header   "FIRNROWS", 32 bytes that name the medium, its label, zeros up to 192 bytes
//   record   u32 frames, u32 lost, i64 the group's mark (bit), u64 zero,
//            frames times: u32 place, payload
//            u32 check: CRC-32C of the record
//
// Records are appended; a torn one at the end, or one whose check is wrong, ends the journal. One
// thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "client/medium/groups.h"
#include "client/medium/label.h"
#include "client/store/files.h"
#include "proto/base/ids.h"
#include "proto/base/result.h"

namespace firn::app {

class RowJournal {
 public:
  // Opens `path` below `files`, or begins it; one of another medium begins anew. Errors: disk.
  static Result<std::unique_ptr<RowJournal>> open(store::Files& files, const std::string& path,
                                                  const Digest& medium, const medium::Label& label);
  // Opens one that stands there, whatever its medium is. Null if it is none. Errors: disk.
  static Result<std::unique_ptr<RowJournal>> open_found(store::Files& files,
                                                        const std::string& path);

  const medium::Label& label() const { return label_; }

  // Groups, by their mark, that earlier runs read.
  bool has_group(std::int64_t mark) const { return groups_.contains(mark); }
  std::uint64_t frames_lost() const { return lost_; }
  std::uint64_t frames_read() const { return place_.size(); }

  Status add(std::int64_t mark, const medium::GroupReading& group);
  // Of the frames that were read, in order.
  std::vector<std::uint64_t> places() const;
  // The payload of a place, if it was read. Errors: disk.
  Result<std::optional<std::vector<std::uint8_t>>> payload(std::uint64_t place) const;

 private:
  RowJournal(std::shared_ptr<store::File> file, const medium::Label& label)
      : file_(std::move(file)), label_(label), payload_bytes_(label.payload_bytes()) {}
  Status replay();
  Result<bool> replay_record();
  std::size_t record_bytes(std::uint32_t frames) const;

  std::shared_ptr<store::File> file_;
  const medium::Label label_;
  const std::uint32_t payload_bytes_;
  std::uint64_t end_ = 0;
  std::uint64_t lost_ = 0;
  std::set<std::int64_t> groups_;
  std::unordered_map<std::uint64_t, std::uint64_t> place_;  // -> offset of its payload
};

}  // namespace firn::app
