#include "client/store/journal.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "client/store/crc32c.h"
#include "proto/base/limits.h"
#include "proto/base/little_endian.h"

namespace firn::store {
namespace {

constexpr std::size_t kHeaderBytes = 64;
constexpr std::size_t kRecordBytes = 16;
constexpr std::uint32_t kVersion = 1;
constexpr char kMagic[] = "FIRNJRNL";
constexpr std::size_t kMagicBytes = 8;
constexpr std::uint32_t kVerified = 0x564e4547;  // "GENV"
constexpr std::uint32_t kMark = 0x4b52414d;      // "MARK"
constexpr std::uint32_t kLost = 0x54534f4c;      // "LOST"

// A generation may be recorded again after a repair, and marks come now and then; a journal beyond
// this is not one of ours.
constexpr std::uint64_t kJournalBytesMax =
    kHeaderBytes + 16 * limits::kGenerationCountMax * kRecordBytes;

using Header = std::array<std::uint8_t, kHeaderBytes>;
using Record = std::array<std::uint8_t, kRecordBytes>;

Header make_header(const Manifest& manifest) {
  Header header{};
  std::memcpy(header.data(), kMagic, kMagicBytes);
  put_field<std::uint32_t>(header, 8, kVersion);
  put_field<std::uint32_t>(header, 12, manifest.info.shape.generation_size);
  put_field<std::uint32_t>(header, 16, manifest.info.shape.block_bytes);
  put_field<std::uint32_t>(header, 20, manifest.info.shape.generation_count());
  std::copy(manifest.id.bytes.begin(), manifest.id.bytes.end(), header.begin() + 24);
  put_field<std::uint32_t>(header, 60, crc32c(0, std::span(header).first(60)));
  return header;
}

std::uint32_t record_crc(std::span<const std::uint8_t> record, std::uint64_t number) {
  std::array<std::uint8_t, 8> position;
  put_field<std::uint64_t>(position, 0, number);
  return crc32c(crc32c(0, record.subspan(4, 12)), position);
}

Record make_record(std::uint32_t kind, std::uint64_t value, std::uint64_t number) {
  Record record{};
  put_field<std::uint32_t>(record, 4, kind);
  put_field<std::uint64_t>(record, 8, value);
  put_field<std::uint32_t>(record, 0, record_crc(record, number));
  return record;
}

// nullopt-like: true if the header is whole and ours, false if damaged, an error if foreign.
Result<bool> check_header(std::span<const std::uint8_t> header, const Manifest& manifest,
                          const std::string& path) {
  if (std::memcmp(header.data(), kMagic, kMagicBytes) != 0) return false;
  if (get_field<std::uint32_t>(header, 60) != crc32c(0, header.first(60))) return false;
  const auto version = get_field<std::uint32_t>(header, 8);
  if (version != kVersion) {
    return Error{ErrorCode::kExists, "read " + path,
                 "it was written by another version of firn (format " + std::to_string(version) +
                     ", this one knows " + std::to_string(kVersion) +
                     "); finish the download with that version or remove the folder"};
  }
  const Header wanted = make_header(manifest);
  if (!std::equal(header.begin(), header.end(), wanted.begin())) {
    return Error{ErrorCode::kExists, "read " + path,
                 "it belongs to another content; remove the folder or choose another"};
  }
  return true;
}

}  // namespace

Result<JournalContents> read_journal(Files& files, const std::string& path,
                                     const Manifest& manifest) {
  JournalContents contents;
  Result<std::vector<std::uint8_t>> data = read_whole_file(files, path, kJournalBytesMax);
  if (!data) {
    if (data.error().code == ErrorCode::kNotFound) return contents;
    return data.error();
  }
  const std::span<const std::uint8_t> bytes = *data;
  if (bytes.size() < kHeaderBytes) return contents;
  Result<bool> header = check_header(bytes.first(kHeaderBytes), manifest, files.full_path(path));
  if (!header) return header.error();
  if (!*header) return contents;
  contents.readable = true;

  const std::uint32_t count = manifest.info.shape.generation_count();
  std::uint64_t covered = 0;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> verified;  // record number, generation
  const std::size_t records = (bytes.size() - kHeaderBytes) / kRecordBytes;
  for (std::size_t number = 0; number < records; ++number) {
    const auto record = bytes.subspan(kHeaderBytes + number * kRecordBytes, kRecordBytes);
    if (get_field<std::uint32_t>(record, 0) != record_crc(record, number)) continue;
    const auto kind = get_field<std::uint32_t>(record, 4);
    const auto value = get_field<std::uint64_t>(record, 8);
    if (kind == kMark) covered = std::max(covered, std::min<std::uint64_t>(value, number));
    if ((kind != kVerified && kind != kLost) || value >= count) continue;
    const auto generation = static_cast<std::uint32_t>(value);
    std::erase(contents.lost, generation);
    if (kind == kVerified) {
      verified.emplace_back(number, generation);
    } else {
      std::erase_if(verified, [generation](const auto& v) { return v.second == generation; });
      contents.lost.push_back(generation);
    }
  }
  for (const auto& [number, generation] : verified) {
    (number < covered ? contents.durable : contents.recent).push_back(generation);
  }
  return contents;
}

Result<std::unique_ptr<Journal>> Journal::create(Files& files, const std::string& path,
                                                 const Manifest& manifest,
                                                 std::span<const std::uint32_t> durable) {
  const Header header = make_header(manifest);
  std::vector<std::uint8_t> bytes(header.begin(), header.end());
  std::uint64_t records = 0;
  const auto add = [&](std::uint32_t kind, std::uint64_t value) {
    const Record record = make_record(kind, value, records++);
    bytes.insert(bytes.end(), record.begin(), record.end());
  };
  for (const std::uint32_t generation : durable) add(kVerified, generation);
  if (!durable.empty()) add(kMark, durable.size());
  if (Status s = write_whole_file(files, path, bytes); !s) return s.error();
  Result<std::shared_ptr<File>> file = files.open(path, Files::Open::kWrite);
  if (!file) return file.error();
  std::unique_ptr<Journal> journal(new Journal(*file, files.full_path(path)));
  journal->records_ = records;
  return journal;
}

Status Journal::append(std::uint32_t kind, std::uint64_t value) {
  const Record record = make_record(kind, value, records_);
  if (Status s = file_->write_at(kHeaderBytes + records_ * kRecordBytes, record); !s) return s;
  unsynced_.insert(unsynced_.end(), record.begin(), record.end());
  ++records_;
  return Done{};
}

Status Journal::append_verified(std::uint32_t generation) {
  const std::lock_guard lock(mutex_);
  return append(kVerified, generation);
}

Status Journal::append_lost(std::uint32_t generation) {
  const std::lock_guard lock(mutex_);
  return append(kLost, generation);
}

std::uint64_t Journal::records() const {
  const std::lock_guard lock(mutex_);
  return records_;
}

Status Journal::mark(std::uint64_t covered) {
  std::size_t syncing = 0;
  {
    const std::lock_guard lock(mutex_);
    if (sync_failed_) {
      const std::uint64_t offset = kHeaderBytes + records_ * kRecordBytes - unsynced_.size();
      if (Status s = file_->write_at(offset, unsynced_); !s) return s;
    }
    if (Status s = append(kMark, covered); !s) return s;
    syncing = unsynced_.size();
  }
  Status synced = file_->sync();
  const std::lock_guard lock(mutex_);
  sync_failed_ = !synced.ok();
  if (synced) {
    unsynced_.erase(unsynced_.begin(), unsynced_.begin() + static_cast<std::ptrdiff_t>(syncing));
  }
  return synced;
}

Status Journal::check_present() const {
  Result<FileStat> stat = file_->stat();
  if (!stat) return stat.error();
  if (stat->links == 0) {
    return Error{ErrorCode::kNotFound, "write " + path_, "the file or its folder was removed"};
  }
  return Done{};
}

}  // namespace firn::store
