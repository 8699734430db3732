#include "client/app/medium/medium_file.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "client/store/posix_files.h"
#include "proto/base/digest.h"

namespace firn::app {
namespace {

constexpr std::int64_t kScanBits = 8 << 20;    // read at a time
constexpr std::size_t kDigestBytes = 1 << 20;  // hashed at a time
constexpr std::size_t kWriteBits = 8 << 20;    // written at a time
constexpr std::uint32_t kMediumMode = 0644;
constexpr unsigned kPartsMax = 64;  // of one medium, in work at a time

}  // namespace

Result<std::unique_ptr<MediumInput>> MediumInput::open(const std::string& path) {
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error);
  if (error) return error_from_errno("open " + path, error.value());
  auto files = store::open_posix_files(real.parent_path().string(), false);
  if (!files.ok()) return files.error();
  auto file = (*files)->open(real.filename().string(), store::Files::Open::kRead);
  if (!file.ok()) return file.error();
  const auto stat = (*file)->stat();
  if (!stat.ok()) return stat.error();
  return std::unique_ptr<MediumInput>(new MediumInput(path, *std::move(file), stat->bytes));
}

Result<medium::Bits> MediumInput::read(std::int64_t first, std::int64_t last) const {
  first = std::clamp<std::int64_t>(first, 0, bits_);
  last = std::clamp<std::int64_t>(last, first, bits_);
  const std::int64_t begin = first / 8, end = (last + 7) / 8;
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(end - begin));
  const auto got = file_->read_at(static_cast<std::uint64_t>(begin), bytes);
  if (!got.ok()) return got.error();
  if (*got != bytes.size())
    return Error{ErrorCode::kIo, "read " + path_, "the file became shorter while it was read"};
  medium::Bits bits = medium::unpack(bytes);
  bits.erase(bits.begin(), bits.begin() + (first - 8 * begin));
  bits.resize(static_cast<std::size_t>(last - first));
  return bits;
}

Result<Digest> MediumInput::digest(const std::function<bool()>& cancelled) const {
  Sha256 hash;
  std::vector<std::uint8_t> bytes(kDigestBytes);
  const std::uint64_t end = static_cast<std::uint64_t>(bits_) / 8;
  for (std::uint64_t at = 0; at < end; at += bytes.size()) {
    if (cancelled && cancelled()) return Error{ErrorCode::kCancelled, "read " + path_, "stopped"};
    bytes.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kDigestBytes, end - at)));
    const auto got = file_->read_at(at, bytes);
    if (!got.ok()) return got.error();
    if (*got != bytes.size())
      return Error{ErrorCode::kIo, "read " + path_, "the file became shorter while it was read"};
    hash.update(bytes);
  }
  return hash.finish();
}

Status scan_marks(const MediumInput& input, const medium::Bits& pattern, const MarkScan& scan) {
  medium::MarkFinder finder(pattern);
  for (std::int64_t at = 0; at < input.bits(); at += kScanBits) {
    if (scan.cancelled && scan.cancelled())
      return Error{ErrorCode::kCancelled, "read " + input.path(), "stopped"};
    auto bits = input.read(at, at + kScanBits);
    if (!bits.ok()) return bits.error();
    if (at + kScanBits >= input.bits()) bits->resize(bits->size() + medium::MarkFinder::kReach);
    for (const std::uint8_t bit : *bits) {
      const auto mark = finder.next(bit);
      if (mark && !scan.on_mark(*mark)) return Done{};
    }
    if (scan.progress) scan.progress(std::min(at + kScanBits, input.bits()), input.bits());
  }
  return Done{};
}

Result<std::unique_ptr<MediumOutput>> MediumOutput::open(const std::string& path) {
  std::filesystem::path given(path);
  if (!given.has_filename())
    return Error{ErrorCode::kBadInput, "write " + path, "a medium is a file; give its name"};
  const std::string folder = given.parent_path().empty() ? "." : given.parent_path().string();
  std::unique_ptr<MediumOutput> output(new MediumOutput);
  auto files = store::open_posix_files(folder, false);
  if (!files.ok()) return files.error();
  output->files_ = *std::move(files);
  output->name_ = given.filename().string();
  const auto there = output->files_->stat(output->name_);
  if (!there.ok()) return there.error();
  if (there->kind != store::FileKind::kMissing)
    return Error{ErrorCode::kExists, "write " + path,
                 "something stands there, and media overwrite nothing; move it away"};
  if (const Status begun = output->begin_part(); !begun.ok()) return begun.error();
  return output;
}

// A name whose lock nobody holds: new, or what a process that was killed left, which is begun anew.
Status MediumOutput::begin_part() {
  for (unsigned number = 0; number < kPartsMax; ++number) {
    const std::string part = "." + name_ + ".firn-part" + std::to_string(number);
    auto lock = files_->lock(part);
    if (!lock.ok()) return lock.error();
    if (!*lock) continue;
    lock_ = *std::move(lock);
    part_ = part;
    auto file = files_->open(part, store::Files::Open::kWrite);
    if (!file.ok()) return file.error();
    file_ = *std::move(file);
    return file_->resize(0);
  }
  return Error{ErrorCode::kExists, "write " + files_->full_path(name_),
               "too many processes are writing it"};
}

MediumOutput::~MediumOutput() {
  if (finished_ || !files_ || part_.empty()) return;
  file_.reset();
  (void)files_->remove(part_);
}

Status MediumOutput::put(std::span<const std::uint8_t> bits) {
  packer_.put(bits);
  waiting_ += bits.size();
  return waiting_ < kWriteBits ? Status(Done{}) : write(false);
}

Status MediumOutput::write(bool all) {
  const auto bytes = packer_.take(all);
  waiting_ = 0;
  const Status status = file_->write_at(written_, bytes);
  if (status.ok()) written_ += bytes.size();
  return status;
}

Status MediumOutput::finish() {
  if (Status status = write(true); !status.ok()) return status;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto set = file_->set_attributes(
      kMediumMode, std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
  if (!set.ok()) return set.error();
  if (Status status = file_->sync(); !status.ok()) return status;
  if (Status status = files_->rename(part_, name_, false); !status.ok()) return status;
  finished_ = true;
  return files_->sync_folder("");
}

}  // namespace firn::app
