// How much of a queue counts as the sender's own, where a link answers as links do.
#include "proto/transport/queue_trial.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <random>

using firn::proto::transport::QueueTrial;

namespace {

constexpr std::uint64_t kMs = 1'000;
constexpr std::uint64_t kSecond = 1'000 * kMs;

// A sender that always has something waiting, looked at every 10 ms. What goes through in a second
// depends on how much of the queue it takes for its own; where as much goes through with more on
// its way, the queue is longer.
struct Link {
  std::function<double(double ours)> carries;
  std::uint64_t queue_us = 100 * kMs;
  bool own = true;  // it stands before the link
  QueueTrial trial{};
  std::uint64_t now_us = kSecond;
  double credit = 0;
  std::uint64_t tried_us = 0;  // with less than at last

  Link(std::function<double(double)> rate, std::uint64_t queue, bool is_own)
      : carries(std::move(rate)), queue_us(queue), own(is_own) {
    trial.begin_wait(now_us);
  }
  void pass(std::uint64_t time_us) {
    for (const std::uint64_t end = now_us + time_us; now_us < end; now_us += 10 * kMs) {
      credit += carries(trial.ours()) / 100;
      const auto whole = static_cast<std::uint64_t>(credit);
      credit -= static_cast<double>(whole);
      const double times = own ? 1 / std::max(trial.ours(), 1.0 / 64) : 1;
      trial.went_through(whole, static_cast<std::uint64_t>(queue_us * times), now_us);
      if (trial.ours() < 1) tried_us += 10 * kMs;
    }
  }
};

// Of a sender whose own link is the narrow one.
double narrow(double) {
  return 1e6;
}

// Of one whose receivers' queues hold it up: the less it waits for them the more it sends, up to
// what its link carries.
double held_up(double ours) {
  return std::min(8e6, 1e6 / std::max(ours, 0.01));
}

}  // namespace

TEST_CASE("the queue before the sender's own link counts in whole, but for moments") {
  Link link(narrow, 100 * kMs, true);
  link.pass(40 * kSecond);
  CHECK(link.trial.ours() == 1);
  CHECK(link.tried_us > 0);
  CHECK(link.tried_us < 4 * kSecond);
  // Ever more seldom.
  const std::uint64_t before = link.tried_us;
  link.pass(100 * kSecond);
  CHECK(link.tried_us - before < 3 * kSecond);
}

TEST_CASE("a queue that more goes through without is not the sender's") {
  Link link(held_up, 100 * kMs, false);
  link.pass(8 * kSecond);
  CHECK(held_up(link.trial.ours()) == 8e6);
}

TEST_CASE("once the sender's own link is the narrow one its queue counts again") {
  Link link(held_up, 100 * kMs, false);
  link.pass(8 * kSecond);
  REQUIRE(link.trial.ours() < 1);
  link.carries = narrow;
  link.own = true;
  link.pass(300 * kSecond);
  CHECK(link.trial.ours() == 1);
}

TEST_CASE("where far less goes through than when a trial failed the next one comes soon") {
  Link link(narrow, 100 * kMs, true);
  link.pass(40 * kSecond);  // the next trial is half a minute away
  const std::uint64_t before = link.tried_us;
  link.carries = [](double ours) { return held_up(ours) / 3; };
  link.own = false;
  link.pass(8 * kSecond);
  CHECK(link.tried_us > before + 4 * kSecond);
  CHECK(link.trial.ours() < 0.5);
}

TEST_CASE("nothing is tried while what goes through falls") {
  double rate = 8e6;
  Link link([&rate](double) { return rate *= 0.992; }, 100 * kMs, false);
  link.pass(800 * kMs);  // to a little more than half
  CHECK(link.tried_us == 0);
}

TEST_CASE("nothing is tried while what goes through a slow link falls") {
  double rate = 100e3;
  Link link([&rate](double) { return rate *= 0.998; }, 100 * kMs, false);
  link.pass(10 * kSecond);
  CHECK(link.tried_us == 0);
}

// Twice as much on its way is a gain of a sixth only by the time that it is measured.
TEST_CASE("a rate that falls on is tried with four times as much on its way") {
  double rate = 8e6;
  Link link([&rate](double ours) { return (rate *= 0.99) / std::max(ours, 0.1); }, 100 * kMs,
            false);
  link.pass(2500 * kMs);
  CHECK(link.trial.times() >= 4);
}

