#include "client/app/medium/row_journal.h"

#include <algorithm>
#include <cstring>

#include "client/store/crc32c.h"
#include "proto/base/little_endian.h"

namespace firn::app {
namespace {

constexpr char kJournalMagic[] = "FIRNROWS";
constexpr std::size_t kMagicBytes = 8, kHeaderBytes = 192, kRecordHead = 24, kCheckBytes = 4;
constexpr std::size_t kLabelAt = kMagicBytes + kIdBytes;
constexpr std::uint32_t kFramesMax = 255;  // in a group

std::vector<std::uint8_t> header_of(const Digest& medium, const medium::Label& label) {
  std::vector<std::uint8_t> header(kHeaderBytes);
  std::memcpy(header.data(), kJournalMagic, kMagicBytes);
  std::memcpy(header.data() + kMagicBytes, medium.bytes.data(), kIdBytes);
  const auto bytes = medium::label_to_bytes(label);
  std::memcpy(header.data() + kLabelAt, bytes.data(), bytes.size());
  return header;
}

// Empty if the file is shorter.
Result<std::vector<std::uint8_t>> read_header(const store::File& file) {
  std::vector<std::uint8_t> header(kHeaderBytes);
  const auto got = file.read_at(0, header);
  if (!got.ok()) return got.error();
  if (*got != kHeaderBytes) header.clear();
  return header;
}

}  // namespace

std::size_t RowJournal::record_bytes(std::uint32_t frames) const {
  return kRecordHead + std::size_t{frames} * (4 + payload_bytes_) + kCheckBytes;
}

Result<std::unique_ptr<RowJournal>> RowJournal::open(store::Files& files, const std::string& path,
                                                     const Digest& medium,
                                                     const medium::Label& label) {
  auto file = files.open(path, store::Files::Open::kCreate);
  if (!file.ok()) return file.error();
  const auto found = read_header(**file);
  if (!found.ok()) return found.error();
  medium::Label named = label;
  named.group = 0;  // that of the copy which was read first
  std::unique_ptr<RowJournal> journal(new RowJournal(*std::move(file), named));
  const auto header = header_of(medium, named);
  Status ready = Done{};
  if (*found == header) {
    ready = journal->replay();
  } else {
    ready = journal->file_->resize(0);
    if (ready.ok()) ready = journal->file_->write_at(0, header);
    journal->end_ = kHeaderBytes;
  }
  if (!ready.ok()) return ready.error();
  return journal;
}

Result<std::unique_ptr<RowJournal>> RowJournal::open_found(store::Files& files,
                                                           const std::string& path) {
  auto file = files.open(path, store::Files::Open::kWrite);
  if (!file.ok()) return file.error();
  const auto header = read_header(**file);
  if (!header.ok()) return header.error();
  std::unique_ptr<RowJournal> journal;
  if (header->empty() || std::memcmp(header->data(), kJournalMagic, kMagicBytes) != 0)
    return journal;
  const auto label =
      medium::label_from_bytes(std::span(*header).subspan(kLabelAt, medium::kLabelBytes));
  if (!label.ok()) return journal;
  journal.reset(new RowJournal(*std::move(file), *label));
  if (const Status replayed = journal->replay(); !replayed.ok()) return replayed.error();
  return journal;
}

Status RowJournal::replay() {
  end_ = kHeaderBytes;
  while (true) {
    const auto more = replay_record();
    if (!more.ok()) return more.error();
    if (!*more) break;
  }
  return file_->resize(end_);
}

Result<bool> RowJournal::replay_record() {
  std::vector<std::uint8_t> record(kRecordHead);
  auto got = file_->read_at(end_, record);
  if (!got.ok()) return got.error();
  if (*got != kRecordHead) return false;
  const auto frames = get_field<std::uint32_t>(record, 0);
  if (frames > kFramesMax) return false;
  record.resize(record_bytes(frames));
  got = file_->read_at(end_, record);
  if (!got.ok()) return got.error();
  if (*got != record.size()) return false;
  const std::size_t covered = record.size() - kCheckBytes;
  if (get_field<std::uint32_t>(record, covered) !=
      store::crc32c(0, std::span(record).first(covered)))
    return false;
  groups_.insert(get_field<std::int64_t>(record, 8));
  lost_ += get_field<std::uint32_t>(record, 4);
  for (std::uint32_t i = 0; i < frames; ++i) {
    const std::size_t at = kRecordHead + std::size_t{i} * (4 + payload_bytes_);
    place_.emplace(get_field<std::uint32_t>(record, at), end_ + at + 4);
  }
  end_ += record.size();
  return true;
}

Status RowJournal::add(std::int64_t mark, const medium::GroupReading& group) {
  const auto frames = static_cast<std::uint32_t>(group.frames.size());
  std::vector<std::uint8_t> record(record_bytes(frames));
  const std::span bytes(record);
  put_field(bytes, 0, frames);
  put_field(bytes, 4, group.lost);
  put_field(bytes, 8, mark);
  for (std::uint32_t i = 0; i < frames; ++i) {
    const std::size_t at = kRecordHead + std::size_t{i} * (4 + payload_bytes_);
    put_field(bytes, at, group.frames[i].place);
    std::memcpy(record.data() + at + 4, group.frames[i].payload.data(), payload_bytes_);
  }
  const std::size_t covered = record.size() - kCheckBytes;
  put_field(bytes, covered, store::crc32c(0, bytes.first(covered)));
  if (Status written = file_->write_at(end_, record); !written.ok()) return written;
  for (std::uint32_t i = 0; i < frames; ++i)
    place_.emplace(group.frames[i].place,
                   end_ + kRecordHead + std::size_t{i} * (4 + payload_bytes_) + 4);
  groups_.insert(mark);
  lost_ += group.lost;
  end_ += record.size();
  return Done{};
}

std::vector<std::uint64_t> RowJournal::places() const {
  std::vector<std::uint64_t> places;
  places.reserve(place_.size());
  for (const auto& [place, offset] : place_) places.push_back(place);
  std::sort(places.begin(), places.end());
  return places;
}

Result<std::optional<std::vector<std::uint8_t>>> RowJournal::payload(std::uint64_t place) const {
  std::optional<std::vector<std::uint8_t>> found;
  const auto at = place_.find(place);
  if (at == place_.end()) return found;
  found.emplace(payload_bytes_);
  const auto got = file_->read_at(at->second, *found);
  if (!got.ok()) return got.error();
  if (*got != payload_bytes_)
    return Error{ErrorCode::kIo, "read the journal of rows", "it became shorter"};
  return found;
}

}  // namespace firn::app
