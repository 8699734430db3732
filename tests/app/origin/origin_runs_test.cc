#include "client/app/origin/origin_runs.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "tests/app/origin/fake_transfers.h"
#include "tests/app/origin/made_content.h"

namespace firn::app {
namespace {

using core::DecodeOutcome;
using core::kSecond;
using tests::MadeContent;

// A content, origins that have it, and what is said to core, data plane and people.
struct Fetching final : OriginEvents {
  explicit Fetching(MadeContent made_up, std::size_t origin_count = 1)
      : made(std::move(made_up)), transfers(std::make_shared<tests::FakeTransfers>()) {
    std::vector<Origin> origins;
    for (std::size_t i = 0; i < origin_count; ++i)
      origins.push_back({*parse_origin("http://o" + std::to_string(i) + ".example/"),
                         std::make_shared<const OriginAccess>()});
    OriginEvents& events = *this;
    runs = std::make_unique<OriginRuns>(
        std::move(origins), made.info, transfers, [this] { ++wakes; }, events);
    runs->step(now);
  }
  ~Fetching() override { CHECK(rooms <= rooms_max); }

  std::shared_ptr<Buffer> take_buffer(std::uint32_t g) override {
    auto buffer = std::make_shared<Buffer>(made.info.shape.padded_bytes(g));
    std::ranges::fill(buffer->bytes(), 0xAA);
    rooms = std::max(rooms, ++rooms_now);
    return buffer;
  }
  void came(std::uint32_t g, std::shared_ptr<Buffer> data) override {
    const std::span<const std::uint8_t> bytes = std::as_const(*data).bytes();
    const std::string text(bytes.begin(), bytes.end());
    to_write.emplace_back(
        g, text == made.generation(g) ? DecodeOutcome::kVerified : DecodeOutcome::kCorrupt);
  }
  void answer(std::uint32_t g, bool verified) override { answers.emplace_back(g, verified); }
  void open(bool now_open) override {
    CHECK(is_open != now_open);
    is_open = now_open;
  }
  void say(bool warning, const std::string& text) override {
    (warning ? warnings : infos).push_back(text);
  }
  void debug(const std::string&) override {}

  const std::string& file_at(const OriginUrl& url) const {
    for (std::uint32_t f = 0; f < made.files.size(); ++f)
      if (origin_file(origin_of(url), made.info, f) == url) return made.files[f];
    FAIL("no such file: " << url.text());
    return made.files.front();
  }
  static OriginUrl origin_of(const OriginUrl& url) {
    return *parse_origin("http://" + url.host() + "/");
  }
  void fetch(std::uint32_t first, std::uint32_t count) { runs->fetch({first, count}, ++now); }
  void step() { runs->step(++now); }
  // What waits for the workers is compared and written.
  void write(std::size_t index = 0) {
    const auto [g, outcome] = to_write.at(index);
    to_write.erase(to_write.begin() + static_cast<std::ptrdiff_t>(index));
    --rooms_now;
    runs->written(g, outcome);
  }
  // Until nothing is under way any more.
  void settle(std::size_t chunk = 100) {
    for (int quiet = 0; quiet < 3; ++quiet) {
      const auto under_way = transfers->under_way;
      for (const auto& [id, one] : under_way) {
        if (!one.waits) quiet = 0;
        transfers->send(id, file_at(one.request.url), chunk);
      }
      step();
      while (!to_write.empty()) {
        quiet = 0;
        write();
      }
      step();
    }
    CHECK(transfers->under_way.empty());
  }
  // The only one.
  std::uint64_t transfer() const {
    REQUIRE(transfers->under_way.size() == 1);
    return transfers->under_way.begin()->first;
  }
  void fail_all(Fault fault) {
    const auto under_way = transfers->under_way;
    for (const auto& [id, one] : under_way)
      if (transfers->under_way.contains(id)) transfers->end(id, fault);
    step();
  }

