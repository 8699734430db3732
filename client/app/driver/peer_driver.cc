#include "client/app/driver/peer_driver.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "client/app/backends/accounting.h"
#include "client/core/base/rate_limit.h"
#include "proto/program/hangup.h"

namespace firn::app {
namespace {

// Of an accepted connection: a Hello has a few hundred bytes at most.
constexpr std::size_t kFirstFrameBytes = 4096;
// A quarter of the time that a block of 16 KiB takes on 8 Mbit/s: longer rests leave uplinks idle,
// shorter ones cost CPU time (docs/lab/009).
constexpr std::chrono::milliseconds kTurnInterval{4};
// How long connections may take to send the last words.
constexpr core::TimeUs kGoodbyeTime = core::kSecond;

std::uint64_t fresh_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

}  // namespace

PeerDriver::PeerDriver(const DriverOptions& options, Console& console,
                       proto::transport::Identity identity, CodecChoice codec)
    : memory_(options),
      console_(console),
      identity_(std::move(identity)),
      stays_(options.stays),
      profile_(options.profile),
      inbox_(memory_.inbox, [this] { loop_.wake(); }),
      connections_(inbox_, sessions_),
      equipment_(options, std::move(codec), fresh_seed(), stages_, console,
                 [this] { loop_.wake(); }),
      up_budget_(options.up_limit, core::burst_of(options.up_limit)),
      down_budget_(options.down_limit, core::burst_of(options.down_limit)),
      ticker_(sessions_, console, options.peers_interval) {}

PeerDriver::~PeerDriver() = default;

void PeerDriver::tell_of_strangers() {
  connections_.on_refused = [this](const std::string& stranger, const std::string& why) {
    console_.debug(stranger + " turned away: " + why);
  };
}

Result<std::unique_ptr<PeerDriver>> PeerDriver::start(const DriverOptions& options,
                                                      Console& console,
                                                      const TransportStart& start_transport) {
  using proto::transport::Identity;
  auto identity = options.identity_file.empty() ? Identity::generate()
                                                : Identity::load_or_create(options.identity_file);
  if (!identity.ok()) return identity.error();
  auto codec = choose_codec(options.codec);
  if (!codec.ok()) return codec.error();
  std::unique_ptr<PeerDriver> driver(
      new PeerDriver(options, console, *std::move(identity), *std::move(codec)));
  driver->tell_of_strangers();
  if (const Status listens = driver->listen(options, start_transport); !listens.ok())
    return listens.error();
  driver->host_.emplace(driver->make_host());
  return driver;
}

Status PeerDriver::listen(const DriverOptions& options, const TransportStart& start_transport) {
  proto::transport::Options transport_options;
  transport_options.io_threads = options.io_threads;
  transport_options.stages = &stages_;
  transport_options.turn_interval = kTurnInterval;
  transport_options.interface = options.interface;
  transport_options.connection_count_max = options.connections_max;
  transport_options.first_frame_bytes_max = kFirstFrameBytes;
  transport_options.find_payload = proto::find_payload;
  auto transport = start_transport(identity_, inbox_, transport_options);
  if (!transport.ok()) return transport.error();
  transport_ = *std::move(transport);
  inbox_.attach(transport_.get());
  connections_.attach(*transport_);
  auto listening = transport_->listen(options.listen);
  if (!listening.ok()) return listening.error();
  listening_ = *listening;
  listening_.id = id();
  return Done{};
}

SessionHost PeerDriver::make_host() {
  return {loop_,
          connections_,
          equipment_.lent(),
          console_,
          readings_,
          stages_,
          counts_,
          identity_,
          memory_.rows,
          to_text(listening_),
          [this] { session_changed(); },
          [this] { return transfers(); },
          [this](const SessionPlan& plan) { return sessions_.target_taken(plan); }};
}

std::shared_ptr<Transfers> PeerDriver::transfers() {
  if (!transfers_) {
    transfers_ = Transfers::start();
    if (!transfers_->ok()) console_.warning("no origin is used: " + transfers_->error().message());
  }
  return transfers_->ok() ? transfers_->value() : nullptr;
}

ContentSession& PeerDriver::add(SessionPlan plan) {
  plan.core.self = id();
  plan.core.seed = fresh_seed();
  std::ranges::copy(SigningKey::generate().secret(), plan.core.key_secret.begin());
  plan.core.listen_port = listening_.port;
  plan.core.link = &link_.facts();
  plan.core.up_budget = &up_budget_;
  plan.core.down_budget = &down_budget_;
  plan.core.memory_bytes = memory_.content;
  return sessions_.add(*host_, std::move(plan));
}

std::weak_ptr<const void> PeerDriver::remove(const ContentSession& ended) {
  std::weak_ptr<const void> files = ended.outcome().store;
  sessions_.remove(ended);
  return files;
}

void PeerDriver::set_limits(std::uint64_t up, std::uint64_t down) {
  up_budget_.set_rate(up, core::burst_of(up), loop_.now());
  down_budget_.set_rate(down, core::burst_of(down), loop_.now());
  session_changed();
}

void PeerDriver::on_turn(std::function<core::TimeUs(core::TimeUs)> observer) {
  observer_ = std::move(observer);
}

void PeerDriver::stop() {
  if (stopping_) return;
  stopping_ = true;
  sessions_.stop();
  session_changed();  // there may be none that asks for a turn
}

void PeerDriver::session_changed() {
  if (turning_) {
    again_ = true;
  } else {
    loop_.wake();
  }
}

void PeerDriver::signalled(int number) {
  if (number == SIGUSR1) return ticker_.show_peers(loop_.now());
  if (number == SIGHUP) {
    if (hangup() == Hangup::kReopens) {
      console_.reopen_log();
      if (reload_) reload_();
      return;
    }
    leave_closed_terminal();
    // Kernel and shell both send it, so that one more is no second wish.
    if (stopping_) return;
  } else if (stopping_) {
    console_.clear_progress();
    std::_Exit(static_cast<int>(ExitCode::kInterrupted));
  }
  console_.info(number == SIGHUP ? "the terminal has closed: stopping"
                                 : "stopping; once more to stop at once");
  stop();
}

ExitCode PeerDriver::run() {
  const StageClock::Attach counted(&stages_, Stage::kMainTurns);
  std::optional<StageProfile> profile;
  const StageCounts entered = stages_.counts();
  std::optional<ThreadWatch> threads;
  if (profile_) {
    profile.emplace();
    threads.emplace();
  }
  loop_.on_turn([this] { turn(); });
  loop_.on_signal([this](int number) { signalled(number); });
  equipment_.say(console_);
  sessions_.start();
  ticker_.start(loop_.now());
  loop_.wake();
  loop_.run();
  console_.tell_passed_over(std::nullopt);
  console_.clear_progress();
  if (profile) tell_profile(profile->spent(), threads->spent(), entered);
  return sessions_.result();
}

void PeerDriver::tell_profile(const StageProfile::Spent& spent,
                              const std::vector<ThreadWatch::Spent>& threads,
                              const StageCounts& before) {
  StageCounts entered = stages_.counts();
  for (std::size_t s = 0; s < kStageCount; ++s) entered[s] -= before[s];
  console_.event(profile_event(spent, threads, entered));
  for (const std::string& line : profile_lines(spent, threads)) console_.info(line);
}

void PeerDriver::turn() {
  turning_ = true;
  const core::TimeUs now = loop_.now();
  {
    const StageScope stage(Stage::kEvents);
    link_.look(transport_->times_on_way(), now);
    inbox_.take(events_, now);
    for (TransportEvent& event : events_) connections_.handle(std::move(event), now);
    equipment_.run_completions();
  }
  const StageScope stage(Stage::kTimers);
  connections_.wake(now);
  do {
    again_ = false;
    sessions_.turn(now);
  } while (again_);
  ticker_.wake(now, stopping_);
  turning_ = false;
  if (over(now)) {
    loop_.stop();
  } else {
    arm(now);
  }
}

bool PeerDriver::over(core::TimeUs now) {
  if (!sessions_.ended() || (stays_ && !stopping_)) return false;
  if (goodbye_due_ == core::kNever) {
    goodbye_due_ = now + kGoodbyeTime;
    sessions_.hang_up();
  }
  return connections_.closing_count() == 0 || now >= goodbye_due_;
}

void PeerDriver::arm(core::TimeUs now) {
  core::TimeUs at = std::min({connections_.next_wake(), inbox_.next_wake(), ticker_.next_wake(),
                              sessions_.next_wake(), goodbye_due_});
  if (observer_) at = std::min(at, observer_(now));
  loop_.wake_at(at);
}

}  // namespace firn::app
