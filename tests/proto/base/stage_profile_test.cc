// Sampling where processor time goes.
#include "proto/base/stage_profile.h"

#include <doctest/doctest.h>

#include <numeric>
#include <thread>

namespace firn {
namespace {

double seconds_of(const StageProfile::Spent& spent, Stage stage) {
  return spent.seconds[static_cast<std::size_t>(stage)];
}

// Works in a stage until samples of it have come; a profile that takes none never ends.
void work_in(Stage stage, const StageProfile& profile, std::uint64_t samples_more) {
  const StageScope scope(stage);
  const std::uint64_t before = profile.spent().samples;
  while (profile.spent().samples < before + samples_more) {
  }
}

TEST_CASE("processor time counts for the stage in which it was used, and adds up") {
  const StageProfile profile;
  work_in(Stage::kDecode, profile, 30);
  work_in(Stage::kHash, profile, 10);
  const StageProfile::Spent spent = profile.spent();
  const double all = std::accumulate(spent.seconds.begin(), spent.seconds.end(), 0.0);
  CHECK(all == doctest::Approx(spent.cpu_user + spent.cpu_system));
  CHECK(seconds_of(spent, Stage::kDecode) > seconds_of(spent, Stage::kHash));
  CHECK(seconds_of(spent, Stage::kHash) > 0);
  CHECK(seconds_of(spent, Stage::kTls) == 0);
}

TEST_CASE("each thread's time counts for the stage that this thread is in") {
  const StageProfile profile;
  const StageScope waiting(Stage::kMainTurns);
  std::jthread([&] { work_in(Stage::kEncode, profile, 20); }).join();
  CHECK(seconds_of(profile.spent(), Stage::kEncode) >
        seconds_of(profile.spent(), Stage::kMainTurns));
}

TEST_CASE("a profile begins with nothing, also after another one") {
  { work_in(Stage::kDecode, StageProfile(), 5); }
  const StageProfile second;
  CHECK(second.spent().samples < 5);
  work_in(Stage::kHash, second, 5);
  CHECK(seconds_of(second.spent(), Stage::kDecode) == 0);
}

}  // namespace
}  // namespace firn
