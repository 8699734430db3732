// Origins that refuse, end early, are slow or have other bytes.
#include "client/app/origin/origin_runs.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "tests/app/origin/fetching.h"

namespace firn::app {
namespace {

using core::kSecond;
using tests::MadeContent;

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

TEST_CASE("origins that are well share the runs, and one that is not is left out") {
  Fetching fetching(one_file(), 3);
  std::multiset<std::string> asked;
  for (std::uint32_t g = 0; g < 3; ++g) fetching.fetch(g, 1);
  for (const auto& [id, one] : fetching.transfers->under_way) asked.insert(one.request.url.host());
  CHECK(asked == std::multiset<std::string>{"o0.example", "o1.example", "o2.example"});
  fetching.transfers->end(1, Fault::kNotAllowed);
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

TEST_CASE("an origin that lacks a file is asked for all others") {
  Fetching fetching(small_files());
  fetching.fetch(0, 4);
  fetching.transfers->send(1, fetching.made.files[0], 40);
  fetching.step();
  fetching.write();
  fetching.step();
  fetching.transfers->end(2, Fault::kGone);
  fetching.settle();
  CHECK(fetching.answers == Answers{{0, true}, {1, false}, {2, false}, {3, false}});
  REQUIRE(fetching.warnings.size() == 1);
  CHECK(fetching.warnings[0].find("for this file again") != std::string::npos);
  CHECK(fetching.is_open);
  CHECK(fetching.lacking.count() == 1);
  CHECK(fetching.lacking.contains(1));
  CHECK(fetching.runs->standing() ==
        std::vector<std::string>{"http://o0.example/: sub 1/1: made to fail"});
  fetching.answers.clear();
  fetching.fetch(2, 28);
  fetching.settle();
  CHECK(fetching.answers == all_true(2, 28));
}

TEST_CASE("what one origin lacks comes from another one that has it") {
  Fetching fetching(small_files(), 2);
  fetching.fetch(0, 1);
  fetching.transfers->end(fetching.transfer(), Fault::kGone);
  fetching.step();
  CHECK(fetching.lacking.count() == 0);
  for (std::uint32_t g = 0; g < 4; ++g) fetching.fetch(g, 1);
  CHECK(fetching.transfers->asked.at(1) == "http://o1.example/0");
  fetching.settle();
  CHECK(fetching.answers == Answers{{0, false}, {0, true}, {1, true}, {2, true}, {3, true}});
}

TEST_CASE("a run ends before what its origin lacks, and the rest comes from another one") {
  Fetching fetching(small_files(), 2);
  for (const std::uint32_t g : {2, 5}) {  // o0 lacks the one, o1 the other
    fetching.fetch(g, 1);
    fetching.transfers->end(fetching.transfer(), Fault::kGone);
    fetching.step();
  }
  CHECK(fetching.lacking.count() == 0);
  fetching.answers.clear();
  fetching.transfers->asked.clear();
  fetching.fetch(0, 4);
  fetching.settle();
  CHECK(fetching.answers == Answers{{0, true}, {1, true}, {2, false}, {3, false}});
  CHECK(std::ranges::count(fetching.transfers->asked, "http://o0.example/2") == 0);
  fetching.answers.clear();
  fetching.fetch(2, 4);
  fetching.settle();
  CHECK(fetching.answers == Answers{{2, true}, {3, true}, {4, true}, {5, false}});
}

TEST_CASE("an origin with other bytes is not asked for that file again, and says which") {
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
  CHECK(fetching.answers == Answers{{0, true}, {1, true}, {2, false}});
  fetching.settle();  // what is under way goes on
  CHECK(fetching.answers.size() == 5);
  REQUIRE(fetching.warnings.size() == 1);
  CHECK(fetching.warnings[0].find("fetch http://o0.example/0: the bytes from 80 on differ") == 0);
  CHECK(fetching.transfers->under_way.empty());
  CHECK_FALSE(fetching.is_open);
  CHECK(fetching.runs->next_wake() == core::kNever);
  CHECK(fetching.runs->figures().front().bytes == 160);
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

}  // namespace
}  // namespace firn::app
