// How often an address is called that does not answer.
#include "client/core/mesh/call_pacing.h"

#include <doctest/doctest.h>

#include "tests/core/facts.h"

using namespace firn::core;
namespace facts = firn::test::facts;

namespace {

// Calls whenever that is allowed.
int calls_in(CallPacing& pacing, const std::string& host, TimeUs from, TimeUs until, bool answers) {
  int calls = 0;
  for (TimeUs now = from; now < until && calls < 1000;
       now = std::max(now, pacing.next(host, now))) {
    if (pacing.next(host, now) > now) continue;
    pacing.called(host, now);
    if (answers) pacing.answered(host);
    ++calls;
    if (answers) now += kMillisecond;
  }
  return calls;
}

}  // namespace

TEST_CASE("an address that does not answer is called a few times, then now and then") {
  CallPacing pacing;
  CHECK(calls_in(pacing, "192.0.2.1", kSecond, 2 * kSecond, false) == facts::kVainCalls);
  const int later = calls_in(pacing, "192.0.2.1", 2 * kSecond, 42 * kSecond, false);
  CHECK(later > 0);
  CHECK(facts::kVainCalls + later <= facts::vain_calls_in(41 * kSecond));
  CHECK(pacing.next("192.0.2.2", 42 * kSecond) == 42 * kSecond);
}

TEST_CASE("calls that reach their peers are not counted") {
  CallPacing pacing;
  CHECK(calls_in(pacing, "192.0.2.1", 0, kSecond / 2, true) > 400);
}

TEST_CASE("calls in vain are forgotten") {
  CallPacing pacing;
  for (int i = 0; i < 10'000; ++i)
    pacing.called("host " + std::to_string(i), i * 50 * kMillisecond);
  CHECK(pacing.size() < 1000);
  const TimeUs later = 3600 * kSecond;
  CHECK(calls_in(pacing, "host 1", later, later + 1, false) == facts::kVainCalls);
}
