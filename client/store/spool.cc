#include "client/store/spool.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "client/store/crc32c.h"
#include "proto/base/little_endian.h"

namespace firn::store {
namespace {

constexpr std::size_t kAlignment = 4096;
constexpr std::size_t kFileHeaderBytes = 4096;
constexpr std::size_t kFileHeaderUsed = 56;
constexpr std::size_t kSlotFieldsBytes = 64;
constexpr std::size_t kStandingAt = 56, kStandingBytes = 8, kStandingCheckAt = 60;
constexpr std::uint32_t kVersion = 1;
constexpr char kMagic[] = "FIRNSPOL";
constexpr std::size_t kMagicBytes = 8;
constexpr std::uint32_t kSlotMagic = 0x53574f52;     // "ROWS"
constexpr std::uint32_t kAnsweredWord = 0x57534e41;  // "ANSW"
constexpr std::uint32_t kProvenWord = 0x564f5250;    // "PROV"

constexpr std::uint64_t kEpochEnd = std::uint64_t{1} << 63;  // never reached by counting

std::uint64_t align_up(std::uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::vector<std::uint8_t> make_file_header(const Manifest& manifest) {
  std::vector<std::uint8_t> header(kFileHeaderBytes);
  std::memcpy(header.data(), kMagic, kMagicBytes);
  put_field<std::uint32_t>(header, 8, kVersion);
  put_field<std::uint32_t>(header, 12, manifest.info.shape.generation_size);
  put_field<std::uint32_t>(header, 16, manifest.info.shape.block_bytes);
  std::copy(manifest.id.bytes.begin(), manifest.id.bytes.end(), header.begin() + 20);
  put_field<std::uint32_t>(header, 52, crc32c(0, std::span(header).first(52)));
  return header;
}

// Fields, vector and zeros up to n coefficients; without the CRC and the standing.
std::vector<std::uint8_t> make_slot_header(const SpooledRow& row, std::uint64_t epoch,
                                           std::size_t header_bytes) {
  std::vector<std::uint8_t> header(header_bytes);
  put_field<std::uint32_t>(header, 0, kSlotMagic);
  put_field<std::uint32_t>(header, 8, row.generation);
  put_field<std::uint32_t>(header, 12, row.slot);
  put_field<std::uint64_t>(header, 16, epoch);
  std::copy(row.sender.bytes.begin(), row.sender.bytes.end(), header.begin() + 24);
  std::copy(row.vector.begin(), row.vector.end(), header.begin() + kSlotFieldsBytes);
  return header;
}

std::uint32_t slot_crc(std::span<const std::uint8_t> header,
                       std::span<const std::uint8_t> payload) {
  constexpr std::uint8_t kNoStanding[kStandingBytes] = {};
  const std::uint32_t fields = crc32c(crc32c(0, header.first(kStandingAt).subspan(8)), kNoStanding);
  return crc32c(crc32c(fields, header.subspan(kSlotFieldsBytes)), payload);
}

// The row's CRC must be there already, and zeros in the place of the standing.
void put_standing(std::span<std::uint8_t> header, Standing standing) {
  if (standing == Standing::kNotKnown) return;
  put_field<std::uint32_t>(header, kStandingAt,
                           standing == Standing::kProven ? kProvenWord : kAnsweredWord);
  put_field<std::uint32_t>(header, kStandingCheckAt, crc32c(0, header.first(kStandingCheckAt)));
}

Standing get_standing(std::span<const std::uint8_t> header) {
  const auto check = get_field<std::uint32_t>(header, kStandingCheckAt);
  if (check != crc32c(0, header.first(kStandingCheckAt))) return Standing::kNotKnown;
  const auto word = get_field<std::uint32_t>(header, kStandingAt);
  if (word == kProvenWord) return Standing::kProven;
  return word == kAnsweredWord ? Standing::kAnswered : Standing::kNotKnown;
}

bool has_magic(std::span<const std::uint8_t> header) {
  return get_field<std::uint32_t>(header, 0) == kSlotMagic;
}

SpooledRow parse_slot_header(std::span<const std::uint8_t> header) {
  SpooledRow row;
  row.generation = get_field<std::uint32_t>(header, 8);
  row.slot = get_field<std::uint32_t>(header, 12);
  std::copy_n(header.begin() + 24, kIdBytes, row.sender.bytes.begin());
  row.vector.assign(header.begin() + kSlotFieldsBytes, header.end());
  row.standing = get_standing(header);
  return row;
}

std::uint64_t slot_epoch(std::span<const std::uint8_t> header) {
  return get_field<std::uint64_t>(header, 16);
}

Error missing_row(const std::string& path, std::uint32_t generation, std::uint32_t slot,
                  ErrorCode code, std::string why) {
  return {code,
          "read slot " + std::to_string(slot) + " of generation " + std::to_string(generation) +
              " in " + path,
          std::move(why)};
}

}  // namespace

Spool::Spool(std::string path, const Manifest& manifest)
    : path_(std::move(path)),
      manifest_(manifest),
      n_(manifest.info.shape.generation_size),
      k_(manifest.info.shape.block_bytes) {}

std::uint64_t Spool::headers_bytes() const {
  return align_up(n_ * slot_header_bytes());
}
std::uint64_t Spool::extent_bytes() const {
  return headers_bytes() + align_up(n_ * k_);
}
std::uint64_t Spool::extent_offset(std::uint32_t index) const {
  return kFileHeaderBytes + index * extent_bytes();
}

Result<std::unique_ptr<Spool>> Spool::open(Files& files, const std::string& path,
                                           const Manifest& manifest,
                                           const std::vector<bool>& verified,
                                           std::vector<SpooledRow>& rows) {
  std::unique_ptr<Spool> spool(new Spool(files.full_path(path), manifest));
  Result<std::shared_ptr<File>> file = files.open(path, Files::Open::kCreate);
  if (!file) return file.error();
  spool->file_ = *file;
  bool fresh = false;
  if (Status s = spool->prepare(fresh); !s) return s.error();
  if (!fresh) {
    if (Status s = spool->scan(verified, rows); !s) return s.error();
  }
  return spool;
}

Status Spool::prepare(bool& fresh) {
  const std::vector<std::uint8_t> wanted = make_file_header(manifest_);
  std::vector<std::uint8_t> found(kFileHeaderUsed);
  Result<std::size_t> got = file_->read_at(0, found);
  if (!got) return got.error();
  fresh = *got < found.size() || !std::equal(found.begin(), found.end(), wanted.begin());
  if (!fresh) return Done{};
  if (Status s = file_->resize(0); !s) return s;
  return file_->write_at(0, wanted);
}

Status Spool::scan(const std::vector<bool>& verified, std::vector<SpooledRow>& rows) {
  Result<FileStat> stat = file_->stat();
  if (!stat) return stat.error();
  const std::uint64_t data_bytes =
      stat->bytes - std::min<std::uint64_t>(stat->bytes, kFileHeaderBytes);
  end_ = static_cast<std::uint32_t>((data_bytes + extent_bytes() - 1) / extent_bytes());
  std::vector<std::uint8_t> headers(n_ * slot_header_bytes());
  std::vector<std::uint8_t> payload(k_);
  std::map<std::uint32_t, std::vector<SpooledRow>> found;  // by generation
  std::set<std::uint32_t> stale;

  for (std::uint32_t index = 0; index < end_; ++index) {
    std::fill(headers.begin(), headers.end(), std::uint8_t{0});
    if (Result<std::size_t> got = file_->read_at(extent_offset(index), headers); !got) {
      return got.error();
    }
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::vector<SpooledRow>> owners;
    bool marks = false;  // anything that looks like a slot, whole or torn
    for (std::uint64_t slot = 0; slot < n_; ++slot) {
      const auto header = std::span<const std::uint8_t>(headers).subspan(slot * slot_header_bytes(),
                                                                         slot_header_bytes());
      if (!has_magic(header)) continue;
      marks = true;
      SpooledRow row = parse_slot_header(header);
      if (row.slot != slot || row.generation >= verified.size()) continue;
      // Not proven by the CRC yet, and need not be: a number too high does no harm.
      const std::uint64_t epoch = slot_epoch(header);
      if (epoch < kEpochEnd) next_epoch_ = std::max(next_epoch_, epoch + 1);
      if (verified[row.generation]) continue;
      const std::uint32_t blocks = manifest_.info.shape.blocks_in(row.generation);
      if (row.slot >= blocks) continue;
      row.vector.resize(blocks);
      bool whole = false;
      if (Status s = check_payload(row, header, extent_offset(index), payload, whole); !s) return s;
      if (whole) owners[{epoch, row.generation}].push_back(std::move(row));
    }
    if (owners.empty()) {
      (marks ? stale : free_).insert(index);
      continue;
    }
    auto& [owner, owner_rows] = *owners.rbegin();
    const auto [epoch, generation] = owner;
    const auto other = extents_.find(generation);
    if (other != extents_.end() && other->second.epoch > epoch) {
      stale.insert(index);
      continue;
    }
    if (other != extents_.end()) stale.insert(other->second.index);
    extents_[generation] = {index, epoch};
    found[generation] = std::move(owner_rows);
  }
  for (const std::uint32_t index : stale) {
    if (Status s = clear(index); !s) return s;
    free_.insert(index);
  }
  for (auto& [generation, generation_rows] : found) {
    std::move(generation_rows.begin(), generation_rows.end(), std::back_inserter(rows));
  }
  return Done{};
}

Status Spool::check_payload(const SpooledRow& row, std::span<const std::uint8_t> header,
                            std::uint64_t extent_offset, std::vector<std::uint8_t>& payload,
                            bool& whole) const {
  Result<std::size_t> got =
      file_->read_at(extent_offset + headers_bytes() + row.slot * k_, payload);
  if (!got) return got.error();
  whole = *got == k_ && get_field<std::uint32_t>(header, 4) == slot_crc(header, payload);
  return Done{};
}

Status Spool::clear(std::uint32_t extent_index) const {
  const std::uint64_t offset = extent_offset(extent_index);
  Result<bool> punched = file_->punch_hole(offset, extent_bytes());
  if (!punched) return punched.error();
  if (*punched) return Done{};
  // No holes on this file system: slots without a magic are missing slots.
  return file_->write_at(offset, std::vector<std::uint8_t>(n_ * slot_header_bytes()));
}

Result<std::shared_ptr<File>> Spool::file() const {
  const std::lock_guard lock(mutex_);
  if (file_ != nullptr) return file_;
  return Error{ErrorCode::kInternal, "use " + path_, "the download is finished"};
}

Status Spool::write(const SpooledRow& row, std::span<const std::uint8_t> payload) {
  FIRN_CHECK(row.generation < manifest_.info.shape.generation_count());
  FIRN_CHECK(row.vector.size() == manifest_.info.shape.blocks_in(row.generation));
  FIRN_CHECK(row.slot < row.vector.size() && payload.size() == k_);
  Result<std::shared_ptr<File>> file = this->file();
  if (!file) return file.error();
  Extent extent;
  {
    const std::lock_guard lock(mutex_);
    const auto found = extents_.find(row.generation);
    if (found != extents_.end()) {
      extent = found->second;
    } else {
      extent.index = free_.empty() ? end_++ : free_.extract(free_.begin()).value();
      extent.epoch = next_epoch_++;
      extents_[row.generation] = extent;
    }
  }
  std::vector<std::uint8_t> header = make_slot_header(row, extent.epoch, slot_header_bytes());
  put_field<std::uint32_t>(header, 4, slot_crc(header, payload));
  put_standing(header, row.standing);
  // A slot counts once its header and payload fit together, in whatever order they arrive.
  const std::uint64_t offset = extent_offset(extent.index);
  Status written = (*file)->write_at(offset + headers_bytes() + row.slot * k_, payload);
  if (written.ok()) written = (*file)->write_at(offset + row.slot * slot_header_bytes(), header);
  return altered(written);
}

// Only now: a sync while it was being written may have kept nothing of it. Also after a failure,
// which may have written some of it.
Status Spool::altered(Status outcome) {
  const std::lock_guard lock(mutex_);
  dirty_ = true;
  return outcome;
}

// Eight bytes. What they say is bound to the header that was read, whatever else becomes of it.
Result<bool> Spool::set_proven(std::uint32_t generation, std::uint32_t slot, bool proven) {
  FIRN_CHECK(slot < n_);
  Result<std::shared_ptr<File>> file = this->file();
  if (!file) return file.error();
  Extent extent;
  {
    const std::lock_guard lock(mutex_);
    const auto found = extents_.find(generation);
    if (found == extents_.end()) return false;
    extent = found->second;
  }
  const std::uint64_t offset = extent_offset(extent.index) + slot * slot_header_bytes();
  std::array<std::uint8_t, kSlotFieldsBytes> header{};
  Result<std::size_t> got = (*file)->read_at(offset, header);
  if (!got) return got.error();
  if (*got < header.size() || !has_magic(header) || slot_epoch(header) != extent.epoch)
    return false;
  if ((get_standing(header) == Standing::kProven) == proven) return false;
  const auto standing = std::span(header).last(kStandingBytes);
  std::ranges::fill(standing, std::uint8_t{0});
  put_standing(header, proven ? Standing::kProven : Standing::kNotKnown);
  const Status written = altered((*file)->write_at(offset + kStandingAt, standing));
  if (!written) return written.error();
  return true;
}

Status Spool::read(std::uint32_t generation, std::uint32_t slot,
                   std::span<std::uint8_t> payload_out) const {
  FIRN_CHECK(slot < n_ && payload_out.size() == k_);
  Result<std::shared_ptr<File>> file = this->file();
  if (!file) return file.error();
  std::uint64_t offset = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = extents_.find(generation);
    if (found == extents_.end()) {
      return missing_row(path_, generation, slot, ErrorCode::kNotFound, "no such slot");
    }
    offset = extent_offset(found->second.index);
  }
  std::vector<std::uint8_t> header(slot_header_bytes());
  Result<std::size_t> got = (*file)->read_at(offset + slot * slot_header_bytes(), header);
  if (!got) return got.error();
  if (*got < header.size() || !has_magic(header)) {
    return missing_row(path_, generation, slot, ErrorCode::kNotFound, "no such slot");
  }
  got = (*file)->read_at(offset + headers_bytes() + slot * k_, payload_out);
  if (!got) return got.error();
  const SpooledRow row = parse_slot_header(header);
  if (*got < k_ || row.generation != generation || row.slot != slot ||
      get_field<std::uint32_t>(header, 4) != slot_crc(header, payload_out)) {
    return missing_row(path_, generation, slot, ErrorCode::kCorrupt, "its bytes were changed");
  }
  return Done{};
}

Status Spool::drop(std::uint32_t generation) {
  Result<std::shared_ptr<File>> file = this->file();
  if (!file) return file.error();
  Extent extent;
  {
    const std::lock_guard lock(mutex_);
    const auto found = extents_.find(generation);
    if (found == extents_.end()) return Done{};
    extent = found->second;
  }
  if (Status s = altered(clear(extent.index)); !s) return s;
  const std::lock_guard lock(mutex_);
  extents_.erase(generation);
  free_.insert(extent.index);
  return Done{};
}

Status Spool::sync() {
  Result<std::shared_ptr<File>> file = this->file();
  if (!file) return file.error();
  {
    const std::lock_guard lock(mutex_);
    if (!dirty_) return Done{};
    dirty_ = false;
  }
  if (Status s = (*file)->sync(); !s) {
    const std::lock_guard lock(mutex_);
    dirty_ = true;
    return s;
  }
  return Done{};
}

void Spool::close() {
  const std::lock_guard lock(mutex_);
  file_.reset();
}

}  // namespace firn::store
