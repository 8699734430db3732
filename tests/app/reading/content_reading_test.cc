#include "client/app/reading/content_reading.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <thread>

#include "client/app/reading/reading_list.h"
#include "client/content/reading_window.h"
#include "proto/messages.h"
#include "tests/app/reading/open_content.h"

namespace firn::app {
namespace {

using tests::kOpenGeneration;
using tests::OpenContent;
using Generations = std::vector<std::uint32_t>;
using core::Urgent;
using proto::kAwaited;
using proto::kReadSoon;

// Waits as a reader does.
class Ready {
 public:
  std::function<void()> callback() {
    return [this] {
      const std::lock_guard lock(mutex_);
      called_ = true;
      changed_.notify_all();
    };
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return called_; });
    called_ = false;
  }
  bool called() {
    const std::lock_guard lock(mutex_);
    return called_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool called_ = false;
};

std::unique_ptr<ReadableFile> open_file(OpenContent& content, std::size_t file, Ready& ready) {
  auto opened = content.reading->open(file, ready.callback());
  REQUIRE(opened.ok());
  return *std::move(opened);
}

// From `offset` on, as it comes, at most `piece` bytes at a time.
std::string read_from(ReadableFile& file, std::uint64_t offset, std::size_t piece, Ready& ready) {
  std::string found;
  std::vector<std::uint8_t> buffer(piece);
  while (offset + found.size() < file.bytes()) {
    const auto bytes = file.read(offset + found.size(), buffer);
    if (!bytes.ok()) return bytes.error().message();
    found.append(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(*bytes));
    if (*bytes == 0) ready.wait();
  }
  return found;
}

ErrorCode error_of_read(ReadableFile& file) {
  std::vector<std::uint8_t> buffer(10);
  const auto bytes = file.read(0, buffer);
  return bytes.ok() ? ErrorCode::kInternal : bytes.error().code;
}

TEST_CASE("files are read while their generations come, in any order, by several threads") {
  OpenContent content({5, 40 * kOpenGeneration + 100, 0, 30 * kOpenGeneration});
  std::vector<std::string> found(4);
  std::vector<std::thread> readers;
  for (std::size_t i = 0; i < found.size(); ++i)
    readers.emplace_back([&, i] {
      Ready ready;
      const std::size_t file = i == 2 ? 1 : i;
      auto opened = content.reading->open(file, ready.callback());
      found[i] = read_from(**opened, 0, 700 * (i + 1), ready);
    });
  Generations order(content.generations());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(3));
  for (const std::uint32_t generation : order) {
    content.arrive(generation);
    (void)content.reading->take_urgent();
  }
  for (std::thread& reader : readers) reader.join();
  CHECK(found[0] == content.files[0]);
  CHECK(found[1] == content.files[1]);
  CHECK(found[2] == content.files[1]);
  CHECK(found[3] == content.files[3]);
}

TEST_CASE("readers that seek, lost generations, and the end of a content do not disturb others") {
  OpenContent content({60 * kOpenGeneration});
  std::atomic<int> wrong = 0, cancelled = 0;
  std::vector<std::thread> readers;
  for (unsigned seed = 0; seed < 3; ++seed)
    readers.emplace_back([&, seed] {
      std::mt19937_64 random(seed);
      for (;;) {
        Ready ready;
        auto file = content.reading->open(0, ready.callback());
        if (!file.ok()) break;
        std::vector<std::uint8_t> buffer(1 + random() % 3000);
        for (int step = 0; step < 20; ++step) {
          const std::uint64_t offset = random() % content.files[0].size();
          const auto bytes = (*file)->read(offset, buffer);
          if (!bytes.ok()) break;
          if (*bytes == 0)
            ready.wait();
          else if (content.files[0].compare(offset, *bytes, reinterpret_cast<char*>(buffer.data()),
                                            *bytes) != 0)
            ++wrong;
        }
      }
      ++cancelled;
    });
  for (std::uint32_t g = 0; g < content.generations(); ++g) {
    content.arrive(g);
    if (g % 3 == 0) content.reading->lost(g, true);
    (void)content.reading->take_urgent();
  }
  for (std::uint32_t g = 0; g < content.generations(); g += 3) content.reading->verified(g);
  content.reading->end();
  for (std::thread& reader : readers) reader.join();
  CHECK(wrong == 0);
  CHECK(cancelled == 3);
}

