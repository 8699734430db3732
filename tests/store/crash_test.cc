// Kills and power cuts between any two changes of the disk, on a disk in memory.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "client/store/disk_store.h"
#include "tests/sampled.h"
#include "tests/store/memory_disk.h"
#include "tests/store/sample_content.h"

namespace firn::store::crash_test {
namespace {

using test::MemoryDisk;
using test::Sample;

const Sample& sample() {
  static const Sample kSample = test::make_sample(
      "s", {{"a", 3000}, {"b/c", 1}, {"b/d", 5000}, {"e", 0}, {"f", 0, true}, {"g", 2500}}, 4, 300);
  return kSample;
}

// One run of a peer: what it was told is done, and what of it was durable.
class Peer {
 public:
  explicit Peer(MemoryDisk& disk) : disk_(disk) {}

  Status open() {
    Resumed resumed;
    Result<std::unique_ptr<DiskStore>> store =
        DiskStore::open_download(disk_.mount(), sample().manifest, test::kOptions, resumed);
    if (!store) return store.error();
    store_ = *std::move(store);
    resumed_ = resumed;
    for (std::uint32_t g = 0; g < sample().count(); ++g) {
      if (resumed.verified[g]) done_.insert(g);
    }
    return Done{};
  }

  // Downloads what is missing in an order of its own, row by row, with a sync now and then.
  Status download(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint32_t> order;
    for (std::uint32_t g = 0; g < sample().count(); ++g) {
      if (!done_.contains(g)) order.push_back(g);
    }
    std::shuffle(order.begin(), order.end(), random);
    for (const std::uint32_t g : order) {
      for (std::uint32_t slot = 0; slot < sample().shape().blocks_in(g); ++slot) {
        if (random() % 4 == 0) {
          if (Status s = write_false_row(g, slot); !s) return s;
          if (random() % 2 == 0) {
            if (Status s = sync(); !s) return s;
          }
        }
        if (Status s = write_row(g, slot); !s) return s;
        if (random() % 6 == 0) {
          if (Status s = sync(); !s) return s;
        }
        if (random() % 3 == 0) {
          if (Status s = mark_proven(g, slot); !s) return s;
        }
        if (random() % 6 == 0) {
          if (Status s = doubt(g, slot); !s) return s;
        }
      }
      if (random() % 5 == 0) {  // the block checks found lies: begin again
        if (Status s = drop(g); !s) return s;
        if (Status s = write_row(g, sample().shape().blocks_in(g) - 1); !s) return s;
      }
      if (Status s = store_->write_generation(g, sample().generation(g)); !s) return s;
      done_.insert(g);
      if (Status s = drop(g); !s) return s;
      if (random() % 3 == 0) {
        if (Status s = sync(); !s) return s;
      }
    }
    Result<bool> finished = store_->finish();
    if (!finished) return finished.error();
    FIRN_CHECK(*finished);
    return Done{};
  }

  ContentStore& store() { return *store_; }
  const Resumed& resumed() const { return resumed_; }

  using Row = std::pair<std::uint32_t, std::uint32_t>;
  const std::set<std::uint32_t>& done() const { return done_; }
  const std::set<std::uint32_t>& durable() const { return durable_; }
  using Rows = std::map<Row, Standing>;
  const Rows& rows() const { return rows_; }
  const Rows& durable_rows() const { return durable_rows_; }
  // Doubted, and neither written nor marked since.
  const std::set<Row>& doubted() const { return doubted_; }
  const std::set<Row>& durably_doubted() const { return durably_doubted_; }

 private:
  // In a place that a true row takes next; its sender answers for it.
  Status write_false_row(std::uint32_t g, std::uint32_t slot) {
    auto [row, payload] = test::sample_row(sample(), g, slot);
    row.standing = Standing::kAnswered;
    payload[0] ^= 1;
    forget({g, slot});
    return store_->write_row(row, payload);
  }

  Status write_row(std::uint32_t g, std::uint32_t slot) {
    const auto [row, payload] = test::sample_row(sample(), g, slot);
    forget({g, slot});  // while it is being replaced, it is not promised
    Status written = store_->write_row(row, payload);
    if (written) rows_[{g, slot}] = row.standing;
    return written;
  }