// The link carries 8 MB/s. The queue stands elsewhere at first; what the link cannot carry of more
// on its way stands before the link.
TEST_CASE("a rate of less than half of what the link carries is soon higher") {
  for (const double part : {0.3, 0.36, 0.4, 0.45}) {
    CAPTURE(part);
    Link link([](double) { return 8e6; }, 100 * kMs, true);
    link.pass(kSecond);
    double through = 0;
    link.own = false;
    link.carries = [&](double ours) {
      const double wanted = part * 8e6 / std::max(ours, 1.0 / 64);
      const double rate = std::min(wanted, 8e6);
      link.queue_us = static_cast<std::uint64_t>(100e3 * wanted / rate);
      through += rate / 100;
      return rate;
    };
    link.pass(20 * kSecond);
    CHECK(through > 20 * 0.75 * 8e6);
  }
}

TEST_CASE("a link that has carried far more is tried before the rate is steady") {
  double rate = 8e6;
  bool falls = true;
  Link link([&](double ours) { return (falls ? rate *= 0.99 : rate) / std::max(ours, 0.1); },
            100 * kMs, false);
  link.pass(kSecond);  // to a third
  CHECK(link.tried_us == 0);
  link.pass(kSecond);
  CHECK(link.tried_us > 0);
  falls = false;
  link.pass(4 * kSecond);
  CHECK(link.trial.ours() < 0.5);
}

TEST_CASE("a link that has carried far more is not tried while its rate rises, or nothing goes") {
  double rate = 8e6;
  double times = 1;
  Link link([&](double) { return rate *= times; }, 100 * kMs, true);
  link.pass(kSecond);
  rate = 0;
  link.pass(3 * kSecond);
  rate = 1e6;
  times = 1.006;  // 1.16 in a quarter of a second
  const std::uint64_t before = link.tried_us;
  link.pass(2 * kSecond);
  CHECK(link.tried_us == before);
  CHECK(link.trial.ours() == 1);
}

TEST_CASE("a trial that fails there is followed by the next one after a second") {
  double rate = 8e6;
  Link link([&](double) { return rate; }, 100 * kMs, true);
  link.pass(kSecond);
  rate = 2e6;
  int trials = 0;
  for (int i = 0; i < 700; ++i) {
    const bool tries = link.trial.ours() < 1;
    link.pass(10 * kMs);
    trials += !tries && link.trial.ours() < 1 ? 1 : 0;
  }
  CHECK(trials >= 3);  // else one, in its first eight seconds
}

TEST_CASE("more is on its way once a trial has shown that it goes through, and not in the trial") {
  Link link(held_up, 100 * kMs, false);
  CHECK(link.trial.times() == 1);
  bool tried = false;
  for (int i = 0; i < 800; ++i) {
    link.pass(10 * kMs);
    const double ours = link.trial.ours();
    const std::uint32_t counted = ours == 0 ? 32 : static_cast<std::uint32_t>(1 / ours);
    if (counted == 2 && link.trial.times() == 1) tried = true;
    CHECK(link.trial.times() <= counted);
  }
  CHECK(tried);
  CHECK(link.trial.times() >= 4);
  Link own(narrow, 100 * kMs, true);
  for (int i = 0; i < 4000; ++i) {
    own.pass(10 * kMs);
    REQUIRE(own.trial.times() == 1);
  }
}

TEST_CASE("a trial that takes rate from other senders on the bottleneck link fails") {
  // Half of it is theirs: with twice as much in the queue two thirds come to this one.
  Link link([](double ours) { return 2e6 / (1 + ours); }, 100 * kMs, true);
  link.pass(60 * kSecond);
  CHECK(link.trial.ours() == 1);
  CHECK(link.tried_us < 6 * kSecond);
}

TEST_CASE("a trial during which nothing waits has failed") {
  Link link(narrow, 100 * kMs, true);
  bool waits = true;
  for (int i = 0; i < 6000; ++i) {
    const bool now_waits = link.trial.ours() == 1;
    if (now_waits != waits)
      now_waits ? link.trial.begin_wait(link.now_us) : link.trial.end_wait(link.now_us);
    waits = now_waits;
    link.pass(10 * kMs);
  }
  CHECK(link.tried_us < 8 * kSecond);
}

