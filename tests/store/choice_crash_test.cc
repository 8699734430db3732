// Kills and power cuts while files are chosen, fetched and chosen anew, on a disk in memory.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#include "client/content/division.h"
#include "client/store/disk_store.h"
#include "client/store/kept_choice.h"
#include "tests/sampled.h"
#include "tests/store/memory_disk.h"
#include "tests/store/sample_content.h"

namespace firn::store::choice_crash_test {
namespace {

using test::MemoryDisk;
using test::Sample;
using Choice = std::vector<bool>;

// Most generations are shared.
const Sample& sample() {
  static const Sample kSample = test::make_sample("s",
                                                  {{"a", 3000},
                                                   {"b/c", 1},
                                                   {"b/d", 4000},
                                                   {"e", 0},
                                                   {"f", 0, true},
                                                   {"g", 2500},
                                                   {"h", 700},
                                                   {"l", 0, false, "a"}},
                                                  4, 300);
  return kSample;
}

std::uint32_t file_count() {
  return static_cast<std::uint32_t>(sample().info().files.size());
}

bool is_file(std::uint32_t file) {
  return sample().info().files[file].kind == FileEntry::Kind::kFile;
}

std::string final_path(std::uint32_t file) {
  return "s/" + sample().info().files[file].path;
}

Choice draw_choice(std::mt19937_64& random) {
  Choice chosen(file_count());
  for (std::uint32_t file = 0; file < file_count(); ++file) chosen[file] = random() % 3 == 0;
  return chosen;
}

std::set<std::uint32_t> named_on(const MemoryDisk& disk) {
  std::set<std::uint32_t> named;
  for (std::uint32_t file = 0; file < file_count(); ++file)
    if (disk.exists(final_path(file))) named.insert(file);
  return named;
}

// What bears a name is whole, and there is nothing else outside of the work folder.
void check_names(const MemoryDisk& disk) {
  const std::set<std::uint32_t> named = named_on(disk);
  std::set<std::string> expected;
  for (const std::uint32_t file : named) {
    CAPTURE(file);
    if (is_file(file)) CHECK(disk.bytes_of(final_path(file)) == sample().file(file));
    expected.insert(final_path(file));
  }
  const auto is_copy = [](const std::string& path) {  // for another file system, not whole yet
    return path.find("/.firn-") != std::string::npos;
  };
  for (const std::string& path : disk.paths())
    if (!path.starts_with(".firn/") && !is_copy(path)) CHECK(expected.contains(path));
}

// A user who runs one command after the other. What was written stays promised over all of them.
class User {
 public:
  explicit User(MemoryDisk& disk) : disk_(disk) {}

  Status open(const Choice& chosen) {
    store_.reset();
    OpenOptions options = test::kOptions;
    options.chosen = chosen;
    Resumed resumed;
    chosen_ = chosen;
    kept_.insert(normal(chosen));
    auto store = DiskStore::open_download(disk_.mount(), sample().manifest, options, resumed);
    if (!store) return store.error();
    store_ = *std::move(store);
    kept_ = {normal(chosen)};
    for (const std::uint32_t g : done_) CHECK(resumed.verified[g]);
    for (std::uint32_t g = 0; g < sample().count(); ++g) {
      if (resumed.verified[g]) done_.insert(g);
    }
    std::set<Row> found;
    for (const SpooledRow& row : resumed.rows) found.insert({row.generation, row.slot});
    for (const Row& row : rows_)
      if (!done_.contains(row.first)) CHECK(found.contains(row));
    rows_ = durable_rows_;  // this run's syncs concern its own rows
    return Done{};
  }

  Status choose(const Choice& chosen) {
    chosen_ = chosen;
    kept_.insert(normal(chosen));
    if (Status s = store_->choose(chosen); !s) return s;
    kept_ = {normal(chosen)};
    return Done{};
  }

  // Up to `count` generations that the choice wants, in any order; some of them only in part.
  Status fetch_some(std::mt19937_64& random, std::size_t count) {
    return fetch(random, count, [&] { return random() % 4 != 0; });
  }

  Status fetch_all(std::mt19937_64& random) {
    return fetch(random, sample().count(), [] { return true; });
  }

  Status finish() {
    const std::set<std::uint32_t> named = named_on(disk_);
    const Result<bool> finished = store_->finish();
    check_new_names(named);
    if (!finished) return finished.error();
    CHECK(*finished);
    durable_ = done_;
    durable_rows_ = rows_;
    for (std::uint32_t file = 0; file < file_count(); ++file)
      if (content::is_chosen(chosen_, file)) CHECK(disk_.exists(final_path(file)));
    if (content::all_chosen(chosen_) && !disk_.killed()) CHECK_FALSE(disk_.exists(".firn"));
    check_readable();
    return Done{};
  }

  // All that is done can be served.
  void check_readable() {
    for (const std::uint32_t g : done_) {
      std::vector<std::uint8_t> out(sample().shape().padded_bytes(g));
      const Status read = store_->read_generation(g, out);
      if (!read && disk_.killed()) return;
      REQUIRE_MESSAGE(read.ok(), (read ? "" : read.error().message()));
      CHECK(out == sample().generation(g));
    }
  }

  // The process is gone; `power`: and what was not synced.
  void lose(bool power) {
    store_.reset();
    if (power) {
      done_ = durable_;
      rows_ = durable_rows_;
    }
  }

  // A later run knows the last choice, or one before it if the change was cut short.
  void check_kept_choice() const {
    if (!disk_.exists(".firn")) return;
    const auto files = disk_.mount();
    const Result<Choice> kept = kept_choice(*files, sample().manifest);
    REQUIRE(kept.ok());
    CHECK(kept_.contains(*kept));
  }

