#include "client/app/origin/origin_health.h"

#include <doctest/doctest.h>

namespace firn::app {
namespace {

using core::kSecond;

TransferEnd end_with(Fault fault, std::optional<std::uint32_t> retry_after_s = {}) {
  TransferEnd end;
  end.fault = fault;
  end.status = Error{ErrorCode::kUnreachable, "fetch https://host.example/", "it is down"};
  end.retry_after_s = retry_after_s;
  return end;
}

struct Patient {
  OriginHealth health;
  core::TimeUs now = kSecond;

  // Asks as soon as that may be done, in vain; how long it rests then, in seconds, and what is
  // said.
  std::pair<core::TimeUs, std::string> fail(const TransferEnd& end) {
    now = std::max(now, health.rests_until());
    const core::TimeUs began = now++;
    std::string said = health.failed(end, began, now);
    return {(health.rests_until() - now) / kSecond, said};
  }
};

TEST_CASE("an origin that cannot be reached rests longer each time, up to a minute") {
  Patient it;
  for (const core::TimeUs rest : {1, 2, 4, 8, 16, 32, 60, 60, 60})
    CHECK(it.fail(end_with(Fault::kPassing)).first == rest);
  CHECK_FALSE(it.health.well(it.now));
  CHECK(it.health.well(it.now + 60 * kSecond));
}

TEST_CASE("the third failure in a row is said, once, and that it goes on") {
  Patient it;
  CHECK(it.fail(end_with(Fault::kPassing)).second.empty());
  CHECK(it.fail(end_with(Fault::kPassing)).second.empty());
  CHECK(it.health.trouble() == "it is down");
  CHECK_FALSE(it.fail(end_with(Fault::kPassing)).second.empty());
  CHECK(it.fail(end_with(Fault::kPassing)).second.empty());
  it.now = it.health.rests_until();
  CHECK(it.health.worked(it.now));
  CHECK_FALSE(it.health.worked(it.now));
  CHECK(it.health.trouble().empty());
  CHECK(it.fail(end_with(Fault::kPassing)).first == 1);
}

TEST_CASE("what worked between failures is not said to go on") {
  Patient it;
  it.fail(end_with(Fault::kPassing));
  it.now = it.health.rests_until();
  CHECK_FALSE(it.health.worked(it.now));
}

TEST_CASE("runs that fail together count once") {
  Patient it;
  const core::TimeUs began = it.now++;
  it.health.failed(end_with(Fault::kPassing), began, it.now);
  const core::TimeUs rests_until = it.health.rests_until();
  for (int i = 0; i < 5; ++i)
    CHECK(it.health.failed(end_with(Fault::kPassing), began, it.now).empty());
  CHECK(it.health.rests_until() == rests_until);
}

TEST_CASE("a server says how long it is not to be asked") {
  Patient it;
  CHECK(it.fail(end_with(Fault::kPassing, 17)).first == 17);
  CHECK(it.fail(end_with(Fault::kPassing, 0)).first == 1);
}

TEST_CASE("an origin whose answers will be of no use again is left alone, which is said once") {
  for (const Fault fault : {Fault::kForbidden, Fault::kGone, Fault::kNoRanges, Fault::kChanged,
                            Fault::kEncoded, Fault::kNotAllowed}) {
    Patient it;
    const std::string said = it.health.failed(end_with(fault), 0, kSecond);
    CHECK(said.find("it is down") != std::string::npos);
    CHECK(said.find("not asked again") != std::string::npos);
    CHECK(it.health.rests_until() == core::kNever);
    CHECK(it.health.failed(end_with(fault), 2 * kSecond, 3 * kSecond).empty());
  }
  Patient other;
  CHECK_FALSE(other.health.sent_others("https://host.example/", 5).empty());
  CHECK(other.health.rests_until() == core::kNever);
}

TEST_CASE("an origin is asked each minute while another server seems to answer for it") {
  Patient it;
  CHECK_FALSE(it.fail(end_with(Fault::kWrongServer)).second.empty());
  for (int i = 0; i < 3; ++i) {
    CHECK(it.health.rests_until() == it.now + 60 * kSecond);
    CHECK(it.fail(end_with(Fault::kWrongServer)).second.empty());
  }
  CHECK(it.health.worked(it.health.rests_until()));
  CHECK(it.health.well(it.health.rests_until()));
}

TEST_CASE("an origin that has worked may have its signatures renewed within a minute") {
  Patient it;
  it.health.worked(it.now);
  CHECK_FALSE(it.fail(end_with(Fault::kForbidden)).second.empty());
  CHECK(it.health.rests_until() == it.now + 60 * kSecond);
  CHECK(it.fail(end_with(Fault::kForbidden)).second.empty());
  CHECK(it.health.rests_until() == it.now + 60 * kSecond);
  CHECK(it.health.worked(it.health.rests_until()));
}

}  // namespace
}  // namespace firn::app