TEST_CASE("a trial that finds nothing to send while it settles has failed") {
  Link link(narrow, 100 * kMs, true);
  while (link.trial.ours() == 1) link.pass(10 * kMs);
  link.trial.end_wait(link.now_us);
  link.now_us += 600 * kSecond;
  link.trial.begin_wait(link.now_us);
  link.carries = [](double) { return 5e6; };
  link.pass(4 * kSecond);
  CHECK(link.trial.ours() == 1);
}

TEST_CASE("a short queue is not worth a trial") {
  Link link(held_up, 4 * kMs, false);
  link.pass(20 * kSecond);
  CHECK(link.tried_us == 0);
}

TEST_CASE("a sender that lacks something to send half of the time tells nothing of its link") {
  Link link(held_up, 100 * kMs, false);
  for (int i = 0; i < 100; ++i) {
    link.trial.end_wait(link.now_us);
    link.pass(100 * kMs);
    link.trial.begin_wait(link.now_us);
    link.pass(100 * kMs);
  }
  CHECK(link.tried_us == 0);
}

TEST_CASE("a trial that ends for want of something to send changes nothing") {
  Link link(narrow, 100 * kMs, true);
  while (link.trial.ours() == 1) link.pass(10 * kMs);
  link.trial.end_wait(link.now_us);
  link.pass(5 * kSecond);
  CHECK(link.trial.ours() == 1);
}

TEST_CASE("a rate that rises by itself at the beginning is no success of a trial") {
  double rate = 1e5;
  Link link([&rate](double) { return rate = std::min(rate * 1.01, 4e6); }, 100 * kMs, true);
  link.pass(60 * kSecond);
  CHECK(link.trial.ours() == 1);
}

// As where a swarm begins: the rate grows while a first trial goes on, and the queue only later.
TEST_CASE("what grew by itself during a trial is soon found out") {
  double rate = 6e5;
  int varies = 0;
  Link link(
      [&](double ours) {
        if (ours < 1) rate = 1e6;
        return rate * (varies++ / 30 % 2 == 0 ? 1.06 : 0.94);
      },
      30 * kMs, false);
  while (link.trial.ours() == 1) link.pass(10 * kMs);
  link.pass(2500 * kMs);
  CHECK(link.trial.ours() == 1);
  CHECK(link.tried_us < 1500 * kMs);
  const std::uint64_t before = link.tried_us;
  link.pass(5 * kSecond);
  CHECK(link.tried_us == before);  // and is left in peace
}

// Of each quarter of a second up to a tenth more or less than usual goes through.
TEST_CASE("rates that vary do not keep a queue from counting again") {
  for (int phase = 0; phase < 60; phase += 5) {
    CAPTURE(phase);
    int varies = phase;
    double capacity = 8e6;
    Link link(
        [&](double ours) {
          const double usual = std::min(capacity, 1e6 / std::max(ours, 0.01));
          return usual * (varies++ / 30 % 2 == 0 ? 1.1 : 0.9);
        },
        100 * kMs, false);
    link.pass(8 * kSecond);
    REQUIRE(link.trial.ours() < 0.5);
    capacity = 1e6;
    link.own = true;
    link.pass(32 * kSecond);
    CHECK(link.trial.ours() == 1);
  }
}

// As measured of a source of 8 Mbit/s with 24 receivers: what goes through in a quarter of a second
// has a standard deviation of 9 %. The queue does not grow in trials here, which helps them.
TEST_CASE("no chance makes a queue look like somebody else's for long") {
  std::uint64_t kept_us = 0, all_us = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    const auto deviation = [&random] {  // of a normal distribution, nearly
      double sum = -6;
      for (int i = 0; i < 12; ++i) sum += static_cast<double>(random()) / 4294967296.0;
      return sum;
    };
    double rate = 1e6;
    int steps = 0;
    Link link(
        [&](double) {
          if (steps++ % 25 == 0) rate = 1e6 * (1 + 0.11 * deviation());  // windows are longer
          return rate;
        },
        40 * kMs, false);
    for (int i = 0; i < 4000; ++i, all_us += 10 * kMs) {
      link.pass(10 * kMs);
      kept_us += link.trial.times() > 1 ? 10 * kMs : 0;
    }
  }
  CHECK(kept_us < all_us / 100);
}