 private:
  using Row = std::pair<std::uint32_t, std::uint32_t>;

  static Choice normal(const Choice& chosen) {
    return content::all_chosen(chosen) ? Choice() : chosen;
  }

  template <typename Whole>
  Status fetch(std::mt19937_64& random, std::size_t count, Whole whole) {
    std::vector<std::uint32_t> order;
    const std::vector<bool> wanted = content::wanted_generations(sample().info(), chosen_);
    for (std::uint32_t g = 0; g < sample().count(); ++g)
      if (wanted[g] && !done_.contains(g)) order.push_back(g);
    std::ranges::shuffle(order, random);
    if (order.size() > count) order.resize(count);
    for (const std::uint32_t g : order) {
      if (Status s = fetch_one(g, whole()); !s) return s;
      if (random() % 3 != 0) continue;
      if (Status s = sync(); !s) return s;
    }
    return Done{};
  }

  Status fetch_one(std::uint32_t g, bool whole) {
    for (std::uint32_t slot = 0; slot < sample().shape().blocks_in(g); ++slot) {
      const auto [row, payload] = test::sample_row(sample(), g, slot);
      rows_.erase({g, slot});
      durable_rows_.erase({g, slot});
      if (Status s = store_->write_row(row, payload); !s) return s;
      rows_.insert({g, slot});
    }
    if (!whole) return Done{};
    if (Status s = store_->write_generation(g, sample().generation(g)); !s) return s;
    done_.insert(g);
    std::erase_if(rows_, [g](const Row& row) { return row.first == g; });
    return store_->drop_rows(g);
  }

  Status sync() {
    const std::set<std::uint32_t> named = named_on(disk_);
    Status synced = store_->sync();
    check_new_names(named);
    if (synced) {
      durable_ = done_;
      durable_rows_ = rows_;
    }
    return synced;
  }

  void check_new_names(const std::set<std::uint32_t>& named) const {
    for (const std::uint32_t file : named_on(disk_))
      if (!named.contains(file)) CHECK(content::is_chosen(chosen_, file));
  }

  MemoryDisk& disk_;
  std::unique_ptr<DiskStore> store_;
  Choice chosen_;
  std::set<Choice> kept_ = {Choice()};  // what may be kept
  std::set<std::uint32_t> done_, durable_;
  std::set<Row> rows_, durable_rows_;
};

// Changes of mind in the running download and between runs, some of them before the choice is
// finished; then all of the content.
Status run(User& user, std::mt19937_64& random) {
  if (Status s = user.open(draw_choice(random)); !s) return s;
  for (std::uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
    if (Status s = user.fetch_some(random, random() % 4); !s) return s;
    if (random() % 2 == 0) {
      if (Status s = user.fetch_all(random); !s) return s;
      if (Status s = user.finish(); !s) return s;
    }
    const Choice next = draw_choice(random);
    if (Status s = random() % 2 == 0 ? user.choose(next) : user.open(next); !s) return s;
  }
  if (Status s = user.choose({}); !s) return s;
  if (Status s = user.fetch_all(random); !s) return s;
  return user.finish();
}

Status run(User& user, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  return run(user, random);
}

void check_recovers(MemoryDisk& disk, User& user, std::uint64_t seed) {
  user.check_kept_choice();
  check_names(disk);
  const Status ran = run(user, seed);
  REQUIRE_MESSAGE(ran.ok(), (ran ? "" : ran.error().message()));
  CHECK(named_on(disk).size() == file_count());
  check_names(disk);
  CHECK_FALSE(disk.exists(".firn"));
}

TEST_CASE("files are chosen, fetched and chosen anew, and each choice ends with its files alone") {
  for (std::uint64_t seed = 0; seed < firn::test::some_of(500); ++seed) {
    CAPTURE(seed);
    MemoryDisk disk;
    User user(disk);
    check_recovers(disk, user, seed);
  }
}

TEST_CASE("a crash at any change of the disk loses no choice, name or byte that was promised") {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    MemoryDisk whole;
    User done(whole);
    REQUIRE(run(done, seed).ok());
    REQUIRE(whole.changes() > 100);
    for (std::uint64_t cut = 0; cut < whole.changes(); cut += firn::test::some_step(1)) {
      for (const bool power : {false, true}) {
        CAPTURE(seed);
        CAPTURE(cut);
        CAPTURE(power);
        MemoryDisk disk;
        disk.kill_at(cut);
        User user(disk);
        CHECK_FALSE(run(user, seed).ok());
        user.lose(power);
        if (power) {
          disk.cut_power_and_restart(cut);
        } else {
          disk.restart();
        }
        check_recovers(disk, user, seed + 100);
      }
    }
  }
}

TEST_CASE("crash after crash, with another choice each time, loses no more than one does") {
  std::mt19937_64 random(58);
  for (std::uint32_t round = 0; round < firn::test::some_of(800); ++round) {
    CAPTURE(round);
    MemoryDisk disk;
    if (round % 4 == 0) disk.system.mount_point = "s";
    User user(disk);
    for (int crash = 0; crash < 4; ++crash) {
      disk.kill_at(random() % 150);
      (void)run(user, random).ok();
      const bool power = random() % 2 == 0;
      user.lose(power);
      if (power) {
        disk.cut_power_and_restart(random());
      } else {
        disk.restart();
      }
      user.check_kept_choice();
      check_names(disk);
    }
    check_recovers(disk, user, random());
  }
}

}  // namespace
}  // namespace firn::store::choice_crash_test
