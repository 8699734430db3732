// Medium files: bits packed as client/medium/bits.h says, and nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "client/medium/bits.h"
#include "client/medium/mark.h"
#include "client/store/files.h"
#include "proto/base/ids.h"
#include "proto/base/result.h"

namespace firn::app {

// A medium that is read. Any thread.
class MediumInput {
 public:
  // Errors: kNotFound, kExists (it is no file) and others as errno says.
  static Result<std::unique_ptr<MediumInput>> open(const std::string& path);

  const std::string& path() const { return path_; }
  std::int64_t bits() const { return bits_; }
  // The bits from `first` to `last`, as far as there are any. Errors: kIo.
  Result<medium::Bits> read(std::int64_t first, std::int64_t last) const;
  // SHA-256 of the whole file; `cancelled` may be empty. Errors: kIo, kCancelled.
  Result<Digest> digest(const std::function<bool()>& cancelled) const;

 private:
  MediumInput(std::string path, std::shared_ptr<store::File> file, std::uint64_t bytes)
      : path_(std::move(path)),
        file_(std::move(file)),
        bits_(static_cast<std::int64_t>(bytes) * 8) {}

  std::string path_;
  std::shared_ptr<store::File> file_;
  std::int64_t bits_;
};

// Reads the medium from one end to the other and tells each mark; on_mark returns whether to go on.
// `progress` (bits) may be empty. Errors: kIo, kCancelled.
struct MarkScan {
  std::function<bool(const medium::FoundMark& mark)> on_mark;
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};
  std::function<bool()> cancelled = {};
};
Status scan_marks(const MediumInput& input, const medium::Bits& pattern, const MarkScan& scan);

// A medium that is written: beside its name, and under it when it is whole. What stands there is
// never overwritten. Processes that write the same medium do not disturb each other: each has a
// file of its own, and the first that is done gets the name.
class MediumOutput {
 public:
  // Errors: kExists (something stands at `path`), kNotFound (no such folder), others.
  static Result<std::unique_ptr<MediumOutput>> open(const std::string& path);
  // What is not finished is removed.
  ~MediumOutput();

  Status put(std::span<const std::uint8_t> bits);
  // The rest durable, under its name. Errors: kExists (another process was first), disk.
  Status finish();
  std::uint64_t bytes() const { return written_; }

 private:
  MediumOutput() = default;
  Status begin_part();
  Status write(bool all);

  std::unique_ptr<store::Files> files_;
  std::unique_ptr<store::Lock> lock_;  // of the part, while this process lives
  std::shared_ptr<store::File> file_;
  std::string name_, part_;
  medium::BitPacker packer_;
  std::uint64_t written_ = 0;
  std::size_t waiting_ = 0;  // bits in the packer
  bool finished_ = false;
};

}  // namespace firn::app