  Status mark_proven(std::uint32_t g, std::uint32_t slot) {
    const Standing before = rows_[{g, slot}];
    doubted_.erase({g, slot});
    durably_doubted_.erase({g, slot});
    const Result<bool> marked = store_->set_proven(g, slot, true);
    if (marked) rows_[{g, slot}] = Standing::kProven;
    // Half of one mark and half of another say nothing.
    if (!marked && before != Standing::kProven) {
      rows_[{g, slot}] = Standing::kNotKnown;
      if (durable_rows_.contains({g, slot})) durable_rows_[{g, slot}] = Standing::kNotKnown;
    }
    if (!marked) return marked.error();
    return Done{};
  }

  Status doubt(std::uint32_t g, std::uint32_t slot) {
    Standing& standing = rows_[{g, slot}];
    if (standing == Standing::kProven) {  // from now on it may be gone at any time
      standing = Standing::kNotKnown;
      if (durable_rows_.contains({g, slot})) durable_rows_[{g, slot}] = Standing::kNotKnown;
    }
    const Result<bool> doubted = store_->set_proven(g, slot, false);
    if (!doubted) return doubted.error();
    doubted_.insert({g, slot});
    return Done{};
  }

  void forget(const Row& row) {
    rows_.erase(row);
    durable_rows_.erase(row);
    doubted_.erase(row);
    durably_doubted_.erase(row);
  }

  Status drop(std::uint32_t g) {
    std::erase_if(rows_, [g](const auto& row) { return row.first.first == g; });
    // Rows of a verified generation stay promised until its data is durable.
    if (!done_.contains(g)) {
      std::erase_if(durable_rows_, [g](const auto& row) { return row.first.first == g; });
    }
    return store_->drop_rows(g);
  }

  Status sync() {
    Status synced = store_->sync();
    if (synced) {
      durable_ = done_;
      durable_rows_ = rows_;
      durably_doubted_ = doubted_;
    }
    return synced;
  }

