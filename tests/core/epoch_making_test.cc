// The authority's side of Epochs: when they are made, and what they say.
#include "client/core/alarm.h"
#include "tests/core/epoch_fixture.h"

using namespace firn;
using namespace firn::test;
namespace policy = core::policy;

namespace {

constexpr PeerKey kHolder = 1, kOtherHolder = 2;

core::Options speaker_options(core::Options options = large_mesh_options()) {
  options.self = id_of(EpochFixture::kVoice);
  options.certificate = "what it shows is looked at by others";
  return options;
}

// The authority, with two neighbours that hold a part of generation 2.
struct MakingFixture : EpochFixture {
  explicit MakingFixture(core::Options options = speaker_options())
      : EpochFixture(std::move(options)) {
    begin(true);
    join(kHolder, numbered(1), 0);
    join(kOtherHolder, numbered(2), 0);
    say_state(kHolder, 0, 0, {{2, 1, 0, {}}});
  }
  // Those that were to be made; each is answered.
  std::vector<proto::Epoch> made() {
    std::vector<proto::Epoch> all;
    for (core::MakeEpoch& action : take<core::MakeEpoch>()) {
      CHECK(action.tag_bytes == policy::kCheckTagBytes);
      all.push_back(action.epoch);
      proto::Epoch epoch = std::move(action.epoch);
      epoch.key.assign(limits::kCheckKeyBytes, 1);
      for (proto::EpochSums& one : epoch.sums) one.sums.assign(kBlocks * 4, 2);
      core.authority_answered(said(std::move(epoch)), now);
      drain();
    }
    return all;
  }
  std::vector<proto::Epoch> made_within(TimeUs duration) {
    std::vector<proto::Epoch> all;
    for (TimeUs passed = 0; passed < duration; passed += 100 * kMillisecond) {
      pass(100 * kMillisecond);
      for (proto::Epoch& epoch : made()) all.push_back(std::move(epoch));
    }
    return all;
  }
};

}  // namespace

TEST_CASE("epochs are rare while nothing is wrong, frequent under alarm, and rare again") {
  MakingFixture fixture;
  const auto quiet = fixture.made_within(60 * kSecond);
  CHECK(quiet.size() >= 5);
  CHECK(quiet.size() <= 8);
  for (const proto::Epoch& epoch : quiet) CHECK_FALSE(epoch.alarm);
  fixture.say(kHolder, proto::EpochRequest{std::nullopt, true, {}});
  const auto alarmed = fixture.made_within(policy::kAlarmTime - 100 * kMillisecond);
  CHECK(alarmed.size() >= policy::kAlarmTime / policy::kEpochIntervalAlarmMax - 1);
  for (const proto::Epoch& epoch : alarmed) CHECK(epoch.alarm);
  // Its end is told at once: peers take no unproven rows until then.
  const auto over = fixture.made_within(policy::kEpochIntervalAlarmMax);
  REQUIRE_FALSE(over.empty());
  CHECK_FALSE(over.back().alarm);
  const auto after = fixture.made_within(30 * kSecond);
  CHECK(after.size() <= 5);
  CHECK_FALSE(after.back().alarm);
}

TEST_CASE("an alarm that is raised again soon lasts twice as long") {
  core::Alarm alarm;
  TimeUs now = 5 * kSecond;
  const auto lasts = [&] {
    alarm.raise(now);
    const TimeUs from = now;
    while (alarm.on(now)) now += kSecond / 10;
    return now - from;
  };
  CHECK_FALSE(alarm.on(now));
  CHECK(lasts() == policy::kAlarmTime);
  CHECK(lasts() == 2 * policy::kAlarmTime);
  now += policy::kAlarmMemory / 2;
  CHECK(lasts() == 4 * policy::kAlarmTime);
  for (int i = 0; i < 4; ++i) lasts();
  CHECK(lasts() == policy::kAlarmTimeMax);
  now += policy::kAlarmMemory;
  CHECK(lasts() == policy::kAlarmTime);
}

TEST_CASE("an alarm is fresh once, however often it is raised again") {
  core::Alarm alarm;
  alarm.raise(kSecond);
  CHECK(alarm.fresh(kSecond));
  for (TimeUs now = kSecond; now < kSecond + policy::kAlarmFresh; now += kSecond) alarm.raise(now);
  CHECK_FALSE(alarm.fresh(kSecond + policy::kAlarmFresh));
  const TimeUs over = kSecond + policy::kAlarmFresh + policy::kAlarmTime;
  CHECK_FALSE(alarm.on(over));
  alarm.raise(over);
  CHECK_FALSE(alarm.fresh(over));
  alarm.raise(over + 2 * policy::kAlarmTime + policy::kAlarmMemory);
  CHECK(alarm.fresh(over + 2 * policy::kAlarmTime + policy::kAlarmMemory));
}

