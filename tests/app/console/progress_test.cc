#include <doctest/doctest.h>

#include "client/app/console/columns.h"
#include "client/app/console/progress_bar.h"
#include "client/app/console/progress_display.h"

namespace firn::app {
namespace {

using Kind = ProgressDisplay::Kind;
constexpr core::TimeUs kSecond = core::kSecond;

ProgressFigures half() {
  ProgressFigures figures;
  figures.name = "holiday";
  figures.rank = 50;
  figures.rank_total = 100;
  figures.bytes_wanted = 10 << 20;
  figures.down_rate = 1 << 20;
  figures.seconds_left = 5;
  figures.peers = 3;
  return figures;
}

TEST_CASE(
    "an ordinary download shows its host in place of peers, and its bytes where it has no end") {
  ProgressFigures figures = half();
  figures.peers = 0;
  figures.host = "host.example";
  figures.with_rank = true;
  CHECK(plain_progress(figures) ==
        "holiday: 50.0% of 10.0 MiB, 1.0 MiB/s, ETA 5s, from host.example");
  const std::string bar = progress_line(figures, 120);
  CHECK(bar.find("from host.example") != std::string::npos);
  CHECK(bar.find("up ") == std::string::npos);
  CHECK(bar.find("rank") == std::string::npos);
  figures.rank = 3 << 20;
  figures.rank_total = figures.bytes_wanted = 0;
  CHECK(plain_progress(figures) == "holiday: 3.0 MiB, 1.0 MiB/s, from host.example");
  CHECK(progress_line(figures, 120).find("3.0 MiB") != std::string::npos);
}

TEST_CASE("a terminal gets a bar, and everything else lines") {
  CHECK(ProgressDisplay::kind_for(true, "xterm", nullptr) == Kind::kBar);
  CHECK(ProgressDisplay::kind_for(true, nullptr, "") == Kind::kBar);
  CHECK(ProgressDisplay::kind_for(true, "xterm", "1") == Kind::kPlainBar);
  CHECK(ProgressDisplay::kind_for(true, "dumb", nullptr) == Kind::kLines);
  CHECK(ProgressDisplay::kind_for(true, "dumb", "1") == Kind::kLines);
  CHECK(ProgressDisplay::kind_for(false, "xterm", nullptr) == Kind::kLines);
}

TEST_CASE("several lines are redrawn in place, also those that a narrower terminal has wrapped") {
  std::size_t columns = 10;
  ProgressDisplay display(Kind::kBar, [&] { return columns; });
  CHECK(display.show("one\ntwo\nthree", 0) == "\r\x1b[Kone\ntwo\nthree");
  CHECK(display.say("hello") == "\r\x1b[2A\x1b[Jhello\n\r\x1b[Kone\ntwo\nthree");
  columns = 4;
  CHECK(display.show("one", 0) == "\r\x1b[3A\x1b[Jone");
  CHECK(display.clear() == "\r\x1b[K");
}

TEST_CASE("a bar is painted when it changes, and again below what is said") {
  ProgressDisplay display(Kind::kBar);
  CHECK(display.clear().empty());
  CHECK(display.show("half", 0) == "\r\x1b[Khalf");
  CHECK(display.show("half", kSecond).empty());
  CHECK(display.show("most", kSecond) == "\r\x1b[Kmost");
  CHECK(display.say("hello") == "\r\x1b[Khello\n\r\x1b[Kmost");
  CHECK(display.show("most", kSecond).empty());
  CHECK(display.clear() == "\r\x1b[K");
  CHECK(display.clear().empty());
  CHECK(display.say("bye") == "bye\n");
  CHECK(display.show("most", kSecond) == "\r\x1b[Kmost");
}

TEST_CASE("a bar without escape sequences covers the one before with spaces") {
  ProgressDisplay display(Kind::kPlainBar);
  CHECK(display.show("three", 0) == "\rthree");
  CHECK(display.show("two", 0) == "\rtwo  ");
  CHECK(display.show("three", 0) == "\rthree");
  CHECK(display.say("\xc3\xa4") == "\r     \r\xc3\xa4\n\rthree");
  CHECK(display.clear() == "\r     \r");
}

TEST_CASE("a terminal that became narrower has wrapped the bar, and all of its rows are erased") {
  std::size_t columns = 80;
  ProgressDisplay display(Kind::kBar, [&columns] { return columns; });
  CHECK(display.show(std::string(79, 'x'), 0) == "\r\x1b[K" + std::string(79, 'x'));
  columns = 30;
  CHECK(display.show("half", 0) == "\r\x1b[2A\x1b[Jhalf");
  CHECK(display.show("most", 0) == "\r\x1b[Kmost");
}

TEST_CASE("a letter of Chinese takes two columns, and an accent none") {
  CHECK(columns_of("") == 0);
  CHECK(columns_of("abc") == 3);
  CHECK(columns_of("\xe6\x97\xa5\xe6\x9c\xac") == 4);
  CHECK(columns_of("a\xcc\x88") == 1);
  CHECK(columns_of("a\xff\xfe") == 3);
  CHECK(cut("\xe6\x97\xa5\xe6\x9c\xac", 3) == "\xe6\x97\xa5");
  CHECK(cut("a\xcc\x88z", 1) == "a\xcc\x88");
  CHECK(cut("abc", 0).empty());
  ProgressFigures figures = half();
  for (int i = 0; i < 30; ++i) figures.name += "\xe6\x97\xa5";
  for (std::size_t columns = 0; columns < 200; ++columns)
    CHECK(columns_of(progress_line(figures, columns)) <= columns);
}

TEST_CASE("without a terminal there is a line every 30 s, if it says something new") {
  ProgressDisplay display(Kind::kLines);
  CHECK(display.show("1%", 100 * kSecond).empty());
  CHECK(display.show("2%", 129 * kSecond).empty());
  CHECK(display.say("hello") == "hello\n");
  CHECK(display.show("3%", 130 * kSecond) == "3%\n");
  CHECK(display.show("4%", 131 * kSecond).empty());
  CHECK(display.show("3%", 161 * kSecond).empty());
  CHECK(display.show("5%", 191 * kSecond) == "5%\n");
  CHECK(display.clear().empty());
}

TEST_CASE("nothing is shown where nothing is wanted, but what is said") {
  ProgressDisplay display(Kind::kNone);
  CHECK_FALSE(display.shown());
  CHECK(display.show("1%", 0).empty());
  CHECK(display.show("2%", 100 * kSecond).empty());
  CHECK(display.say("hello") == "hello\n");
}

TEST_CASE("progress is told in percent of the bytes, in ranks only where asked") {
  ProgressFigures figures = half();
  CHECK(plain_progress(figures) == "holiday: 50.0% of 10.0 MiB, 1.0 MiB/s, ETA 5s, 3 peers");
  CHECK(progress_line(figures, 200).find("50.0%") != std::string::npos);
  CHECK(progress_line(figures, 200).find("rank") == std::string::npos);
  figures.with_rank = true;
  CHECK(plain_progress(figures) ==
        "holiday: 50.0% of 10.0 MiB, 1.0 MiB/s, ETA 5s, 3 peers, rank 50/100");
  CHECK(progress_line(figures, 200).find("rank 50/100") != std::string::npos);
  figures.seeding = true;
  CHECK(plain_progress(figures) == "holiday: seeding 50.0%, up 0 B/s, 3 peers");
  figures.rank = figures.rank_total;
  CHECK(plain_progress(figures) == "holiday: seeding, up 0 B/s, 3 peers");
  figures.complete_peers = 2;
  CHECK(plain_progress(figures) == "holiday: seeding, up 0 B/s, 3 peers, 2 have all");
  CHECK(progress_line(figures, 200).find("3 peers, 2 have all") != std::string::npos);
}

TEST_CASE("a line is never wider than the terminal, and never at 100 % too early") {
  ProgressFigures figures = half();
  figures.with_rank = true;
  for (std::size_t columns = 1; columns < 160; ++columns) {
    CAPTURE(columns);
    CHECK(columns_of(progress_line(figures, columns)) <= columns);
  }
  figures.rank = 99'999;
  figures.rank_total = 100'000;
  CHECK(plain_progress(figures).find(" 99.9%") != std::string::npos);
}

}  // namespace
}  // namespace firn::app
