// Origin runs as a test drives them: transfers are answered by hand, and what is said is kept.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "client/app/origin/origin_runs.h"
#include "tests/app/origin/fake_transfers.h"
#include "tests/app/origin/made_content.h"

namespace firn::app {

// A content, origins that have it, and what is said to core, data plane and people.
struct Fetching final : OriginEvents {
  explicit Fetching(tests::MadeContent made_up, std::size_t origin_count = 1)
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
    to_write.emplace_back(g, text == made.generation(g) ? core::DecodeOutcome::kVerified
                                                        : core::DecodeOutcome::kCorrupt);
  }
  bool wants(std::uint32_t g) const override { return !unwanted.contains(g); }
  void answer(std::uint32_t g, bool verified) override { answers.emplace_back(g, verified); }
  void open(bool now_open) override {
    CHECK(is_open != now_open);
    is_open = now_open;
  }
  void lack(const core::GenerationSet& now_lacking) override { lacking = now_lacking; }
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

  const tests::MadeContent made;
  const std::shared_ptr<tests::FakeTransfers> transfers;
  core::TimeUs now = core::kSecond;
  int wakes = 0;
  bool is_open = false;
  core::GenerationSet lacking;
  std::size_t rooms_now = 0, rooms = 0;
  std::size_t rooms_max = SIZE_MAX;
  std::vector<std::pair<std::uint32_t, core::DecodeOutcome>> to_write;
  std::set<std::uint32_t> unwanted;
  std::vector<std::pair<std::uint32_t, bool>> answers;
  std::vector<std::string> warnings, infos;
  std::unique_ptr<OriginRuns> runs;  // after what it uses
};

using Answers = std::vector<std::pair<std::uint32_t, bool>>;

inline Answers all_true(std::uint32_t first, std::uint32_t count) {
  Answers answers;
  for (std::uint32_t g = first; g < first + count; ++g) answers.emplace_back(g, true);
  return answers;
}

// Ten generations of 40 bytes.
inline tests::MadeContent one_file() {
  std::mt19937_64 random(1);
  return tests::content_of({tests::random_bytes(random, 395)}, 4, 10);
}

// Thirty files of a generation each.
inline tests::MadeContent small_files() {
  std::mt19937_64 random(5);
  std::vector<std::string> files;
  for (int i = 0; i < 30; ++i) files.push_back(tests::random_bytes(random, 40));
  return tests::content_of(std::move(files), 4, 10);
}

}  // namespace firn::app