  const MadeContent made;
  const std::shared_ptr<tests::FakeTransfers> transfers;
  core::TimeUs now = kSecond;
  int wakes = 0;
  bool is_open = false;
  std::size_t rooms_now = 0, rooms = 0;
  std::size_t rooms_max = SIZE_MAX;
  std::vector<std::pair<std::uint32_t, DecodeOutcome>> to_write;
  std::vector<std::pair<std::uint32_t, bool>> answers;
  std::vector<std::string> warnings, infos;
  std::unique_ptr<OriginRuns> runs;  // after what it uses
};

using Answers = std::vector<std::pair<std::uint32_t, bool>>;

Answers all_true(std::uint32_t first, std::uint32_t count) {
  Answers answers;
  for (std::uint32_t g = first; g < first + count; ++g) answers.emplace_back(g, true);
  return answers;
}

// Ten generations of 40 bytes.
MadeContent one_file() {
  std::mt19937_64 random(1);
  return tests::content_of({tests::random_bytes(random, 395)}, 4, 10);
}

// Thirty files of a generation each.
MadeContent small_files() {
  std::mt19937_64 random(5);
  std::vector<std::string> files;
  for (int i = 0; i < 30; ++i) files.push_back(tests::random_bytes(random, 40));
  return tests::content_of(std::move(files), 4, 10);
}

TEST_CASE("runs of any content bring its bytes, with padding, and are answered in order") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 150; ++round) {
    Fetching fetching(tests::random_content(random), 1 + random() % 3);
    std::map<std::uint32_t, std::uint32_t> runs;  // first, end
    const std::uint32_t all = fetching.made.info.shape.generation_count();
    for (std::uint32_t g = 0; g < all;) {
      const auto count = static_cast<std::uint32_t>(1 + random() % std::min(all - g, 9U));
      runs[g] = g + count;
      fetching.fetch(g, count);
      g += count;
    }
    // Anything that can happen does, in any order, in pieces of any size.
    for (int idle = 0; idle < 50; ++idle) {
      for (const auto& [id, one] : std::map(fetching.transfers->under_way)) {
        if (random() % 2 == 0) continue;
        if (!one.waits) idle = 0;
        fetching.transfers->send(id, fetching.file_at(one.request.url), 1 + random() % 150);
        if (one.taken > 0 && fetching.transfers->under_way.contains(id) && random() % 5 == 0)
          fetching.transfers->end(id, Fault::kPassing);
      }
      if (random() % 3 == 0) fetching.step();
      if (!fetching.to_write.empty() && random() % 2 == 0) {
        idle = 0;
        fetching.write(random() % fetching.to_write.size());
      }
      if (random() % 20 == 0) fetching.runs->pause(random() % 2 == 0);
      if (idle > 20) fetching.runs->pause(false);
    }
    fetching.settle();
    CHECK(fetching.answers.size() == all);
    for (const auto& [g, verified] : fetching.answers) {
      CHECK(verified);
      const auto run = std::prev(runs.upper_bound(g));
      CHECK(g == run->first);
      const std::uint32_t end = run->second;
      runs.erase(run);
      if (g + 1 < end) runs[g + 1] = end;
    }
    CHECK(runs.empty());
    std::uint64_t bytes = 0;
    for (const OriginFigures& one : fetching.runs->figures()) bytes += one.bytes;
    CHECK(bytes == fetching.made.info.shape.content_bytes);
    CHECK(fetching.warnings.empty());
  }
}

TEST_CASE("a run within one file is one request, and tells what is known of the file") {
  Fetching fetching(one_file());
  fetching.fetch(0, 4);
  fetching.settle();
  fetching.fetch(4, 6);
  const TransferRequest& request = fetching.transfers->under_way.at(fetching.transfer()).request;
  CHECK(request.range == FileRange{160, 235});
  CHECK(request.size == 395);
  CHECK(request.validator == "\"1\"");
  fetching.settle();
  CHECK(fetching.answers == all_true(0, 10));
  CHECK(fetching.transfers->asked.size() == 2);
}

