#include "client/store/journal.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "client/store/crc32c.h"
#include "proto/base/little_endian.h"
#include "tests/store/memory_disk.h"
#include "tests/store/sample_content.h"

namespace firn::store::journal_test {
namespace {

using test::MemoryDisk;
using test::Sample;

constexpr std::size_t kHeaderBytes = 64;
constexpr std::size_t kRecordBytes = 16;

const Sample& sample() {
  static const Sample kSample = test::make_sample("s", {{"", 40'000}}, 4, 500);
  return kSample;
}

JournalContents contents_of(MemoryDisk& disk) {
  const auto files = disk.mount();
  Result<JournalContents> contents = read_journal(*files, "journal", sample().manifest);
  REQUIRE(contents.ok());
  return *std::move(contents);
}

// Records 0 and 1: generations 4 and 2, durable by record 2, a mark. Then 3: generation 9,
// 4: generation 1, 5: a mark over the first four records, 6: generation 7.
void write_sample_journal(MemoryDisk& disk) {
  const auto files = disk.mount();
  const std::vector<std::uint32_t> durable{4, 2};
  auto journal = Journal::create(*files, "journal", sample().manifest, durable);
  REQUIRE(journal.ok());
  REQUIRE((*journal)->append_verified(9).ok());
  const std::uint64_t covered = (*journal)->records();
  REQUIRE((*journal)->append_verified(1).ok());
  REQUIRE((*journal)->mark(covered).ok());
  REQUIRE((*journal)->append_verified(7).ok());
}

using Generations = std::vector<std::uint32_t>;

TEST_CASE("a mark vouches for the records that it covers, not for those beside or after it") {
  MemoryDisk disk;
  write_sample_journal(disk);
  const JournalContents contents = contents_of(disk);
  CHECK(contents.readable);
  CHECK(contents.durable == Generations{4, 2, 9});
  CHECK(contents.recent == Generations{1, 7});
}

TEST_CASE("the journal's bytes are those of docs/formats.md") {
  MemoryDisk disk;
  write_sample_journal(disk);
  const std::vector<std::uint8_t> bytes = disk.bytes_of("journal");
  REQUIRE(bytes.size() == kHeaderBytes + 7 * kRecordBytes);
  CHECK(std::memcmp(bytes.data(), "FIRNJRNL", 8) == 0);
  CHECK(get_field<std::uint32_t>(bytes, 8) == 1);
  CHECK(get_field<std::uint32_t>(bytes, 12) == 4);
  CHECK(get_field<std::uint32_t>(bytes, 16) == 500);
  CHECK(get_field<std::uint32_t>(bytes, 20) == 20);
  CHECK(std::equal(bytes.begin() + 24, bytes.begin() + 56, sample().manifest.id.bytes.begin()));
  CHECK(get_field<std::uint32_t>(bytes, 60) == crc32c_portable(0, std::span(bytes).first(60)));
  const auto record = std::span(bytes).subspan(kHeaderBytes + 3 * kRecordBytes, kRecordBytes);
  CHECK(std::memcmp(record.data() + 4, "GENV", 4) == 0);
  CHECK(get_field<std::uint64_t>(record, 8) == 9);
  const std::vector<std::uint8_t> number{3, 0, 0, 0, 0, 0, 0, 0};
  CHECK(get_field<std::uint32_t>(record, 0) ==
        crc32c_portable(crc32c_portable(0, record.subspan(4)), number));
  CHECK(std::memcmp(bytes.data() + kHeaderBytes + 5 * kRecordBytes + 4, "MARK", 4) == 0);
}

TEST_CASE("a journal cut anywhere keeps its whole records") {
  MemoryDisk disk;
  write_sample_journal(disk);
  const std::vector<std::uint8_t> whole = disk.bytes_of("journal");
  const Generations order{4, 2, UINT32_MAX, 9, 1, UINT32_MAX, 7};
  for (std::size_t bytes = 0; bytes <= whole.size(); ++bytes) {
    CAPTURE(bytes);
    disk.put("journal", {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)});
    const JournalContents contents = contents_of(disk);
    CHECK(contents.readable == (bytes >= kHeaderBytes));
    Generations expected;
    for (std::size_t i = 0; kHeaderBytes + (i + 1) * kRecordBytes <= bytes; ++i) {
      if (order[i] != UINT32_MAX) expected.push_back(order[i]);
    }
    Generations found = contents.durable;
    found.insert(found.end(), contents.recent.begin(), contents.recent.end());
    std::sort(found.begin(), found.end());
    std::sort(expected.begin(), expected.end());
    CHECK(found == expected);
  }
}

TEST_CASE("a flipped bit costs its own record and nothing else") {
  MemoryDisk disk;
  write_sample_journal(disk);
  const std::vector<std::uint8_t> whole = disk.bytes_of("journal");
  const Generations order{4, 2, UINT32_MAX, 9, 1, UINT32_MAX, 7};
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    CAPTURE(bit);
    std::vector<std::uint8_t> bytes = whole;
    bytes[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    disk.put("journal", bytes);
    const JournalContents contents = contents_of(disk);
    if (bit / 8 < kHeaderBytes) {
      CHECK_FALSE(contents.readable);
      continue;
    }
    const std::size_t damaged = (bit / 8 - kHeaderBytes) / kRecordBytes;
    Generations expected;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i != damaged && order[i] != UINT32_MAX) expected.push_back(order[i]);
    }
    Generations found = contents.durable;
    found.insert(found.end(), contents.recent.begin(), contents.recent.end());
    std::sort(found.begin(), found.end());
    std::sort(expected.begin(), expected.end());
    CHECK(found == expected);
    CHECK(std::find(contents.durable.begin(), contents.durable.end(), 7) == contents.durable.end());
  }
}

TEST_CASE("a loss takes back what was said before it, and is taken back by what comes after") {
  MemoryDisk disk;
  const auto files = disk.mount();
  auto journal = Journal::create(*files, "journal", sample().manifest, Generations{1, 2, 3});
  REQUIRE(journal.ok());
  REQUIRE((*journal)->append_verified(4).ok());
  REQUIRE((*journal)->append_lost(2).ok());
  REQUIRE((*journal)->append_lost(4).ok());
  REQUIRE((*journal)->append_lost(3).ok());
  REQUIRE((*journal)->append_verified(3).ok());
  JournalContents contents = contents_of(disk);
  CHECK(contents.durable == Generations{1});
  CHECK(contents.recent == Generations{3});
  CHECK(contents.lost == Generations{2, 4});
  REQUIRE((*journal)->mark((*journal)->records()).ok());
  contents = contents_of(disk);
  CHECK(contents.durable == Generations{1, 3});
  CHECK(contents.lost == Generations{2, 4});
}

TEST_CASE("rubbish after the last record does no harm") {
  MemoryDisk disk;
  write_sample_journal(disk);
  std::vector<std::uint8_t> bytes = disk.bytes_of("journal");
  // A record of the same journal, but not at its place: the number in its CRC is another.
  const std::vector<std::uint8_t> copy(bytes.begin() + kHeaderBytes,
                                       bytes.begin() + kHeaderBytes + kRecordBytes);
  bytes.insert(bytes.end(), copy.begin(), copy.end());
  bytes.insert(bytes.end(), 100, 0xa5);
  disk.put("journal", bytes);
  CHECK(contents_of(disk).durable.size() + contents_of(disk).recent.size() == 5);
}

TEST_CASE("journals of another content or version are refused with the reason") {
  MemoryDisk disk;
  write_sample_journal(disk);
  const auto files = disk.mount();
  const Sample other = test::make_sample("s", {{"", 40'000}}, 4, 500, 2);
  const Result<JournalContents> foreign = read_journal(*files, "journal", other.manifest);
  REQUIRE_FALSE(foreign.ok());
  CHECK(foreign.error().code == ErrorCode::kExists);
  CHECK(foreign.error().message().find("another content") != std::string::npos);

  std::vector<std::uint8_t> bytes = disk.bytes_of("journal");
  put_field<std::uint32_t>(bytes, 8, 2);
  put_field<std::uint32_t>(bytes, 60, crc32c(0, std::span(bytes).first(60)));
  disk.put("journal", bytes);
  const Result<JournalContents> newer = read_journal(*files, "journal", sample().manifest);
  REQUIRE_FALSE(newer.ok());
  CHECK(newer.error().code == ErrorCode::kExists);
  CHECK(newer.error().message().find("format 2") != std::string::npos);
}

TEST_CASE("a missing journal is empty, not an error") {
  MemoryDisk disk;
  const JournalContents contents = contents_of(disk);
  CHECK_FALSE(contents.readable);
  CHECK(contents.durable.empty());
}

}  // namespace
}  // namespace firn::store::journal_test