TEST_CASE("what a reader needs is urgent until it has come, and no more once the reader is gone") {
  OpenContent content({80 * kOpenGeneration});
  CHECK_FALSE(content.reading->take_urgent());
  Ready ready;
  auto file = open_file(content, 0, ready);
  CHECK(content.changes == 0);
  std::vector<std::uint8_t> buffer(100);
  CHECK(file->read(0, buffer).value() == 0);
  CHECK(content.changes == 1);
  CHECK(content.reading->take_urgent() == Urgent{{0, kAwaited}, {1, kAwaited}});
  CHECK_FALSE(content.reading->take_urgent());

  CHECK(file->read(50 * kOpenGeneration + 1, buffer).value() == 0);
  CHECK(content.changes == 2);
  CHECK(content.reading->take_urgent() == Urgent{{50, kAwaited}, {51, kAwaited}, {52, kAwaited}});

  content.arrive(51);
  CHECK_FALSE(ready.called());
  content.arrive(50);
  CHECK(ready.called());
  CHECK(content.reading->take_urgent() == Urgent{{52, kAwaited}});
  CHECK(file->read(50 * kOpenGeneration + 1, buffer).value() == 100);

  content.reading->lost(51, true);
  CHECK(content.reading->take_urgent()->contains(51));
  file.reset();
  CHECK(content.reading->take_urgent() == Urgent());
}

TEST_CASE("a reader awaits two generations after a start or a seek, and needs later ones soon") {
  OpenContent content({80 * kOpenGeneration});
  for (const std::uint32_t g : {0, 1, 2, 40}) content.arrive(g);
  Ready ready;
  const auto file = open_file(content, 0, ready);
  std::vector<std::uint8_t> buffer(kOpenGeneration);
  for (std::uint64_t offset = 0; offset < 3 * kOpenGeneration; offset += kOpenGeneration)
    REQUIRE(file->read(offset, buffer).value() == kOpenGeneration);
  const Urgent soon = content.reading->take_urgent().value();
  CHECK(soon.at(3) == kReadSoon);
  CHECK(soon.at(4) == kReadSoon);
  REQUIRE(file->read(40 * kOpenGeneration, buffer).value() == kOpenGeneration);
  const Urgent after_seek = content.reading->take_urgent().value();
  CHECK(after_seek.at(41) == kAwaited);
  CHECK(after_seek.at(42) == kReadSoon);
}

TEST_CASE("a file that is opened in the middle makes nothing urgent at its beginning") {
  OpenContent content({80 * kOpenGeneration});
  Ready ready;
  const auto file = open_file(content, 0, ready);
  content.arrive(70);
  CHECK_FALSE(content.reading->take_urgent());
  std::vector<std::uint8_t> buffer(100);
  CHECK(file->read(60 * kOpenGeneration, buffer).value() == 0);
  CHECK(content.reading->take_urgent() == Urgent{{60, kAwaited}, {61, kAwaited}});
}

TEST_CASE("a reader of what is all there makes no work for the session") {
  OpenContent content({20 * kOpenGeneration});
  for (std::uint32_t g = 0; g < content.generations(); ++g) content.arrive(g);
  Ready ready;
  const auto file = open_file(content, 0, ready);
  CHECK(read_from(*file, 0, 333, ready) == content.files[0]);
  CHECK(content.changes == 0);
  CHECK_FALSE(ready.called());
}

TEST_CASE("several readers share the urgent places") {
  OpenContent content({200 * kOpenGeneration});
  Ready ready;
  const auto first = open_file(content, 0, ready);
  const auto second = open_file(content, 0, ready);
  std::vector<std::uint8_t> buffer(100);
  CHECK(first->read(0, buffer).value() == 0);
  CHECK(second->read(150 * kOpenGeneration, buffer).value() == 0);
  CHECK(content.reading->take_urgent() ==
        Urgent{{0, kAwaited}, {1, kAwaited}, {150, kAwaited}, {151, kAwaited}});
}