TEST_CASE("the first epochs come soon, while blocks leave") {
  MakingFixture fixture;
  const auto made_in = [&](TimeUs duration) {
    std::size_t made = 0;
    for (TimeUs passed = 0; passed < duration; passed += 100 * kMillisecond) {
      fixture.say_state(kHolder, 0, 4, {{2, 1, 64, {}}});
      fixture.blocks_to(kHolder);
      made += fixture.made_within(100 * kMillisecond).size();
    }
    return made;
  };
  const std::size_t early = made_in(policy::kEpochInterval);
  CHECK(early >= 2);  // one without the rule
  CHECK(early <= policy::kEpochsEarly);
}

TEST_CASE("an alarm does not fill a slow uplink with epochs") {
  core::Options slow = large_mesh_options();
  slow.up_limit = 32 << 10;
  MakingFixture fixture(speaker_options(slow));
  fixture.made_within(policy::kEpochIntervalMax);
  std::size_t all = 0;
  for (int second = 0; second < 20; ++second) {
    fixture.say(kHolder, proto::EpochRequest{std::nullopt, true, {0, 1, 2, 3}});
    all += fixture.made_within(kSecond).size();
  }
  CHECK(all <= 13);  // twenty and more without regard to the uplink
  CHECK(all >= 8);
}

TEST_CASE("numbers rise, times are the speaker's, and no two epochs are made at once") {
  MakingFixture fixture;
  fixture.pass(60 * kSecond);
  CHECK(fixture.take<core::MakeEpoch>().size() == 1);  // which was never answered
  MakingFixture other;
  std::uint64_t number = 0;
  TimeUs time = 0;
  for (const proto::Epoch& epoch : other.made_within(60 * kSecond)) {
    CHECK(epoch.number == number + 1);
    CHECK(epoch.time_us > time);
    CHECK(epoch.time_us <= other.now);
    number = epoch.number;
    time = epoch.time_us;
  }
}

TEST_CASE("an epoch that could not be made is not told, and the next one comes") {
  MakingFixture fixture;
  fixture.pass(policy::kEpochIntervalMax + kSecond);
  REQUIRE(fixture.take<core::MakeEpoch>().size() == 1);
  fixture.core.authority_answered(proto::Epoch{}, fixture.now);
  fixture.drain();
  CHECK(fixture.handed_on(kHolder, kOtherHolder) == 0);
  CHECK_FALSE(fixture.made_within(policy::kEpochIntervalMax + kSecond).empty());
}

TEST_CASE("sums are those of generations that neighbours hold in part or ask for") {
  MakingFixture fixture;
  const auto first = fixture.made_within(policy::kEpochIntervalMax);
  REQUIRE_FALSE(first.empty());
  for (const proto::Epoch& epoch : first) {
    REQUIRE(epoch.sums.size() == 1);
    CHECK(epoch.sums[0].generation == 2);
  }
  fixture.say(kOtherHolder, proto::EpochRequest{std::nullopt, true, {0, 77}});  // 77 does not exist
  const auto next = fixture.made_within(policy::kEpochIntervalMax + kSecond);
  REQUIRE_FALSE(next.empty());
  REQUIRE(next[0].sums.size() == 2);
  CHECK(next[0].sums[0].generation == 0);
  CHECK(next[0].sums[1].generation == 2);
}

TEST_CASE("nonces are named with their age, a few of each neighbour, and once") {
  MakingFixture fixture;
  fixture.made_within(policy::kEpochIntervalMax);
  for (std::uint8_t i = 0; i < 100; ++i) fixture.say(kHolder, proto::EpochRequest{nonce_of(i)});
  fixture.say(kOtherHolder, proto::EpochRequest{nonce_of(200)});
  const TimeUs sent_at = fixture.now;
  const auto made = fixture.made_within(2 * policy::kEpochIntervalMax);
  REQUIRE(made.size() >= 2);
  CHECK(made[0].heard.size() == policy::kNoncesPerNeighbour + 1);
  for (const proto::HeardNonce& heard : made[0].heard) {
    CHECK(made[0].time_us - heard.age_us == sent_at);
  }
  CHECK(made[0].heard.back().nonce == nonce_of(200));
  CHECK(made[1].heard.empty());
}

TEST_CASE("no epochs are made in a small mesh, by other peers, or for nobody") {
  MakingFixture small;
  small.tell_of(3);
  small.made();
  CHECK(small.made_within(60 * kSecond).empty());
  core::Options plain = large_mesh_options();
  EpochFixture other(plain);
  other.begin(true);
  other.join(kHolder, numbered(1), 0);
  other.pass(60 * kSecond);
  CHECK(other.take<core::MakeEpoch>().empty());
  EpochFixture alone(speaker_options());
  alone.begin(true);
  alone.pass(60 * kSecond);
  CHECK(alone.take<core::MakeEpoch>().empty());
}
