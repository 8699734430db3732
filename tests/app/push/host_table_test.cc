#include "client/app/push/host_table.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "client/app/console/columns.h"
#include "client/app/push/push_events.h"
#include "client/app/push/retry_file.h"

namespace firn::app {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

HostRow row_of(const std::string& host, HostState state, std::uint64_t done = 0) {
  HostRow row;
  row.host = host;
  row.state = state;
  row.done = done;
  row.total = 100;
  return row;
}

HostRow failed(const std::string& host, const std::string& reason) {
  HostRow row = row_of(host, HostState::kFailed);
  row.reason = reason;
  return row;
}

bool names(const std::string& line, const std::string& host) {
  return line.starts_with(host + " ");
}

TEST_CASE("the table has a line for each host and a summary, and fits the terminal") {
  HostRow receiving = row_of("me@node2", HostState::kReceiving, 43);
  receiving.dir = "/data";
  receiving.rate = static_cast<double>(kMiB);
  receiving.way = "through ssh";
  const std::vector<HostRow> rows{row_of("node1", HostState::kComplete, 100), receiving,
                                  failed("node3", "its key is not known here")};
  const auto table = host_table(rows, 100, 24);
  REQUIRE(table.size() == 4);
  CHECK(table[0] == "node1           complete     100%");
  CHECK(table[1] == "me@node2:/data  receiving   43.0%     1.0 MiB/s  through ssh");
  CHECK(table[2] == "node3           failed" + std::string(27, ' ') + "its key is not known here");
  CHECK(table[3] == "1 of 3 have it, 1 failed, 1.0 MiB/s, least at me@node2:/data: 43.0%");
  for (const std::size_t columns : {0, 1, 20, 40})
    for (const std::string& line : host_table(rows, columns, 24))
      CHECK(columns_of(line) <= columns);
  CHECK(host_table(rows, 100, 1) == std::vector{table[3]});
  CHECK(host_table(rows, 100, 0).empty());
  CHECK(host_table({}, 100, 24) == std::vector<std::string>{"0 of 0 have it"});
}

TEST_CASE("a host shows 100 % only when it is complete") {
  HostRow row = row_of("a", HostState::kReceiving, 999'999);
  row.total = 1'000'000;
  CHECK(host_table({row}, 80, 9)[0].find("99.9%") != std::string::npos);
  row.total = 0;
  CHECK(host_table({row}, 80, 9)[0].find("0.0%") != std::string::npos);
}

TEST_CASE("where there are more hosts than lines, failed ones come first, then the slowest") {
  std::vector<HostRow> rows;
  for (int i = 0; i < 30; ++i) rows.push_back(row_of("done", HostState::kComplete, 100));
  rows.push_back(row_of("fast", HostState::kReceiving, 90));
  rows.push_back(row_of("waits", HostState::kWaiting));
  rows.push_back(row_of("slow", HostState::kReceiving, 10));
  rows.push_back(failed("broken", "x"));
  const auto table = host_table(rows, 80, 5);
  REQUIRE(table.size() == 5);
  CHECK(names(table[0], "broken"));
  CHECK(names(table[1], "slow"));
  CHECK(names(table[2], "fast"));
  CHECK(names(table[3], "waits"));
  CHECK(table[4].starts_with("30 of 34 have it, 1 failed"));

  for (int i = 0; i < 30; ++i) rows.push_back(failed("broken", "x"));
  const auto halves = host_table(rows, 80, 5);
  REQUIRE(halves.size() == 5);
  CHECK(names(halves[1], "broken"));
  CHECK(names(halves[2], "slow"));
  const auto three = host_table(rows, 80, 2);
  REQUIRE(three.size() == 2);
  CHECK(names(three[0], "slow"));
}

TEST_CASE("elsewhere a host has a line when it receives, has all or fails, and none twice") {
  HostChanges changes;
  std::vector<HostRow> rows{row_of("a", HostState::kWaiting), row_of("b", HostState::kConnecting)};
  CHECK(changes.take(rows).empty());
  rows[0].state = HostState::kReceiving;
  rows[0].way = "it called";
  rows[1] = failed("b", "refused");
  CHECK(changes.take(rows) ==
        std::vector<std::string>{"a: receiving (it called)", "b: failed (refused)"});
  rows[0].done = 50;
  rows[0].reason = "nothing comes";
  CHECK(changes.take(rows).empty());
  rows[0] = row_of("a", HostState::kComplete, 100);
  CHECK(changes.take(rows) == std::vector<std::string>{"a: complete"});
  CHECK(changes.take(rows).empty());
}

TEST_CASE("the closing lines say how each host ended, with code and last line") {
  HostRow done = row_of("a", HostState::kComplete);
  done.done = 64 * kMiB;
  done.seconds = 5.25;
  done.way = "called it";
  done.code = 0;
  done.last = "complete";
  HostRow full = failed("b.example", "the disk there is full");
  full.code = 4;
  full.last = "firn: write x";
  HostRow lost = failed("c", "connection lost");
  const auto lines = closing_lines({done, full, lost});
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == "a          ok        64.0 MiB    5.2 s  called it      0  complete");
  CHECK(lines[1] ==
        "b.example  failed         0 B    0.0 s  -              4  the disk there is full [firn: "
        "write x]");
  CHECK(lines[2] == "c          failed         0 B    0.0 s  -              -  connection lost");
}

TEST_CASE("what remotes say cannot move the cursor, add lines or spoil JSON") {
  HostRow row = failed("a", "bad\x1b[2J\nnode9  ok \xff");
  row.last = "\xe2\x80\xae\rlast";
  row.dir = "/\x07";
  const std::vector<HostRow> rows{row};
  std::vector<std::string> lines = host_table(rows, 200, 9);
  for (const std::string& line : closing_lines(rows)) lines.push_back(line);
  for (const std::string& line : HostChanges().take(rows)) lines.push_back(line);
  REQUIRE(lines.size() == 4);
  for (const std::string& line : lines) {
    INFO(line);
    for (const char* raw : {"\x1b", "\n", "\r", "\x07", "\xff", "\xe2\x80\xae"})
      CHECK(line.find(raw) == std::string::npos);
  }
  CHECK(lines[0].find("bad\\x1b[2J\\nnode9") != std::string::npos);
  CHECK(push_host_event(row).dump(-1, ' ', false, Json::error_handler_t::replace).size() > 0);
}

TEST_CASE("events say how each host is, and null where nothing is known") {
  HostRow row = row_of("me@a", HostState::kConnecting);
  row.total = 0;
  CHECK(push_host_event(row).dump() ==
        R"({"event":"push_host","host":"me@a","dir":null,"state":"connecting","bytes_done":0,)"
        R"("bytes_total":null,"down_rate":0.0,"reason":null,"way":null,"code":null,)"
        R"("last_line":null,"seconds":0.0})");
  row = row_of("a", HostState::kReceiving, 40);
  row.rate = 2;
  const std::vector<HostRow> rows{row, row_of("b", HostState::kComplete, 100), failed("c", "x")};
  CHECK(push_progress_event(rows, 1.5).dump() ==
        R"({"event":"push_progress","hosts":3,"complete":1,"failed":1,"bytes_done":140,)"
        R"("down_rate":2.0,"seconds":1.5})");
  CHECK(push_end_event(rows, 2).dump() ==
        R"({"event":"push_end","hosts":3,"complete":1,"failed":1,"bytes_done":140,"seconds":2.0})");
}

TEST_CASE("the file of --retry-failed holds the failed hosts with their folders") {
  HostRow in_folder = failed("me@[::1]", "x");
  in_folder.dir = "/my data";
  const std::string text =
      retry_file({row_of("a", HostState::kComplete), failed("b", "x"), in_folder});
  CHECK(text == "# firn push: hosts that failed\nb\nme@[::1]:/my data\n");
  CHECK(kRetryFile.begins(text));
  CHECK(!kRetryFile.begins("node1\n"));
}

}  // namespace
}  // namespace firn::app
