#include "client/app/runtime/peer_driver.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <random>

#include "client/core/rate_limit.h"
#include "cuda_kernels/runtime/cache_file.h"
#include "proto/program/hangup.h"

namespace firn::app {
namespace {

// How --memory is shared out. What the core lets wait for the disk (a quarter at most) counts among
// the rows; frames on their way, decode buffers and the program itself take what is left.
std::size_t row_bytes(const DriverOptions& options) {
  return options.memory_bytes * 3 / 8 / std::max<std::size_t>(options.content_count, 1);
}
std::size_t cache_bytes(const DriverOptions& options) {
  // A peer that only serves holds no rows.
  return options.only_serves ? options.memory_bytes / 2 : options.memory_bytes / 8;
}
std::size_t inbox_bytes(const DriverOptions& options) {
  return options.memory_bytes / 16;
}
std::size_t idle_buffer_bytes(const DriverOptions& options) {
  return options.memory_bytes / 16;
}

// A quarter of the time that a block of 16 KiB takes on 8 Mbit/s: longer rests leave uplinks idle,
// shorter ones cost CPU time (docs/notes/009).
constexpr std::chrono::milliseconds kTurnInterval{4};
constexpr core::TimeUs kProgressInterval = core::kSecond;
// How long connections may take to send the last words.
constexpr core::TimeUs kGoodbyeTime = core::kSecond;

std::uint64_t fresh_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

}  // namespace

PeerDriver::PeerDriver(const DriverOptions& options, Console& console,
                       proto::transport::Identity identity)
    : options_(options),
      console_(console),
      identity_(std::move(identity)),
      inbox_(inbox_bytes(options), [this] { loop_.wake(); }),
      connections_(
          inbox_,
          [this](const ContentId& content) -> PeerEvents* {
            for (const auto& session : sessions_)
              if (session->plan().content_id == content && session->accepts_peers())
                return &session->peers();
            return nullptr;
          },
          [this](const ContentId& content) {
            return std::any_of(sessions_.begin(), sessions_.end(), [&](const auto& session) {
              return session->plan().content_id == content;
            });
          }),
      buffers_(idle_buffer_bytes(options)),
      cache_(cache_bytes(options)),
      pool_({.threads = options.threads, .stages = &stages_}, [this] { loop_.wake(); }),
      up_budget_(options.up_limit, core::burst_of(options.up_limit)),
      down_budget_(options.down_limit, core::burst_of(options.down_limit)) {}

PeerDriver::~PeerDriver() = default;

void PeerDriver::tell_of_strangers() {
  connections_.on_refused = [this](const std::string& stranger, const std::string& why) {
    console_.debug(stranger + " turned away: " + why);
  };
}

Result<std::unique_ptr<PeerDriver>> PeerDriver::start(const DriverOptions& options,
                                                      Console& console) {
  using proto::transport::Identity;
  auto identity = options.identity_file.empty() ? Identity::generate()
                                                : Identity::load_or_create(options.identity_file);
  if (!identity.ok()) return identity.error();
  auto codec = choose_codec(options.codec);
  if (!codec.ok()) return codec.error();
  std::unique_ptr<PeerDriver> driver(new PeerDriver(options, console, *std::move(identity)));
  driver->codec_ = *std::move(codec);
  driver->start_coder();
  driver->tell_of_strangers();

  proto::transport::Options transport_options;
  transport_options.io_threads = options.io_threads;
  transport_options.stages = &driver->stages_;
  transport_options.turn_interval = kTurnInterval;
  transport_options.interface = options.interface;
  auto transport =
      proto::transport::Transport::start(driver->identity_, driver->inbox_, transport_options);
  if (!transport.ok()) return transport.error();
  driver->transport_ = *std::move(transport);
  driver->inbox_.attach(driver->transport_.get());
  driver->connections_.attach(*driver->transport_);
  auto listening = driver->transport_->listen(options.listen);
  if (!listening.ok()) return listening.error();
  driver->listening_ = *listening;
  driver->listening_.id = driver->id();
  driver->host_ = std::make_unique<SessionHost>(SessionHost{
      driver->loop_, driver->connections_,
      CodingResources{driver->pool_, driver->buffers_, driver->cache_, codec::kernels(),
                      driver->loop_budget_, driver->coder_.get()},
      console, driver->stages_, row_bytes(options), to_text(driver->listening_),
      [raw = driver.get()] {
        if (raw->turning_) {
          raw->again_ = true;
        } else {
          raw->loop_.wake();
        }
      },
      [raw = driver.get()](const SessionPlan& plan) { return raw->target_taken(plan); }});
  return driver;
}

bool PeerDriver::target_taken(const SessionPlan& plan) const {
  return std::any_of(sessions_.begin(), sessions_.end(), [&](const auto& other) {
    return &other->plan() != &plan && other->has_target() &&
           plan.mode == SessionPlan::Mode::kDownload && other->plan().name() == plan.name() &&
           other->plan().dir == plan.dir;
  });
}

void PeerDriver::start_coder() {
  if (codec_.devices.empty()) return;
  coder_ = make_coder(
      codec_,
      {options_.codec, options_.threads, options_.memory_bytes, fresh_seed(), &stages_,
       cuda::default_cache_folder()},
      buffers_,
      [this](const std::string& device, const std::string& why) {
        console_.warning("GPU " + device + ": " + why + "; the coding goes on without it");
      },
      [this] { loop_.wake(); });
}

ContentSession& PeerDriver::add(SessionPlan plan) {
  plan.core.self = id();
  plan.core.seed = fresh_seed();
  plan.core.listen_port = listening_.port;
  plan.core.up_budget = &up_budget_;
  plan.core.down_budget = &down_budget_;
  plan.core.memory_bytes = options_.memory_bytes / std::max<std::size_t>(options_.content_count, 1);
  sessions_.push_back(std::make_unique<ContentSession>(
      *host_, static_cast<std::uint32_t>(sessions_.size()), std::move(plan)));
  return *sessions_.back();
}

void PeerDriver::on_turn(std::function<core::TimeUs(core::TimeUs)> observer) {
  observer_ = std::move(observer);
}

void PeerDriver::stop() {
  if (stopping_) return;
  stopping_ = true;
  for (auto& session : sessions_) session->stop();
}

void PeerDriver::show_peers(core::TimeUs now) {
  peers_at_ = options_.peers_interval > 0 ? now + options_.peers_interval : core::kNever;
  for (const auto& session : sessions_) session->show_peers();
}

void PeerDriver::signalled(int number) {
  if (number == SIGUSR1) return show_peers(loop_.now());
  if (number == SIGHUP) {
    if (hangup() == Hangup::kReopens) return console_.reopen_log();
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
  const StageClock::Attach counted(&stages_);
  loop_.on_turn([this] { turn(); });
  loop_.on_signal([this](int number) { signalled(number); });
  if (codec_.devices.empty()) {
    console_.debug("codec: " + codec_.text);
  } else {
    console_.info("codec: " + codec_.text);
  }
  for (auto& session : sessions_) session->start();
  progress_at_ = loop_.now() + kProgressInterval;
  if (options_.peers_interval > 0) peers_at_ = loop_.now() + options_.peers_interval;
  loop_.wake();
  loop_.run();
  console_.clear_progress();
  for (const auto& session : sessions_)
    if (session->result() != ExitCode::kOk) return session->result();
  return ExitCode::kOk;
}

void PeerDriver::turn() {
  turning_ = true;
  const core::TimeUs now = loop_.now();
  inbox_.take(events_);
  for (TransportEvent& event : events_) connections_.handle(std::move(event), now);
  pool_.run_completions();
  if (coder_) coder_->run_completions();
  connections_.wake(now);
  do {
    again_ = false;
    for (auto& session : sessions_) session->turn(now);
  } while (again_);
  if (now >= progress_at_) report_progress(now);
  if (now >= peers_at_) show_peers(now);
  turning_ = false;
  if (over(now)) {
    loop_.stop();
  } else {
    arm(now);
  }
}

bool PeerDriver::over(core::TimeUs now) {
  if (!std::all_of(sessions_.begin(), sessions_.end(),
                   [](const auto& session) { return session->ended(); }))
    return false;
  if (goodbye_due_ == core::kNever) {
    goodbye_due_ = now + kGoodbyeTime;
    for (auto& session : sessions_) session->hang_up();
  }
  return connections_.closing_count() == 0 || now >= goodbye_due_;
}

void PeerDriver::arm(core::TimeUs now) {
  core::TimeUs at = std::min({connections_.next_wake(), progress_at_, peers_at_, goodbye_due_});
  for (const auto& session : sessions_) at = std::min(at, session->next_wake());
  if (observer_) at = std::min(at, observer_(now));
  loop_.wake_at(at);
}

void PeerDriver::report_progress(core::TimeUs now) {
  progress_at_ = now + kProgressInterval;
  ProgressFigures all;
  bool running = false, seeding = true;
  double seconds_left = 0;
  for (auto& session : sessions_) {
    session->report_progress(now);
    if (session->ended()) continue;
    // A download that is complete has said so.
    if (session->complete() && session->plan().mode != SessionPlan::Mode::kServe) continue;
    const ProgressFigures one = session->figures();
    running |= session->running();
    seeding &= one.seeding;
    all.rank += one.rank;
    all.rank_total += one.rank_total;
    all.down_rate += one.down_rate;
    all.up_rate += one.up_rate;
    all.peers += one.peers;
    if (!one.seeding) seconds_left = std::max(seconds_left, one.seconds_left);
    all.content_bytes += one.content_bytes;
    all.name = one.name;
  }
  all.seconds_left = seconds_left;
  all.seeding = seeding;
  if (sessions_.size() > 1) all.name = std::to_string(sessions_.size()) + " contents";
  if (running && !stopping_) {
    console_.progress(all);
  } else if (std::ranges::all_of(sessions_, [](const auto& s) { return s->complete(); })) {
    console_.clear_progress();
  }
}

}  // namespace firn::app
