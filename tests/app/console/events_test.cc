#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "client/app/console/events.h"
#include "client/app/console/progress_bar.h"

namespace firn::app {
namespace {

std::set<std::string> keys_of(const Json& event) {
  std::set<std::string> keys;
  for (const auto& [key, value] : event.items()) keys.insert(key);
  return keys;
}

Manifest a_manifest() {
  Manifest manifest;
  manifest.id.bytes.fill(0x11);
  manifest.info.name = "name";
  manifest.info.files.resize(3);
  manifest.info.shape = {64, 16384, 5u << 20};
  return manifest;
}

TEST_CASE("a start event tells the shape, the rank resumed with, and where we listen") {
  core::Report report;
  report.rank = 12;
  report.rank_total = 320;
  report.bytes_verified = 99;
  report.bytes_wanted = 3u << 20;
  const Json event = start_event(a_manifest(), report, "id@127.0.0.1:7");
  CHECK(event["event"] == "start");
  CHECK(event["content_id"] == a_manifest().id.text());
  CHECK(event["bytes"] == 5u << 20);
  CHECK(event["bytes_wanted"] == 3u << 20);
  CHECK(event["files"] == 3);
  CHECK(event["generations"] == 5);
  CHECK(event["generation_size"] == 64);
  CHECK(event["block_bytes"] == 16384);
  CHECK(event["rank"] == 12);
  CHECK(event["bytes_verified"] == 99);
  CHECK(event["listen"] == "id@127.0.0.1:7");
}

TEST_CASE("a progress event has every figure that scripts rely on") {
  core::Report report;
  report.blocks_sent = 5;
  report.bytes_sent = 6;
  report.bytes_received = 7;
  ProgressFigures figures;
  figures.rank = 1;
  figures.rank_total = 4;
  figures.down_rate = 100;
  figures.seconds_left = 30;
  const Json event = progress_event({}, 1.5, report, figures);
  const auto keys = keys_of(event);
  for (const char* key :
       {"event", "seconds", "bytes_verified", "rank", "rank_total", "share", "eta_seconds", "peers",
        "down_rate", "up_rate", "from_origins", "bytes_from_origins", "bytes_from_peers",
        "bytes_redundant", "bytes_refused", "blocks_sent", "bytes_sent", "bytes_received"}) {
    CAPTURE(key);
    CHECK(keys.contains(key));
  }
  CHECK(event["event"] == "progress");
  CHECK(event["seconds"] == 1.5);
  CHECK(event["down_rate"] == 100.0);
  CHECK(event["share"] == 0.25);
  CHECK(event["eta_seconds"] == 30.0);
  CHECK(event["blocks_sent"] == 5);
  CHECK(event["bytes_sent"] == 6);
  CHECK(event["bytes_received"] == 7);
}

TEST_CASE("a share or time that nobody knows is null") {
  ProgressFigures figures;
  CHECK(progress_members(figures)["share"].is_null());  // no manifest, or files that are gone
  CHECK(progress_members(figures)["eta_seconds"].is_null());
  figures.seeding = true;
  CHECK(progress_members(figures)["share"] == 1.0);  // it has had no session in this run
  figures.seconds_left = 0;
  CHECK(progress_members(figures)["eta_seconds"].is_null());
}

TEST_CASE("a complete event says who sent how many blocks, and leaves out who sent none") {
  core::Report report;
  report.bytes_wanted = 3u << 20;
  report.blocks_innovative = 320;
  report.blocks_redundant = 2;
  report.blocks_recoded = 100;
  report.neighbours.resize(2);
  report.neighbours[0].id.bytes.fill(0x22);
  report.neighbours[0].endpoint = "[::1]:9";
  report.neighbours[0].blocks_received = 322;
  report.neighbours[0].blocks_recoded = 100;
  const Json event = complete_event(a_manifest(), 2.25, report);
  CHECK(event["event"] == "complete");
  CHECK(event["bytes"] == 3u << 20);
  const auto keys = keys_of(event);
  for (const char* key : {"seconds", "bytes", "bytes_received", "bytes_sent", "blocks_innovative",
                          "blocks_redundant", "blocks_recoded", "blocks_from"}) {
    CAPTURE(key);
    CHECK(keys.contains(key));
  }
  REQUIRE(event["blocks_from"].size() == 1);
  const Json& from = event["blocks_from"][0];
  CHECK(from["peer"] == report.neighbours[0].id.text());
  CHECK(from["endpoint"] == "[::1]:9");
  CHECK(from["blocks"] == 322);
  CHECK(from["recoded"] == 100);
}

TEST_CASE("events and words say what came from which origin, and what from peers") {
  Arrivals arrivals;
  arrivals.from_peers = 48ull << 30;
  CHECK(arrival_words(arrivals) == "");  // no origin is known: all came from peers
  CHECK(arrival_members(arrivals)["from_origins"] == Json::array());
  CHECK(arrival_members(arrivals)["bytes_from_peers"] == 48ull << 30);
  arrivals.origins = {{"https://a.example/", 1331ull << 20, ""}, {"s3://b/", 0, "403: no key"}};
  arrivals.from_origins = 1331ull << 20;
  CHECK(arrival_words(arrivals) ==
        "48.0 of 49.3 GiB from peers, 1.3 GiB from https://a.example/, 0 B from s3://b/");
  arrivals.from_peers = 1u << 20;
  arrivals.redundant = 2048;
  arrivals.refused = 1024;
  CHECK(arrival_words(arrivals).starts_with("1.0 MiB of 1.3 GiB from peers, "));
  CHECK(arrival_words(arrivals).ends_with("; 2.0 KiB redundant; 1.0 KiB refused"));
  const Json origins = arrival_members(arrivals)["from_origins"];
  REQUIRE(origins.size() == 2);
  CHECK(origins[0]["url"] == "https://a.example/");
  CHECK(origins[0]["bytes"] == 1331ull << 20);
  CHECK(origins[0]["trouble"].is_null());
  CHECK(origins[1]["trouble"] == "403: no key");
}

TEST_CASE("error and notice events carry code and text, and their content if there is one") {
  const Json error = error_event("disk_full", "no room");
  CHECK(error["event"] == "error");
  CHECK(error["code"] == "disk_full");
  CHECK(error["message"] == "no room");
  const Json notice = about(notice_event("warning", "careful"), a_manifest().id);
  CHECK(notice["event"] == "notice");
  CHECK(notice["level"] == "warning");
  CHECK(notice["message"] == "careful");
  CHECK(notice["content_id"] == a_manifest().id.text());
}

TEST_CASE("the progress line never passes the terminal's width") {
  ProgressFigures figures;
  figures.name = "a-rather-long-name-of-a-föðlder-that-goes-on-and-on";
  figures.rank = 500;
  figures.rank_total = 1000;
  figures.down_rate = 123456789;
  figures.up_rate = 2000;
  figures.seconds_left = 75;
  figures.peers = 3;
  for (std::size_t columns = 0; columns < 200; ++columns) {
    const std::string line = progress_line(figures, columns);
    const auto shown =
        std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; });
    CAPTURE(line);
    CHECK(static_cast<std::size_t>(shown) <= columns);
  }
  const std::string wide = progress_line(figures, 120);
  for (const char* part :
       {"50.0%", "117.7 MiB/s", "ETA 1m15s", "3 peers", "up 2.0 KiB/s", "[###"}) {
    CAPTURE(part);
    CHECK(wide.find(part) != std::string::npos);
  }
}

TEST_CASE("the progress line shows 100 % at the last rank and not before") {
  ProgressFigures figures;
  figures.rank_total = 1'000'000;
  figures.rank = 999'999;
  CHECK(progress_line(figures, 80).find("99.9%") != std::string::npos);
  figures.rank = 1'000'000;
  CHECK(progress_line(figures, 80).find("100.0%") != std::string::npos);
}

}  // namespace
}  // namespace firn::app
