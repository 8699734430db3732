#include "client/app/page/rank_map.h"

#include <doctest/doctest.h>

#include "client/app/page/map_markup.h"

using namespace firn;
using namespace firn::app;
using core::FillingGeneration;
using State = MapCell::State;

namespace {

core::SwarmView view_of(std::uint32_t generations) {
  core::SwarmView view;
  view.generation_size = 64;
  view.last_blocks = 10;
  view.verified = view.given_up = core::GenerationSet(generations);
  return view;
}

void fill(core::SwarmView& view, std::uint32_t number, std::uint32_t rank,
          FillingGeneration::State state) {
  FillingGeneration filling;
  filling.number = number;
  filling.rank = rank;
  filling.blocks = 64;
  filling.state = state;
  filling.senders = {{PeerId{}, rank}};
  view.filling.push_back(filling);
}

}  // namespace

TEST_CASE("few generations have a cell each") {
  core::SwarmView view = view_of(4096);
  view.verified.add(0);
  fill(view, 1, 32, FillingGeneration::State::kStalled);
  const RankMap map = rank_map(view, {});
  CHECK(map.per_cell == 1);
  REQUIRE(map.cells.size() == 4096);
  CHECK(map.cells[0].state == State::kVerified);
  CHECK(map.cells[1].state == State::kStalled);
  CHECK(map.cells[1].rank == 32);
  CHECK(map.cells[2].state == State::kMissing);
  CHECK(map.cells[4095].blocks == 10);
}

TEST_CASE("many generations share cells, which show the worst that is in them") {
  core::SwarmView view = view_of(100'000);
  for (std::uint32_t g = 0; g < 60; ++g) view.verified.add(g);
  fill(view, 30, 1, FillingGeneration::State::kInFlight);
  fill(view, 31, 1, FillingGeneration::State::kQuarantined);
  fill(view, 32, 1, FillingGeneration::State::kDecoding);
  view.given_up.add(99'999);
  const RankMap map = rank_map(view, {});
  CHECK(map.per_cell == 25);
  REQUIRE(map.cells.size() == 4000);
  CHECK(map.cells[0].state == State::kVerified);
  CHECK(map.cells[0].rank == 25 * 64);
  CHECK(map.cells[1].state == State::kQuarantined);
  CHECK(map.cells[2].state == State::kFilling);
  CHECK(map.cells[3].state == State::kMissing);
  CHECK(map.cells[3999].state == State::kLost);
  std::uint64_t generations = 0;
  for (const MapCell& cell : map.cells) generations += cell.count;
  CHECK(generations == 100'000);
}

TEST_CASE("a range is shown alone, and cut to the content") {
  core::SwarmView view = view_of(100'000);
  fill(view, 50'001, 5, FillingGeneration::State::kFilling);
  const RankMap map = rank_map(view, {50'000, 25});
  CHECK(map.per_cell == 1);
  REQUIRE(map.cells.size() == 25);
  CHECK(map.cells[1].rank == 5);
  REQUIRE(filling_at(view, 50'001) != nullptr);
  CHECK(filling_at(view, 50'000) == nullptr);
  CHECK(rank_map(view, {99'999, UINT32_MAX}).cells.size() == 1);
  CHECK(rank_map(view, {UINT32_MAX, UINT32_MAX}).range.first == 99'999);
  const core::SwarmView none = view_of(0);
  CHECK(rank_map(none, {1, 1}).cells.empty());
}

TEST_CASE("the words of a range tell its rank and the senders of its rows") {
  core::SwarmView view = view_of(100);
  fill(view, 0, 32, FillingGeneration::State::kInFlight);
  fill(view, 3, 8, FillingGeneration::State::kStalled);
  view.filling[1].senders.push_back({PeerId{{1}}, 50});
  CHECK(range_words(view, {0, 1}) ==
        "generation 0: in flight, rank 32 of 64, from aaaaaaaa (gone) (32)");
  CHECK(range_words(view, {1, 2}) == "generations 1 to 2: missing");
  view.peers.emplace_back().endpoint = "192.0.2.1:4000";
  CHECK(range_words(view, {0, 4}) ==
        "generations 0 to 3: stalled, rank 40 of 256, from aeaaaaaa (gone) (50), "
        "aaaaaaaa at 192.0.2.1:4000 (40)");
  CHECK(range_words(view, {99, UINT32_MAX}) == "generation 99: missing");
  CHECK(range_words(view_of(0), {0, 1}).find("not known") != std::string::npos);
}

TEST_CASE("a row of the map has a shape for each style in it") {
  core::SwarmView view = view_of(80);
  view.verified.add(0);
  view.verified.add(2);
  const auto rows = map_rows(rank_map(view, {}), "/content/x");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].first == "row-0");
  CHECK(
      rows[0].second.find("<path class=\"v\" d=\"M0 0h9v13h-9zM20 0h9v13h-9z\"><title>verified") !=
      std::string::npos);
  CHECK(rows[1].second.find("class=\"v\"") == std::string::npos);
  CHECK(rows[1].second.find(">64</text>") != std::string::npos);
}

TEST_CASE("a map's table joins generations that are settled") {
  core::SwarmView view = view_of(10);
  for (std::uint32_t g = 0; g < 5; ++g) view.verified.add(g);
  const std::string table = map_table(rank_map(view, {}), view);
  CHECK(table.find("<td>0 to 4</td><td>verified</td>") != std::string::npos);
  CHECK(table.find("<td>5 to 9</td><td>missing</td>") != std::string::npos);
}