TEST_CASE("of more readers than urgent places the later ones are not starved") {
  OpenContent content({200 * kOpenGeneration});
  Ready ready;
  std::vector<std::unique_ptr<ReadableFile>> files;
  std::vector<std::uint8_t> buffer(100);
  for (std::uint64_t reader = 0; reader < 12; ++reader) {
    files.push_back(open_file(content, 0, ready));
    CHECK(files.back()->read(10 * reader * kOpenGeneration, buffer).value() == 0);
  }
  const Urgent urgent = content.reading->take_urgent().value();
  CHECK(urgent.size() == content::kUrgentMax);
  for (std::uint32_t reader = 4; reader < 12; ++reader) CHECK(urgent.contains(10 * reader));
}

TEST_CASE("after the end readers are told, and nobody keeps the store") {
  OpenContent content({10 * kOpenGeneration, 10});
  Ready ready;
  const auto file = open_file(content, 0, ready);
  std::vector<std::uint8_t> buffer(100);
  CHECK(file->read(0, buffer).value() == 0);
  const std::weak_ptr<const void> store = content.store;
  content.store.reset();
  CHECK(content.reading->manifest()->id == content.manifest.id);
  content.reading->end();
  CHECK(ready.called());
  CHECK(error_of_read(*file) == ErrorCode::kCancelled);
  CHECK(store.expired());
  CHECK_FALSE(content.reading->manifest());
  CHECK_FALSE(content.reading->chosen(1));
  CHECK(content.reading->open(1, [] {}).error().code == ErrorCode::kCancelled);
}

TEST_CASE("files that are not chosen, and what is no file, cannot be read") {
  OpenContent content({10 * kOpenGeneration, 10 * kOpenGeneration});
  Ready ready;
  const auto second = open_file(content, 1, ready);
  std::vector<std::uint8_t> buffer(100);
  CHECK(second->read(0, buffer).value() == 0);
  content.reading->choose({true, false});
  CHECK(ready.called());
  CHECK(error_of_read(*second) == ErrorCode::kNotFound);
  CHECK(content.reading->chosen(0));
  CHECK_FALSE(content.reading->chosen(1));
  CHECK_FALSE(content.reading->chosen(2));
  CHECK(content.reading->open(1, [] {}).error().code == ErrorCode::kNotFound);
  CHECK(content.reading->open(2, [] {}).error().code == ErrorCode::kNotFound);
}

TEST_CASE("a file is read on while it gets its final name and the work folder goes") {
  OpenContent content({10 * kOpenGeneration, 300});
  Ready ready;
  const auto file = open_file(content, 0, ready);
  std::atomic<bool> finished = false;
  std::thread reader([&] {
    do {
      CHECK(read_from(*file, 0, 5000, ready) == content.files[0]);
    } while (!finished);
  });
  for (std::uint32_t g = 0; g < content.generations(); ++g) content.arrive(g);
  CHECK(content.store->finish().value());
  finished = true;
  reader.join();
  CHECK(read_from(*file, 0, 5000, ready) == content.files[0]);
}

TEST_CASE("a file that was changed on the disk is an error, not false bytes") {
  OpenContent content({3 * kOpenGeneration});
  for (std::uint32_t g = 0; g < content.generations(); ++g) content.write(g);
  REQUIRE(content.store->finish().value());
  for (std::uint32_t g = 0; g < content.generations(); ++g) content.reading->verified(g);
  std::fstream(content.target() + "/content/0", std::ios::in | std::ios::out | std::ios::binary)
      << "something else";
  Ready ready;
  const auto file = open_file(content, 0, ready);
  std::vector<std::uint8_t> buffer(10);
  CHECK(file->read(0, buffer).value() == 0);
  const auto unreadable = content.reading->take_unreadable();
  REQUIRE(unreadable.size() == 1);
  CHECK(unreadable.at(0).code == ErrorCode::kCorrupt);
  CHECK(file->read(0, buffer).value() == 0);
  CHECK(content.reading->take_unreadable().empty());
  CHECK_FALSE(ready.called());
  REQUIRE_FALSE(content.store->lose_generation(0));
  content.reading->lost(0, false);
  CHECK(ready.called());
  CHECK(error_of_read(*file) == ErrorCode::kCorrupt);
  CHECK(error_of_read(*file) == ErrorCode::kCorrupt);
  CHECK(content.reading->take_unreadable().empty());
  CHECK(read_from(*file, kOpenGeneration, 100, ready) == content.files[0].substr(kOpenGeneration));
}

