#include "client/app/origin/origin_runs.h"

#include <doctest/doctest.h>

#include <map>

#include "tests/app/origin/fetching.h"

namespace firn::app {
namespace {

using tests::MadeContent;

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

TEST_CASE("a run ends when none of what is left of it is wanted any more") {
  Fetching fetching(one_file());
  fetching.fetch(0, 3);
  fetching.unwanted = {1};
  fetching.transfers->send(1, fetching.made.files[0], 50);
  fetching.step();
  CHECK(fetching.transfers->under_way.size() == 1);
  fetching.unwanted = {1, 2};
  fetching.step();
  CHECK(fetching.transfers->under_way.empty());
  fetching.settle();
  CHECK(fetching.answers == Answers{{0, true}, {1, false}, {2, false}});
  CHECK(fetching.is_open);
}

TEST_CASE("what peers brought first is not counted as the origin's") {
  Fetching fetching(one_file());
  fetching.fetch(0, 2);
  fetching.transfers->send(1, fetching.made.files[0], 80);
  fetching.step();
  fetching.unwanted = {1};
  fetching.settle();
  CHECK(fetching.answers == all_true(0, 2));
  CHECK(fetching.runs->figures().front().bytes == 40);
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