  MemoryDisk& disk_;
  std::unique_ptr<DiskStore> store_;
  Resumed resumed_;
  std::set<std::uint32_t> done_, durable_;
  Rows rows_, durable_rows_;
  std::set<Row> doubted_, durably_doubted_;
};

// Nothing that bears a final name is less than the whole file.
void check_final_files(const MemoryDisk& disk) {
  for (std::uint32_t i = 0; i < sample().info().files.size(); ++i) {
    const std::string path = "s/" + sample().info().files[i].path;
    if (sample().info().files[i].kind == FileEntry::Kind::kFolder || !disk.exists(path)) continue;
    CAPTURE(path);
    CHECK(disk.bytes_of(path) == sample().file(i));
  }
}

// What the next run finds: nothing false, all that was promised, and no proof that was taken back.
void check_resumed(Peer& peer, const std::set<std::uint32_t>& promised,
                   const Peer::Rows& promised_rows, const std::set<Peer::Row>& doubted) {
  std::vector<std::uint8_t> out;
  const Resumed& resumed = peer.resumed();
  for (std::uint32_t g = 0; g < sample().count(); ++g) {
    CAPTURE(g);
    if (promised.contains(g)) CHECK(resumed.verified[g]);
    if (resumed.verified[g]) {
      out.resize(sample().shape().padded_bytes(g));
      REQUIRE(peer.store().read_generation(g, out).ok());
      CHECK(out == sample().generation(g));
    }
  }
  std::set<Peer::Row> seen;
  Peer::Rows found;  // those that are true
  for (const SpooledRow& row : resumed.rows) {
    auto [wanted, payload] = test::sample_row(sample(), row.generation, row.slot);
    CHECK_FALSE(resumed.verified[row.generation]);
    CHECK(row.vector == wanted.vector);
    CHECK(row.sender == wanted.sender);
    std::vector<std::uint8_t> kept(payload.size());
    REQUIRE(peer.store().read_row(row.generation, row.slot, kept).ok());
    CHECK(seen.insert({row.generation, row.slot}).second);
    if (kept == payload) {
      found[{row.generation, row.slot}] = row.standing;
      continue;
    }
    payload[0] ^= 1;
    CHECK(kept == payload);
    CHECK(row.standing != Standing::kProven);
  }
  for (const auto& [row, standing] : promised_rows) {
    if (resumed.verified[row.first]) continue;
    REQUIRE(found.contains(row));
    CHECK(found[row] >= standing);
  }
  for (const Peer::Row& row : doubted)
    if (const auto there = found.find(row); there != found.end())
      CHECK(there->second != Standing::kProven);
}

void check_all_there(const MemoryDisk& disk) {
  for (std::uint32_t i = 0; i < sample().info().files.size(); ++i) {
    CHECK(disk.exists("s/" + sample().info().files[i].path));
  }
  check_final_files(disk);
}

void check_completes(MemoryDisk& disk, Peer& peer, std::uint64_t seed) {
  const Status status = peer.download(seed);
  REQUIRE_MESSAGE(status.ok(), (status ? "" : status.error().message()));
  check_all_there(disk);
  CHECK_FALSE(disk.exists(".firn"));
}

std::uint64_t changes_of_a_run(std::uint64_t seed) {
  MemoryDisk disk;
  Peer peer(disk);
  REQUIRE(peer.open().ok());
  REQUIRE(peer.download(seed).ok());
  return disk.changes();
}

constexpr std::uint64_t kRunSeeds[] = {1, 2};

TEST_CASE("a kill at any change loses nothing that was done, and the download completes") {
  for (const std::uint64_t seed : kRunSeeds) {
    const std::uint64_t changes = changes_of_a_run(seed);
    REQUIRE(changes > 100);
    for (std::uint64_t cut = 0; cut < changes; cut += firn::test::some_step(1)) {
      CAPTURE(seed);
      CAPTURE(cut);
      MemoryDisk disk;
      disk.kill_at(cut);
      Peer first(disk);
      const bool ran = first.open().ok() && first.download(seed).ok();
      CHECK_FALSE(ran);
      disk.restart();
      check_final_files(disk);
      Peer second(disk);
      const Status opened = second.open();
      REQUIRE_MESSAGE(opened.ok(), (opened ? "" : opened.error().message()));
      check_resumed(second, first.done(), first.rows(), first.doubted());
      check_completes(disk, second, seed + 7);
      // Names that the first run gave and did not sync are as safe as those of the second.
      disk.cut_power_and_restart(cut);
      check_all_there(disk);
    }
  }
}

TEST_CASE("a power cut at any change keeps what was synced, and shows nothing false") {
  for (const std::uint64_t seed : kRunSeeds) {
    const std::uint64_t changes = changes_of_a_run(seed);
    for (std::uint64_t cut = 0; cut <= changes; cut += firn::test::some_step(1)) {
      for (std::uint64_t loss = 0; loss < 4; ++loss) {
        CAPTURE(seed);
        CAPTURE(cut);
        CAPTURE(loss);
        MemoryDisk disk;
        disk.kill_at(cut);
        Peer first(disk);
        if (first.open().ok()) (void)first.download(seed).ok();
        disk.cut_power_and_restart(cut * 31 + loss);
        check_final_files(disk);
        Peer second(disk);
        const Status opened = second.open();
        REQUIRE_MESSAGE(opened.ok(), (opened ? "" : opened.error().message()));
        check_resumed(second, first.durable(), first.durable_rows(), first.durably_doubted());
        check_completes(disk, second, seed + 7);
      }
    }
  }
}

TEST_CASE("crashes while recovering from crashes lose no more than one does") {
  std::mt19937_64 random(99);
  const std::uint64_t changes = changes_of_a_run(1);
  for (std::uint32_t round = 0; round < firn::test::some_of(800); ++round) {
    CAPTURE(round);
    MemoryDisk disk;
    std::set<std::uint32_t> durable;
    for (int crash = 0; crash < 3; ++crash) {
      disk.kill_at(random() % (crash == 0 ? changes : 40));
      Peer peer(disk);
      if (peer.open().ok() && !disk.killed()) {
        check_resumed(peer, durable, {}, {});
        (void)peer.download(random()).ok();
      }
      durable.insert(peer.durable().begin(), peer.durable().end());
      disk.cut_power_and_restart(random());
      check_final_files(disk);
    }
    Peer last(disk);
    REQUIRE(last.open().ok());
    check_resumed(last, durable, {}, {});
    check_completes(disk, last, random());
  }
}

TEST_CASE("a finished download survives a power cut right after finish") {
  for (std::uint64_t seed = 0; seed < firn::test::some_of(200); ++seed) {
    MemoryDisk disk;
    Peer peer(disk);
    REQUIRE(peer.open().ok());
    REQUIRE(peer.download(seed).ok());
    disk.cut_power_and_restart(seed);
    check_all_there(disk);
  }
}

}  // namespace
}  // namespace firn::store::crash_test