TEST_CASE("a reader waits for a generation that is damaged or lost on its way and fetched again") {
  for (const bool known : {false, true}) {
    CAPTURE(known);
    OpenContent content({3 * kOpenGeneration, 10});
    for (std::uint32_t g = 0; g < 3; ++g) content.arrive(g);
    // The store knows of it before the main thread does, or nobody knows.
    if (known) REQUIRE(content.store->lose_generation(1));
    const std::string path = content.target() + "/.firn/" + content.manifest.id.text() + "/data/0";
    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(kOpenGeneration)
        << "something else";
    Ready ready;
    const auto file = open_file(content, 0, ready);
    std::vector<std::uint8_t> buffer(10);
    CHECK(file->read(kOpenGeneration, buffer).value() == 0);
    CHECK(content.reading->take_urgent() == Urgent{{1, kAwaited}});
    const auto unreadable = content.reading->take_unreadable();
    REQUIRE(unreadable.size() == 1);
    CHECK(unreadable.at(1).code == (known ? ErrorCode::kNotFound : ErrorCode::kCorrupt));
    CHECK(content.store->lose_generation(1));
    content.reading->lost(1, true);
    CHECK_FALSE(ready.called());
    content.arrive(1);
    CHECK(ready.called());
    CHECK(read_from(*file, 0, 100, ready) == content.files[0]);
  }
}

TEST_CASE("a generation of several MiB is read in pieces of any size") {
  OpenContent content({7 << 20}, 512 << 10);
  for (std::uint32_t g = 0; g < content.generations(); ++g) content.arrive(g);
  Ready ready;
  const auto file = open_file(content, 0, ready);
  CHECK(read_from(*file, 0, 3 << 20, ready) == content.files[0]);
  CHECK(read_from(*file, 1000, 300'001, ready) == content.files[0].substr(1000));
}

TEST_CASE("once nothing is fetched any more a reader gets what is there, or the error") {
  OpenContent content({3 * kOpenGeneration});
  content.arrive(0);
  Ready ready;
  const auto file = open_file(content, 0, ready);
  std::vector<std::uint8_t> buffer(10);
  CHECK(file->read(kOpenGeneration, buffer).value() == 0);
  content.reading->fetch_no_more();
  CHECK(ready.called());
  CHECK_FALSE(file->read(kOpenGeneration, buffer).ok());
  content.reading->lost(2, true);
  CHECK_FALSE(file->read(2 * kOpenGeneration, buffer).ok());
  CHECK(file->read(0, buffer).value() == buffer.size());
  CHECK(content.reading->take_unreadable().empty());
}

TEST_CASE("the slices of a generation are read from the disk once, whoever takes them") {
  OpenContent content({4 << 20}, 512 << 10);
  content.arrive(0);
  Ready ready;
  const auto first = open_file(content, 0, ready);
  std::vector<std::uint8_t> buffer(1000);
  CHECK(first->read(0, buffer).value() == buffer.size());
  const std::string path = content.target() + "/.firn/" + content.manifest.id.text() + "/data/0";
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary) << "something else";
  const auto second = open_file(content, 0, ready);
  CHECK(read_from(*second, 0, 1 << 20, ready) == content.files[0]);
}

TEST_CASE("the list has contents while they can be read, each with a secret of its own") {
  OpenContent one({10}), two({20});
  ReadingList list;
  CHECK_FALSE(list.find(one.manifest.id));
  list.add(one.manifest.id, one.reading);
  list.add(two.manifest.id, two.reading);
  CHECK(list.find(two.manifest.id) == two.reading);
  CHECK(list.token(one.manifest.id).size() >= 32);
  CHECK(list.token(one.manifest.id) != list.token(two.manifest.id));
  const std::string token = list.token(two.manifest.id);
  list.add(two.manifest.id, one.reading);
  CHECK(list.token(two.manifest.id) != token);
  list.remove(two.manifest.id, *two.reading);
  CHECK(list.find(two.manifest.id) == one.reading);
  list.remove(two.manifest.id, *one.reading);
  CHECK_FALSE(list.find(two.manifest.id));
  CHECK(list.token(two.manifest.id).empty());
}

}  // namespace
}  // namespace firn::app
