#include "client/store/spool.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <random>
#include <set>

#include "client/store/crc32c.h"
#include "client/store/posix_files.h"
#include "proto/base/little_endian.h"
#include "tests/store/memory_disk.h"
#include "tests/store/sample_content.h"

namespace firn::store::spool_test {
namespace {

using test::MemoryDisk;
using test::Sample;

constexpr std::uint64_t kN = 4;
constexpr std::uint64_t kK = 600;
constexpr std::uint64_t kFileHeader = 4096;
constexpr std::uint64_t kSlotHeader = 64 + kN;
constexpr std::uint64_t kStanding = 56;         // in a slot header
constexpr std::uint64_t kExtent = 4096 + 4096;  // headers, payloads

const Sample& sample() {
  static const Sample kSample = test::make_sample("s", {{"", 20 * kN * kK}}, kN, kK);
  return kSample;
}

using Slot = std::pair<std::uint32_t, std::uint32_t>;

std::unique_ptr<Spool> open_spool(Files& files, std::vector<SpooledRow>& rows,
                                  std::vector<bool> verified = std::vector<bool>(20, false)) {
  rows.clear();
  auto spool = Spool::open(files, "spool", sample().manifest, verified, rows);
  REQUIRE_MESSAGE(spool.ok(), (spool ? "" : spool.error().message()));
  return *std::move(spool);
}

void write(Spool& spool, std::uint32_t generation, std::uint32_t slot) {
  const auto [row, payload] = test::sample_row(sample(), generation, slot);
  REQUIRE(spool.write(row, payload).ok());
}

// The slots found, each checked to hold exactly what was written.
std::set<Slot> slots_of(const Spool& spool, const std::vector<SpooledRow>& rows) {
  std::set<Slot> slots;
  for (const SpooledRow& found : rows) {
    const auto [row, payload] = test::sample_row(sample(), found.generation, found.slot);
    CHECK(found.vector == row.vector);
    CHECK(found.sender == row.sender);
    CHECK(found.standing == row.standing);
    std::vector<std::uint8_t> kept(kK);
    REQUIRE(spool.read(found.generation, found.slot, kept).ok());
    CHECK(kept == payload);
    CHECK(slots.insert({found.generation, found.slot}).second);
  }
  return slots;
}

TEST_CASE("rows come back after reopening, but for verified generations") {
  MemoryDisk disk;
  const auto files = disk.mount();
  std::vector<SpooledRow> rows;
  auto spool = open_spool(*files, rows);
  CHECK(rows.empty());
  for (const Slot& slot : {Slot{3, 1}, {3, 0}, {17, 3}, {5, 2}}) {
    write(*spool, slot.first, slot.second);
  }
  spool = open_spool(*files, rows);
  CHECK(slots_of(*spool, rows) == std::set<Slot>{{3, 0}, {3, 1}, {5, 2}, {17, 3}});
  std::vector<bool> verified(20, false);
  verified[3] = true;
  spool = open_spool(*files, rows, verified);
  CHECK(slots_of(*spool, rows) == std::set<Slot>{{5, 2}, {17, 3}});
  // Their place is used again: the file does not grow.
  const std::size_t bytes = disk.bytes_of("spool").size();
  write(*spool, 9, 0);
  CHECK(disk.bytes_of("spool").size() <= bytes);
}

TEST_CASE("a slot written again holds the later row") {
  MemoryDisk disk;
  const auto files = disk.mount();
  std::vector<SpooledRow> rows;
  const auto spool = open_spool(*files, rows);
  write(*spool, 1, 0);
  auto [row, payload] = test::sample_row(sample(), 2, 3);
  row.generation = 1;
  row.slot = 0;
  REQUIRE(spool->write(row, payload).ok());
  std::vector<std::uint8_t> kept(kK);
  REQUIRE(spool->read(1, 0, kept).ok());
  CHECK(kept == payload);
}

TEST_CASE("slots that were never written or were dropped are not found") {
  MemoryDisk disk;
  const auto files = disk.mount();
  std::vector<SpooledRow> rows;
  auto spool = open_spool(*files, rows);
  std::vector<std::uint8_t> kept(kK);
  CHECK(spool->read(1, 0, kept).error().code == ErrorCode::kNotFound);
  write(*spool, 1, 0);
  CHECK(spool->read(1, 1, kept).error().code == ErrorCode::kNotFound);
  REQUIRE(spool->drop(1).ok());
  REQUIRE(spool->drop(1).ok());
  CHECK(spool->read(1, 0, kept).error().code == ErrorCode::kNotFound);
  spool = open_spool(*files, rows);
  CHECK(rows.empty());
}

TEST_CASE("damage anywhere in a slot costs that slot alone") {
  MemoryDisk disk;
  const auto files = disk.mount();
  std::vector<SpooledRow> rows;
  auto spool = open_spool(*files, rows);
  for (std::uint32_t slot = 0; slot < kN; ++slot) write(*spool, 6, slot);
  const std::vector<std::uint8_t> whole = disk.bytes_of("spool");
  const std::uint64_t header = kFileHeader + 2 * kSlotHeader;
  const std::uint64_t payload = kFileHeader + 4096 + 2 * kK;
  std::vector<std::uint64_t> places;
  for (std::uint64_t i = 0; i < kSlotHeader; ++i) {
    if (i < kStanding || i >= kStanding + 8) places.push_back(header + i);
  }
  for (std::uint64_t i = 0; i < kK; i += 7) places.push_back(payload + i);
  places.push_back(payload + kK - 1);
  for (const std::uint64_t place : places) {
    CAPTURE(place);
    disk.put("spool", whole);
    disk.damage("spool", place, 0x10);
    spool = open_spool(*files, rows);
    CHECK(slots_of(*spool, rows) == std::set<Slot>{{6, 0}, {6, 1}, {6, 3}});
    write(*spool, 6, 2);
    spool = open_spool(*files, rows);
    CHECK(rows.size() == kN);
  }
}

namespace {

// The row in slot 2 of generation 6, with this standing; `lie` is another in the same place.
void write_with(Spool& spool, Standing standing, bool lie = false) {
  auto [row, payload] = test::sample_row(sample(), 6, 2);
  row.standing = standing;
  payload[9] ^= lie ? 1 : 0;
  REQUIRE(spool.write(row, payload).ok());
}

// The standing that a later run finds with the row that write_with wrote.
Standing reopened(Files& files) {
  std::vector<SpooledRow> rows;
  const auto spool = open_spool(files, rows);
  REQUIRE(rows.size() == 1);
  std::vector<std::uint8_t> kept(kK);
  REQUIRE(spool->read(6, 2, kept).ok());
  return rows[0].standing;
}

bool wrote(const Result<bool>& marked) {
  REQUIRE(marked.ok());
  return *marked;
}

constexpr std::uint64_t kHeaderAt = kFileHeader + 2 * kSlotHeader;

}  // namespace

TEST_CASE("a row's standing comes back, and it may be proven after it was written") {
  for (const Standing standing : {Standing::kNotKnown, Standing::kAnswered, Standing::kProven}) {
    MemoryDisk disk;
    const auto files = disk.mount();
    std::vector<SpooledRow> rows;
    const auto spool = open_spool(*files, rows);
    write_with(*spool, standing);
    CHECK(reopened(*files) == standing);
    const std::uint64_t before = disk.bytes_written();
    const bool to_write = standing != Standing::kProven;
    CHECK(wrote(spool->set_proven(6, 2, true)) == to_write);
    CHECK(disk.bytes_written() == before + (to_write ? 8 : 0));
    CHECK(reopened(*files) == Standing::kProven);
    write_with(*spool, standing, true);
    CHECK(reopened(*files) == standing);
    // Nor is there anything to mark where no row is.
    const std::vector<std::uint8_t> bytes = disk.bytes_of("spool");
    CHECK_FALSE(wrote(spool->set_proven(6, 1, true)));
    CHECK_FALSE(wrote(spool->set_proven(7, 2, true)));
    CHECK(disk.bytes_of("spool") == bytes);
  }
}

TEST_CASE(
    "a row that counted as proven may be doubted, and proven again; others stay as they are") {
  for (const Standing standing : {Standing::kNotKnown, Standing::kAnswered, Standing::kProven}) {
    MemoryDisk disk;
    const auto files = disk.mount();
    std::vector<SpooledRow> rows;
    const auto spool = open_spool(*files, rows);
    write_with(*spool, standing);
    const bool was_proven = standing == Standing::kProven;
    CHECK(wrote(spool->set_proven(6, 2, false)) == was_proven);
    CHECK(reopened(*files) == (was_proven ? Standing::kNotKnown : standing));
    if (was_proven) {  // the bytes of a row of which nothing was ever known
      const std::vector<std::uint8_t> doubted = disk.bytes_of("spool");
      write_with(*spool, Standing::kNotKnown);
      CHECK(disk.bytes_of("spool") == doubted);
    }
    CHECK_FALSE(wrote(spool->set_proven(6, 2, false)));
    CHECK(wrote(spool->set_proven(6, 2, true)));
    CHECK(reopened(*files) == Standing::kProven);
    CHECK_FALSE(wrote(spool->set_proven(6, 1, false)));
    CHECK_FALSE(wrote(spool->set_proven(7, 2, false)));
  }
}

TEST_CASE("a power cut after the next sync does not undo a doubt") {
  for (std::uint64_t loss = 0; loss < 16; ++loss) {
    CAPTURE(loss);
    MemoryDisk disk;
    const auto files = disk.mount();
    std::vector<SpooledRow> rows;
    const auto spool = open_spool(*files, rows);
    write_with(*spool, Standing::kProven);
    REQUIRE((spool->sync().ok() && files->sync_folder("").ok()));
    CHECK(wrote(spool->set_proven(6, 2, false)));
    REQUIRE(spool->sync().ok());
    disk.cut_power_and_restart(loss);
    CHECK(reopened(*disk.mount()) == Standing::kNotKnown);
  }
}

TEST_CASE("what is written while another thread syncs is kept by the sync after it") {
  for (std::uint64_t loss = 0; loss < 16; ++loss) {
    CAPTURE(loss);
    MemoryDisk disk;
    disk.allow_holes(false);  // dropping writes, too
    const auto files = disk.mount();
    std::vector<SpooledRow> rows;
    const auto spool = open_spool(*files, rows);
    REQUIRE(files->sync_folder("").ok());
    const auto beside_a_sync = [&](const auto& act) {
      disk.before_writes([&] { REQUIRE(spool->sync().ok()); });
      act();
      disk.before_writes([] {});
      REQUIRE(spool->sync().ok());
      disk.cut_power_and_restart(loss);
      return slots_of(*open_spool(*disk.mount(), rows), rows);
    };
    CHECK(beside_a_sync([&] { write(*spool, 6, 2); }) == std::set<Slot>{{6, 2}});
    CHECK(beside_a_sync([&] { REQUIRE(spool->drop(6).ok()); }).empty());
  }
}

TEST_CASE("slots without a standing are as in files of before, and of such rows none is known") {
  for (const bool proven : {false, true}) {
    MemoryDisk disk;
    const auto files = disk.mount();
    std::vector<SpooledRow> rows;
    const auto spool = open_spool(*files, rows);
    write_with(*spool, proven ? Standing::kProven : Standing::kNotKnown);
    std::vector<std::uint8_t> bytes = disk.bytes_of("spool");
    const auto at = [&](std::uint64_t offset, std::uint64_t count) {
      return std::span(bytes).subspan(offset, count);
    };
    std::ranges::fill(at(kHeaderAt + kStanding, 8), std::uint8_t{0});
    const std::uint32_t crc =
        crc32c(crc32c(0, at(kHeaderAt + 8, kSlotHeader - 8)), at(kFileHeader + 4096 + 2 * kK, kK));
    CHECK(get_field<std::uint32_t>(at(kHeaderAt, 8), 4) == crc);
    disk.put("spool", bytes);
    CHECK(reopened(*files) == Standing::kNotKnown);
  }
}

TEST_CASE("a torn or damaged standing costs no row, and proves none") {
  for (const Standing standing : {Standing::kNotKnown, Standing::kAnswered}) {
    MemoryDisk disk;
    const auto files = disk.mount();
    std::vector<SpooledRow> rows;
    const auto spool = open_spool(*files, rows);
    write_with(*spool, standing);
    const std::vector<std::uint8_t> before = disk.bytes_of("spool");
    REQUIRE(wrote(spool->set_proven(6, 2, true)));
    const std::vector<std::uint8_t> after = disk.bytes_of("spool");
    for (unsigned written = 0; written < 256; ++written) {
      CAPTURE(written);
      std::vector<std::uint8_t> torn = before;
      for (std::uint64_t i = 0; i < 8; ++i) {
        const std::uint64_t place = kHeaderAt + kStanding + i;
        if (written >> i & 1) torn[place] = after[place];
      }
      disk.put("spool", torn);
      CHECK(reopened(*files) == (torn == after    ? Standing::kProven
                                 : torn == before ? standing
                                                  : Standing::kNotKnown));
    }
    for (unsigned bit = 0; bit < 64; ++bit) {
      disk.put("spool", after);
      disk.damage("spool", kHeaderAt + kStanding + bit / 8,
                  static_cast<std::uint8_t>(1 << (bit % 8)));
      CHECK(reopened(*files) == Standing::kNotKnown);
    }
  }
}

TEST_CASE("the standing of one row says nothing of another in its place") {
  MemoryDisk disk;
  const auto files = disk.mount();
  std::vector<SpooledRow> rows;
  const auto spool = open_spool(*files, rows);
  write_with(*spool, Standing::kProven);
  const std::vector<std::uint8_t> proven = disk.bytes_of("spool");
  write_with(*spool, Standing::kNotKnown, true);
  std::vector<std::uint8_t> mixed = disk.bytes_of("spool");
  const auto place = static_cast<std::ptrdiff_t>(kHeaderAt + kStanding);
  std::copy_n(proven.begin() + place, 8, mixed.begin() + place);
  disk.put("spool", mixed);
  CHECK(reopened(*files) == Standing::kNotKnown);
}

TEST_CASE("damage is found by reading, too") {
  MemoryDisk disk;
  const auto files = disk.mount();
  std::vector<SpooledRow> rows;
  const auto spool = open_spool(*files, rows);
  write(*spool, 6, 2);
  disk.damage("spool", kFileHeader + 4096 + 2 * kK + 5, 1);
  std::vector<std::uint8_t> kept(kK);
  CHECK(spool->read(6, 2, kept).error().code == ErrorCode::kCorrupt);
}

TEST_CASE("a spool cut short keeps the slots that are whole") {
  MemoryDisk disk;
  const auto files = disk.mount();
  std::vector<SpooledRow> rows;
  auto spool = open_spool(*files, rows);
  for (std::uint32_t g = 0; g < 3; ++g) {
    for (std::uint32_t slot = 0; slot < kN; ++slot) write(*spool, g, slot);
  }
  const std::vector<std::uint8_t> whole = disk.bytes_of("spool");
  for (std::uint64_t bytes = 0; bytes <= whole.size(); bytes += 53) {
    CAPTURE(bytes);
    disk.put("spool", {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)});
    spool = open_spool(*files, rows);
    std::set<Slot> expected;
    for (std::uint32_t g = 0; g < 3; ++g) {
      for (std::uint32_t slot = 0; slot < kN; ++slot) {
        const std::uint64_t end = kFileHeader + g * kExtent + 4096 + (slot + 1) * kK;
        if (end <= bytes) expected.insert({g, slot});
      }
    }
    CHECK(slots_of(*spool, rows) == expected);
  }
}

TEST_CASE("of two owners of a place, and of two places of a generation, the later one counts") {
  MemoryDisk disk;
  const auto files = disk.mount();
  std::vector<SpooledRow> rows;
  auto spool = open_spool(*files, rows);
  for (std::uint32_t slot = 0; slot < kN; ++slot) write(*spool, 6, slot);
  const std::vector<std::uint8_t> before = disk.bytes_of("spool");
  REQUIRE(spool->drop(6).ok());
  write(*spool, 8, 1);  // in the place that 6 had
  write(*spool, 6, 0);  // in a place of its own
  // A power cut undoes the hole: three of 6's old slots stand beside 8's.
  std::vector<std::uint8_t> mixed = disk.bytes_of("spool");
  for (const std::uint64_t slot : {0, 2, 3}) {
    const auto copy = [&](std::uint64_t offset, std::uint64_t bytes) {
      std::copy_n(before.begin() + static_cast<std::ptrdiff_t>(offset), bytes,
                  mixed.begin() + static_cast<std::ptrdiff_t>(offset));
    };
    copy(kFileHeader + slot * kSlotHeader, kSlotHeader);
    copy(kFileHeader + 4096 + slot * kK, kK);
  }
  disk.put("spool", mixed);
  spool = open_spool(*files, rows);
  CHECK(slots_of(*spool, rows) == std::set<Slot>{{6, 0}, {8, 1}});
}

TEST_CASE("a spool of another content counts as empty") {
  MemoryDisk disk;
  const auto files = disk.mount();
  std::vector<SpooledRow> rows;
  auto spool = open_spool(*files, rows);
  write(*spool, 1, 1);
  const Sample other = test::make_sample("s", {{"", 20 * kN * kK}}, kN, kK, 2);
  auto foreign = Spool::open(*files, "spool", other.manifest, std::vector<bool>(20, false), rows);
  REQUIRE(foreign.ok());
  CHECK(rows.empty());
  CHECK(disk.bytes_of("spool").size() == kFileHeader);
}

TEST_CASE("rows survive any order of writing, dropping and reopening") {
  MemoryDisk disk;
  const auto files = disk.mount();
  std::vector<SpooledRow> rows;
  auto spool = open_spool(*files, rows);
  std::mt19937_64 random(21);
  std::set<Slot> expected;
  for (int step = 0; step < 3000; ++step) {
    const auto generation = static_cast<std::uint32_t>(random() % 20);
    if (random() % 10 == 0) {
      REQUIRE(spool->drop(generation).ok());
      std::erase_if(expected, [&](const Slot& slot) { return slot.first == generation; });
    } else if (random() % 50 == 0) {
      spool = open_spool(*files, rows);
      CHECK(slots_of(*spool, rows) == expected);
    } else {
      const auto slot = static_cast<std::uint32_t>(random() % kN);
      write(*spool, generation, slot);
      expected.insert({generation, slot});
    }
  }
  CHECK(disk.bytes_of("spool").size() <= kFileHeader + 20 * kExtent);
}

TEST_CASE("dropped rows give their disk space back") {
  const test::TemporaryFolder dir;
  auto files = open_posix_files(dir.path(), false);
  REQUIRE(files.ok());
  const Sample large = test::make_sample("l", {{"", 16 * 16 * 4096}}, 16, 4096);
  std::vector<SpooledRow> rows;
  const std::vector<bool> verified(16, false);
  auto spool = Spool::open(**files, "spool", large.manifest, verified, rows);
  REQUIRE(spool.ok());
  const auto blocks = [&] {
    struct stat status;
    REQUIRE(::stat(dir.path("spool").c_str(), &status) == 0);
    return status.st_blocks * 512;
  };
  for (std::uint32_t g = 0; g < 16; ++g) {
    for (std::uint32_t slot = 0; slot < 16; ++slot) {
      const auto [row, payload] = test::sample_row(large, g, slot);
      REQUIRE((*spool)->write(row, payload).ok());
    }
  }
  REQUIRE((*spool)->sync().ok());
  CHECK(blocks() >= 16 * 16 * 4096);
  for (std::uint32_t g = 0; g < 15; ++g) REQUIRE((*spool)->drop(g).ok());
  REQUIRE((*spool)->sync().ok());
  CHECK(blocks() < 3 * 16 * 4096);
}

}  // namespace
}  // namespace firn::store::spool_test