TEST_CASE("a transfer waits while generations wait for the workers, and goes on after") {
  // Two generations of 2 MiB have room at a time.
  std::mt19937_64 random(2);
  Fetching fetching(tests::content_of({tests::random_bytes(random, 8U << 20)}, 8, 256U << 10));
  fetching.rooms_max = 2;
  fetching.fetch(0, 4);
  const std::uint64_t id = fetching.transfer();
  for (int i = 0; i < 1000 && !fetching.transfers->under_way.at(id).waits; ++i)
    fetching.transfers->send(id, fetching.made.files[0], 15'000);
  CHECK(fetching.transfers->under_way.at(id).waits);
  fetching.step();
  CHECK(fetching.to_write.size() == 2);
  CHECK(fetching.transfers->under_way.at(id).waits);
  fetching.write();
  fetching.step();
  CHECK_FALSE(fetching.transfers->under_way.at(id).waits);
  fetching.settle(15'000);
  CHECK(fetching.answers == all_true(0, 4));
}

TEST_CASE("while the store takes nothing, nothing is taken or asked for") {
  Fetching fetching(one_file());
  fetching.fetch(0, 4);
  const std::uint64_t id = fetching.transfer();
  fetching.runs->pause(true);
  fetching.transfers->send(id, fetching.made.files[0], 50);
  CHECK(fetching.transfers->under_way.at(id).waits);
  fetching.fetch(4, 2);
  CHECK(fetching.transfers->under_way.size() == 1);
  CHECK(fetching.to_write.empty());
  fetching.runs->pause(false);
  fetching.settle();
  CHECK(fetching.answers.size() == 6);
}

TEST_CASE("what came before a failure is kept, the rest answered as failed") {
  Fetching fetching(one_file());
  fetching.fetch(2, 4);
  fetching.transfers->send(fetching.transfer(), fetching.made.files[0], 90);
  fetching.fail_all(Fault::kPassing);
  fetching.fail_all(Fault::kPassing);
  CHECK(fetching.answers.empty());
  CHECK(fetching.to_write.size() == 2);
  fetching.settle();
  CHECK(fetching.answers == Answers{{2, true}, {3, true}, {4, false}, {5, false}});
}

TEST_CASE("a run comes whole from a server that ends each connection early") {
  Fetching fetching(one_file());
  fetching.fetch(0, 4);
  for (int i = 0; i < 16; ++i) {
    fetching.transfers->send(fetching.transfer(), fetching.made.files[0], 10);
    fetching.fail_all(Fault::kPassing);
    while (!fetching.to_write.empty()) fetching.write();
    fetching.step();
    CHECK(fetching.is_open);
  }
  CHECK(fetching.answers == all_true(0, 4));
  CHECK(fetching.transfers->asked.size() == 16);
}

TEST_CASE("pieces that wait for room make way for one whose transfer ended early") {
  // Two generations of 2 MiB have room at a time; the second file reaches beyond them.
  std::mt19937_64 random(2);
  Fetching fetching(tests::content_of(
      {tests::random_bytes(random, 1U << 20), tests::random_bytes(random, 7U << 20)}, 8,
      256U << 10));
  fetching.fetch(0, 4);
  for (int i = 0; i < 1000 && !fetching.transfers->under_way.at(2).waits; ++i)
    fetching.transfers->send(2, fetching.made.files[1], 15'000);
  fetching.transfers->send(1, fetching.made.files[0], 15'000);
  fetching.transfers->end(1, Fault::kPassing);
  fetching.step();
  CHECK_FALSE(fetching.transfers->under_way.contains(2));
  fetching.settle(15'000);
  CHECK(fetching.answers == all_true(0, 4));
}

TEST_CASE("a transfer that ends early after a trickle is a failure") {
  Fetching fetching(one_file());
  fetching.fetch(0, 4);
  fetching.transfers->send(fetching.transfer(), fetching.made.files[0], 100);
  fetching.now += kSecond;
  fetching.fail_all(Fault::kPassing);
  CHECK_FALSE(fetching.is_open);
  fetching.settle();
  CHECK(fetching.answers == Answers{{0, true}, {1, true}, {2, false}, {3, false}});
}

TEST_CASE("bytes are progress when they come, and not if they are thrown away") {
  Fetching fetching(small_files());
  CHECK(fetching.runs->progressed_at() == 0);
  fetching.fetch(0, 2);
  const auto late = fetching.transfers->under_way.at(2);
  const auto sends_ten = [&](const tests::FakeTransfers::One& one) {
    const std::string bytes = fetching.file_at(one.request.url).substr(0, 10);
    CHECK(one.sink->take({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}));
    fetching.step();
  };
  sends_ten(late);
  const core::TimeUs progressed_at = fetching.runs->progressed_at();
  CHECK(progressed_at == fetching.now);
  // The run fails. What its other transfer sends before it ends is of no use.
  fetching.transfers->slow_to_cancel = true;
  fetching.transfers->end(1, Fault::kGone);
  fetching.step();
  sends_ten(late);
  CHECK(fetching.runs->progressed_at() == progressed_at);
}

TEST_CASE("nothing can be asked while the only origin rests, and it can after") {
  Fetching fetching(one_file());
  CHECK(fetching.is_open);
  fetching.fetch(0, 1);
  fetching.fail_all(Fault::kPassing);
  CHECK_FALSE(fetching.is_open);
  CHECK(fetching.runs->next_wake() == fetching.now + kSecond);
  CHECK(fetching.warnings.empty());
  fetching.fetch(1, 2);
  CHECK(fetching.answers == Answers{{0, false}, {1, false}, {2, false}});
  CHECK(fetching.runs->standing() == std::vector<std::string>{"http://o0.example/: made to fail"});
  fetching.now += kSecond;
  fetching.step();
  CHECK(fetching.is_open);
  fetching.fetch(0, 1);
  fetching.settle();
  CHECK(fetching.answers.back() == std::pair{0U, true});
  CHECK(fetching.runs->figures().front().trouble.empty());
}

TEST_CASE("origins that are well take turns, and one that is not is left out") {
  Fetching fetching(one_file(), 3);
  std::multiset<std::string> asked;
  for (std::uint32_t g = 0; g < 3; ++g) fetching.fetch(g, 1);
  for (const auto& [id, one] : fetching.transfers->under_way) asked.insert(one.request.url.host());
  CHECK(asked == std::multiset<std::string>{"o0.example", "o1.example", "o2.example"});
  fetching.transfers->end(1, Fault::kGone);
  fetching.step();
  CHECK(fetching.warnings.size() == 1);
  fetching.settle();
  fetching.transfers->asked.clear();
  for (std::uint32_t g = 3; g < 7; ++g) fetching.fetch(g, 1);
  for (const std::string& url : fetching.transfers->asked)
    CHECK(url.find("o0.example") == std::string::npos);
  CHECK(fetching.is_open);
  fetching.settle();
}

TEST_CASE("an origin that hardly moves keeps no run from another one") {
  Fetching fetching(one_file(), 2);
  fetching.fetch(0, 4);  // of o0, and nothing comes
  for (std::uint32_t g = 4; g < 8; ++g) {
    fetching.fetch(g, 1);
    CHECK(fetching.transfers->asked.back() == "http://o1.example/0");
    const std::uint64_t id = std::prev(fetching.transfers->under_way.end())->first;
    CHECK(id != 1);
    fetching.transfers->send(id, fetching.made.files[0], 40);
    fetching.step();
    fetching.write();
    fetching.step();
    CHECK(fetching.answers.back() == std::pair{g, true});
  }
  fetching.fail_all(Fault::kPassing);
  fetching.now += 2 * kSecond;
  for (const std::uint32_t g : {0, 1, 2}) {
    fetching.fetch(g, 1);
    CHECK(fetching.transfers->asked.back() == "http://o1.example/0");
    fetching.settle();
  }
}

TEST_CASE("of two origins that work the quicker one is asked") {
  Fetching fetching(one_file(), 2);
  for (std::uint32_t g = 0; g < 10; ++g) {
    fetching.fetch(g, 1);
    const bool slow = fetching.transfers->asked.back() == "http://o0.example/0";
    CHECK(slow == (g == 0));
    fetching.now += slow ? kSecond : kSecond / 10;
    fetching.settle();
  }
  CHECK(fetching.answers == all_true(0, 10));
}

TEST_CASE("an origin with other bytes is left alone, and says which") {
  MadeContent made = one_file();
  const std::string right = made.files[0];
  Fetching fetching(std::move(made));
  std::string wrong = right;
  wrong[95] ^= 1;
  fetching.fetch(0, 3);
  fetching.fetch(6, 2);
  while (fetching.transfers->under_way.contains(1)) fetching.transfers->send(1, wrong, 1000);
  fetching.step();
  while (!fetching.to_write.empty()) fetching.write();
  fetching.step();
  fetching.step();
  CHECK(fetching.answers == Answers{{0, true}, {1, true}, {2, false}, {6, false}, {7, false}});
  REQUIRE(fetching.warnings.size() == 1);
  CHECK(fetching.warnings[0].find("fetch http://o0.example/0: what came from byte 80 on") == 0);
  CHECK(fetching.transfers->under_way.empty());
  CHECK_FALSE(fetching.is_open);
  CHECK(fetching.runs->next_wake() == core::kNever);
  CHECK(fetching.runs->figures().front().bytes == 80);
}

TEST_CASE("a server that takes one connection is asked for one thing at a time") {
  Fetching fetching(one_file());
  fetching.fetch(0, 3);
  fetching.transfers->send(1, fetching.made.files[0], 10);
  fetching.step();
  fetching.fetch(3, 3);
  fetching.transfers->end(2, Fault::kPassing);
  fetching.step();
  CHECK(fetching.is_open);
  CHECK(fetching.transfers->under_way.size() == 1);
  for (int i = 0; i < 100 && fetching.answers.size() < 6; ++i) {
    CHECK(fetching.transfers->under_way.size() <= 1);
    for (const auto& [id, one] : std::map(fetching.transfers->under_way))
      fetching.transfers->send(id, fetching.made.files[0], 30);
    fetching.step();
    while (!fetching.to_write.empty()) fetching.write();
    fetching.step();
  }
  CHECK(fetching.answers == all_true(0, 6));
  CHECK(fetching.runs->figures().front().trouble.empty());
}

TEST_CASE("such a server brings small files too, one after the other") {
  std::mt19937_64 random(4);
  std::vector<std::string> files;
  for (int i = 0; i < 30; ++i) files.push_back(tests::random_bytes(random, 1 + random() % 60));
  Fetching fetching(tests::content_of(std::move(files), 4, 10));
  const std::uint32_t all = fetching.made.info.shape.generation_count();
  fetching.fetch(0, all);
  std::uint64_t bears = 1;  // the id of the transfer that goes on
  for (int i = 0; i < 3000 && fetching.answers.size() < all; ++i) {
    const auto under_way = fetching.transfers->under_way;
    if (!under_way.contains(bears) && !under_way.empty()) bears = under_way.begin()->first;
    for (const auto& [id, one] : under_way) {
      if (!fetching.transfers->under_way.contains(id)) continue;
      if (id == bears) {
        fetching.transfers->send(id, fetching.file_at(one.request.url), 5);
      } else if (random() % 3 == 0) {
        fetching.transfers->end(id, Fault::kPassing);
      }
    }
    fetching.step();
    while (!fetching.to_write.empty()) fetching.write();
    fetching.step();
  }
  CHECK(fetching.answers == all_true(0, all));
  CHECK(fetching.warnings.empty());
}

TEST_CASE("an origin that goes away in the middle of several runs rests") {
  Fetching fetching(one_file());
  fetching.fetch(0, 3);
  fetching.fetch(3, 3);
  for (const std::uint64_t id : {1, 2}) fetching.transfers->send(id, fetching.made.files[0], 10);
  fetching.step();
  for (int i = 0; i < 5; ++i) fetching.fail_all(Fault::kPassing);
  CHECK_FALSE(fetching.is_open);
  CHECK(fetching.answers.size() == 6);
  CHECK(fetching.runs->next_wake() <= fetching.now + kSecond);
}

TEST_CASE("a refusal lowers what an origin is asked at a time also if nothing has come yet") {
  Fetching fetching(small_files());
  fetching.fetch(0, 4);
  fetching.fetch(4, 4);
  CHECK(fetching.transfers->under_way.size() == 8);
  for (std::uint64_t id = 2; id <= 8; ++id) fetching.transfers->end(id, Fault::kPassing);
  fetching.step();
  CHECK(fetching.is_open);
  CHECK(fetching.transfers->under_way.size() == 1);
  fetching.settle();
  CHECK(fetching.answers.size() == 8);
  CHECK(fetching.transfers->asked.size() == 8 + 7);
}

TEST_CASE("a refusal is none of all if another transfer ended well beside it") {
  Fetching fetching(small_files());
  fetching.fetch(0, 2);
  fetching.transfers->send(1, fetching.made.files[0], 40);
  fetching.transfers->end(2, Fault::kPassing);
  fetching.step();
  CHECK(fetching.is_open);
  fetching.settle();
  CHECK(fetching.answers == all_true(0, 2));
}

TEST_CASE("after a rest an origin is asked for one thing, and for one more with each that came") {
  Fetching fetching(small_files());
  fetching.fetch(0, 4);
  fetching.fetch(4, 4);
  fetching.fail_all(Fault::kPassing);
  CHECK_FALSE(fetching.is_open);
  CHECK(fetching.transfers->under_way.empty());
  CHECK(fetching.answers.size() == 8);
  fetching.now += kSecond;
  for (std::uint32_t first = 0; first < 28; first += 4) fetching.fetch(first, 4);
  for (std::size_t most = 1; most < OriginRuns::kTransfersMax; ++most) {
    CHECK(fetching.transfers->under_way.size() == most);
    const auto [id, one] = *fetching.transfers->under_way.begin();
    fetching.transfers->send(id, fetching.file_at(one.request.url), 40);
    fetching.step();
  }
  fetching.settle();
  CHECK(fetching.transfers->asked.size() == 8 + 28);
}

TEST_CASE("a server that says when it can be asked again is left alone for so long") {
  Fetching fetching(small_files());
  fetching.fetch(0, 6);
  CHECK(fetching.transfers->under_way.size() == 4);
  fetching.fetch(6, 3);
  fetching.transfers->end(2, Fault::kPassing, 30);
  fetching.step();
  CHECK_FALSE(fetching.is_open);
  CHECK(fetching.runs->next_wake() >= fetching.now + 29 * kSecond);
  fetching.settle();  // what was under way elsewhere is kept
  CHECK(fetching.transfers->asked.size() == 7);
  CHECK(fetching.answers == Answers{{0, false},
                                    {1, false},
                                    {2, false},
                                    {3, false},
                                    {4, false},
                                    {5, false},
                                    {6, true},
                                    {7, true},
                                    {8, true}});
}

TEST_CASE("small files are asked for a few at a time") {
  std::mt19937_64 random(3);
  std::vector<std::string> files;
  for (int i = 0; i < 40; ++i) files.push_back(tests::random_bytes(random, 7));
  Fetching fetching(tests::content_of(std::move(files), 4, 100));
  fetching.fetch(0, 1);
  CHECK(fetching.transfers->under_way.size() == OriginRuns::kPiecesMax);
  fetching.settle();
  CHECK(fetching.answers == all_true(0, 1));
  CHECK(fetching.transfers->asked.size() == 40);
}

TEST_CASE("at the end transfers are cancelled and nothing more is said") {
  Fetching fetching(one_file());
  fetching.fetch(0, 5);
  fetching.transfers->send(fetching.transfer(), fetching.made.files[0], 100);
  fetching.runs.reset();
  CHECK(fetching.transfers->under_way.empty());
  CHECK(fetching.to_write.empty());
  CHECK(fetching.answers.empty());
}

TEST_CASE("a transfer that ends while its bytes are all there is a success") {
  Fetching fetching(one_file());
  fetching.fetch(0, 2);
  const auto one = fetching.transfers->under_way.at(fetching.transfer());
  const std::string bytes = fetching.made.files[0].substr(0, 80);
  CHECK(one.sink->take({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}));
  fetching.fail_all(Fault::kPassing);
  fetching.settle();
  CHECK(fetching.answers == all_true(0, 2));
  CHECK(fetching.is_open);
}

}  // namespace
}  // namespace firn::app
