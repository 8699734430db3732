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

TEST_CASE("people learn when an origin is asked again") {
  Patient it;
  for (int i = 0; i < 2; ++i) it.fail(end_with(Fault::kPassing));
  const std::string said = it.fail(end_with(Fault::kPassing)).second;
  CHECK(said.ends_with("this origin is asked again in 4 s"));
}

TEST_CASE("an origin that must not be asked is left alone, which is said once") {
  Patient it;
  const std::string said = it.health.failed(end_with(Fault::kNotAllowed), 0, kSecond);
  CHECK(said.find("it is down") != std::string::npos);
  CHECK(said.find("origin is not asked again") != std::string::npos);
  CHECK(it.health.rests_until() == core::kNever);
  CHECK(it.health.failed(end_with(Fault::kNotAllowed), 2 * kSecond, 3 * kSecond).empty());
}

TEST_CASE("a missing file, or another one in its place, says nothing of the other files") {
  const OriginHealth fresh;
  for (const Fault fault :
       {Fault::kForbidden, Fault::kGone, Fault::kNoRanges, Fault::kChanged, Fault::kEncoded})
    CHECK(fresh.is_of_file(fault));
  for (const Fault fault : {Fault::kPassing, Fault::kWrongServer, Fault::kNotAllowed})
    CHECK_FALSE(fresh.is_of_file(fault));
}

const Error kNoFile{ErrorCode::kNotFound, "fetch https://host.example/a", "no such file"};

// Files that fail one after the other; what is said of the last.
std::string files_fail(Patient& it, std::uint32_t count) {
  std::string said;
  for (std::uint32_t i = 0; i < count; ++i) {
    const core::TimeUs began = ++it.now;
    said = it.health.file_failed("a", kNoFile, began, ++it.now);
  }
  return said;
}

TEST_CASE("an origin that has nothing of what it is asked for is left alone after some files") {
  Patient it;
  CHECK(files_fail(it, OriginHealth::kFilesMax - 1).find("not asked for this file again") !=
        std::string::npos);
  CHECK(it.health.well(it.now));
  CHECK(files_fail(it, 1).find("this origin is not asked again") != std::string::npos);
  CHECK(it.health.rests_until() == core::kNever);
  CHECK(it.health.trouble() == "a: no such file (and 3 more files)");
  CHECK(files_fail(it, 1).empty());
}

TEST_CASE("an origin that has given something right stays, however many files it lacks") {
  Patient it;
  it.health.worked(it.now++);
  files_fail(it, 1);
  CHECK(it.health.trouble() == "a: no such file");
  CHECK(files_fail(it, 20).empty());  // and not each is said
  CHECK(it.health.well(it.now));
}

TEST_CASE("files that fail together count as one failure") {
  Patient it;
  const core::TimeUs began = it.now++;
  CHECK_FALSE(it.health.file_failed("a", kNoFile, began, it.now).empty());
  for (int i = 0; i < 10; ++i) CHECK(it.health.file_failed("b", kNoFile, began, it.now).empty());
  CHECK(it.health.well(it.now));
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