// At last a little less goes through than would show that the queue may count again: at once, or
// after a second.
TEST_CASE("more in one window than in the one before is no gain") {
  for (const int later : {60, 140}) {
    CAPTURE(later);
    double rate = 2e6;
    Link link([&](double) { return rate; }, 40 * kMs, false);
    link.pass(5 * kSecond);  // the first trial has failed
    REQUIRE(link.tried_us > 0);
    std::uint64_t until_us = 0;
    for (Link dry = link; dry.trial.ours() == 1; dry.pass(10 * kMs)) until_us += 10 * kMs;
    link.pass(until_us - 250 * kMs);
    rate = 1.72e6;
    while (link.trial.ours() == 1) link.pass(10 * kMs);
    rate = 2.1e6;  // 1.22 times that
    for (int i = 0; i < 600; ++i) {
      if (i == later) rate = 1.9e6;
      link.pass(10 * kMs);
      REQUIRE(link.trial.times() == 1);
    }
  }
}

// By a twentieth in a quarter of a second: what is usual lags behind.
TEST_CASE("a rate that rises slowly is no gain") {
  double rate = 1e6, times = 1;
  Link link([&](double) { return rate *= times; }, 40 * kMs, false);
  link.pass(5 * kSecond);
  const std::uint64_t before = link.tried_us;
  times = 1.002;
  link.pass(7 * kSecond);
  CHECK(link.tried_us > before);
  CHECK(link.tried_us - before < 700 * kMs);  // the first window of its trial has told so
}

TEST_CASE("what is more for a quarter of a second alone is no gain") {
  for (const double burst : {1.4, 1.63}) {
    CAPTURE(burst);
    int since = 0;  // the first trial began
    Link link(
        [&](double ours) {
          since += ours < 1 || since > 0;
          return since > 30 && since < 60 ? burst * 1e6 : 1e6;
        },
        40 * kMs, false);
    for (int i = 0; i < 500; ++i) {
      link.pass(10 * kMs);
      REQUIRE(link.trial.times() == 1);
    }
    CHECK(since > 60);
  }
}

TEST_CASE("a window that carried much does not keep a queue from counting again") {
  double capacity = 5e6;
  Link link(held_up, 100 * kMs, false);
  link.pass(8 * kSecond);
  const double ours = link.trial.ours();
  REQUIRE(ours < 0.5);
  link.carries = [&](double) { return capacity; };
  link.own = true;
  std::uint64_t until_us = 0;
  for (Link dry = link; dry.trial.ours() <= ours; dry.pass(10 * kMs)) until_us += 10 * kMs;
  link.pass(until_us - 250 * kMs);
  REQUIRE(link.trial.ours() == ours);
  capacity = 5.7e6;
  while (link.trial.ours() <= ours) link.pass(10 * kMs);
  capacity = 5e6;
  link.pass(3 * kSecond);  // a round trip with its queue is 0.8 s
  CHECK(link.trial.times() < 1 / ours);
}

TEST_CASE("a source that is held up pays little for asking whether it is") {
  Link link(held_up, 100 * kMs, false);
  link.pass(8 * kSecond);
  std::uint64_t less_us = 0;  // than its link carries goes through
  for (int i = 0; i < 3000; ++i) {
    link.pass(10 * kMs);
    less_us += held_up(link.trial.ours()) < 8e6 ? 10 * kMs : 0;
  }
  CHECK(less_us > 0);
  CHECK(less_us < 700 * kMs);
}

TEST_CASE("a comparison that ends for want of something to send leaves the queue the sender's") {
  double rate = 6e5;
  Link link(
      [&](double ours) {
        if (ours < 1) rate = 1e6;
        return rate;
      },
      30 * kMs, false);
  while (link.trial.ours() == 1) link.pass(10 * kMs);
  while (link.trial.ours() < 1) link.pass(10 * kMs);  // the trial went well
  link.trial.end_wait(link.now_us);
  link.now_us += 5 * kSecond;
  link.trial.begin_wait(link.now_us);
  const std::uint64_t before = link.tried_us;
  link.pass(6 * kSecond);
  CHECK(link.trial.ours() == 1);
  CHECK(link.tried_us == before);
}
