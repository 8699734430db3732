#include "tests/tracker_load/crowd.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace firn::tracker_load {
namespace {

constexpr std::size_t kEventsMax = 512;
constexpr int kWaitMs = 1;
constexpr TimeUs kLookEvery = kSecond / 10;

}  // namespace

TimeUs clock_us() {
  using namespace std::chrono;
  return duration_cast<microseconds>(steady_clock::now().time_since_epoch()).count();
}

Crowd::Crowd(const CrowdOptions& options, std::vector<std::unique_ptr<Party>> parties, Tally& tally,
             Phases& phases)
    : options_(options),
      parties_(std::move(parties)),
      states_(parties_.size()),
      tally_(tally),
      phases_(phases),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  FIRN_CHECK(epoll_ >= 0);
}

Crowd::~Crowd() {
  parties_.clear();
  ::close(epoll_);
}

void Crowd::run() {
  began_ = clock_us();
  std::array<epoll_event, kEventsMax> events{};
  while (!phases_.over) {
    tally_.measuring = phases_.measuring;
    begin_some(clock_us());
    look_some(clock_us());
    if (options_.announces_a_second > 0 && told_ready_) ask_some(clock_us());
    const int ready = ::epoll_wait(epoll_, events.data(), kEventsMax, kWaitMs);
    const TimeUs now = clock_us();
    for (int i = 0; i < ready; ++i) go_on(static_cast<std::size_t>(events[i].data.u64), now);
    if (told_ready_ || begun_ < parties_.size() || connecting_ > 0) continue;
    told_ready_ = true;
    asking_since_ = now;
    ++phases_.ready;
  }
  tally_.measuring = false;
}

void Crowd::look_some(TimeUs now) {
  if (now - looked_ < kLookEvery) return;
  looked_ = now;
  for (std::size_t index = 0; index < begun_; ++index)
    if (!states_[index].ended) parties_[index]->look(now);
}

void Crowd::begin_some(TimeUs now) {
  for (const std::size_t index : std::exchange(again_, {})) {
    if (const Status began = parties_[index]->begin(now); began.ok()) {
      watch(index);
    } else {
      end(index, began.error());
    }
  }
  const auto due = static_cast<std::size_t>(static_cast<double>(now - began_) / 1e6 *
                                            options_.connects_a_second);
  while (begun_ < std::min(due, parties_.size()) && connecting_ < options_.connecting_max) {
    const std::size_t index = begun_++;
    ++connecting_;
    if (const Status began = parties_[index]->begin(now); began.ok()) {
      watch(index);
    } else {
      end(index, began.error());
    }
  }
}

// In turn, so that all have as many.
void Crowd::ask_some(TimeUs now) {
  const auto due = static_cast<std::uint64_t>(static_cast<double>(now - asking_since_) / 1e6 *
                                              options_.announces_a_second);
  for (; asked_ < due; ++asked_) {
    const TimeUs due_at = asking_since_ + static_cast<TimeUs>(static_cast<double>(asked_ + 1) *
                                                              1e6 / options_.announces_a_second);
    bool taken = false;
    for (std::size_t tried = 0; tried < parties_.size() && !taken; ++tried) {
      const std::size_t index = turn_++ % parties_.size();
      if (states_[index].ended || !parties_[index]->ask(due_at)) continue;
      taken = true;
      if (const Status sent = parties_[index]->send_asked(now); sent.ok()) {
        watch(index);
      } else {
        end(index, sent.error());
      }
    }
    if (!taken) return;  // all wait for answers: it is late, and counts as that
  }
}

void Crowd::settle(std::size_t index) {
  if (!std::exchange(states_[index].settled, true)) --connecting_;
}

void Crowd::go_on(std::size_t index, TimeUs now) {
  Party& party = *parties_[index];
  if (states_[index].ended || party.fd() < 0) return;
  if (const Status went = party.go_on(now); !went.ok()) return end(index, went.error());
  if (party.open() || party.fd() < 0) settle(index);
  if (party.fd() >= 0) return watch(index);
  states_[index].watched = 0;
  again_.push_back(index);
}

// It is counted, and not begun again.
void Crowd::end(std::size_t index, const Error& error) {
  ++tally_.errors[error.message()];
  if (parties_[index]->open()) --tally_.open;
  if (states_[index].watched != 0)
    (void)::epoll_ctl(epoll_, EPOLL_CTL_DEL, parties_[index]->fd(), nullptr);
  states_[index].watched = 0;
  states_[index].ended = true;
  settle(index);
}

void Crowd::watch(std::size_t index) {
  const Party& party = *parties_[index];
  std::uint32_t& watched = states_[index].watched;
  const std::uint32_t wanted = EPOLLIN | (party.wants_to_write() ? EPOLLOUT : 0u);
  if (wanted == watched) return;
  epoll_event event{};
  event.events = wanted;
  event.data.u64 = index;
  const int operation = watched == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  FIRN_CHECK(::epoll_ctl(epoll_, operation, party.fd(), &event) == 0);
  watched = wanted;
}

}  // namespace firn::tracker_load
