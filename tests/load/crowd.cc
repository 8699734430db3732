#include "tests/load/crowd.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace firn::load {
namespace {

constexpr std::size_t kEventsAtOnce = 256;

}  // namespace

TimeUs clock_us() {
  using namespace std::chrono;
  return duration_cast<microseconds>(steady_clock::now().time_since_epoch()).count();
}

Crowd::Crowd(const Target& target, std::vector<Fate> fates)
    : target_(target),
      fates_(std::move(fates)),
      watched_(fates_.size()),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  FIRN_CHECK(epoll_ >= 0);
  for (std::size_t i = 0; i < fates_.size(); ++i) {
    watched_[i].due = fates_[i].connects_at;
    line_.emplace(fates_[i].connects_at, i);
  }
}

Crowd::~Crowd() {
  fates_.clear();
  ::close(epoll_);
}

void Crowd::at(TimeUs when, std::function<void()> what) {
  calls_.emplace_back(when, std::move(what));
  std::stable_sort(calls_.begin(), calls_.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
}

void Crowd::run(TimeUs until) {
  for (TimeUs now = clock_us(); now < until; now = clock_us()) {
    while (!calls_.empty() && calls_.back().first <= now) {
      calls_.back().second();
      calls_.pop_back();
    }
    while (!line_.empty() && line_.top().first <= now) {
      const auto [due, index] = line_.top();
      line_.pop();
      if (watched_[index].due != due) continue;  // it was put off, or brought forward
      watched_[index].due = 0;
      wake(index, now);
    }
    TimeUs next = until;
    if (!calls_.empty()) next = std::min(next, calls_.back().first);
    if (!line_.empty()) next = std::min(next, line_.top().first);
    wait(next);
  }
}

void Crowd::wait(TimeUs until) {
  const TimeUs left = std::max<TimeUs>(until - clock_us(), 0);
  std::array<epoll_event, kEventsAtOnce> events{};
  const int ready =
      ::epoll_wait(epoll_, events.data(), kEventsAtOnce, static_cast<int>((left + 999) / 1000));
  const TimeUs now = clock_us();
  for (int i = 0; i < ready; ++i) wake(static_cast<std::size_t>(events[i].data.u64), now);
}

void Crowd::wake(std::size_t index, TimeUs now) {
  Fate& fate = fates_[index];
  if (!fate.error.empty()) return;
  const bool begun = fate.link->fd() >= 0;
  const Status went =
      begun ? fate.link->go_on(now) : fate.link->connect(target_, fate.source_ip, now);
  if (!went.ok()) return end(index, went.error().message());
  fate.opened |= fate.link->open();
  watch(index, now);
}

// Its socket leaves epoll when the link goes, at the end.
void Crowd::end(std::size_t index, const std::string& why) {
  fates_[index].error = why;
  if (watched_[index].events != 0)
    (void)::epoll_ctl(epoll_, EPOLL_CTL_DEL, fates_[index].link->fd(), nullptr);
  watched_[index] = {};
}

void Crowd::watch(std::size_t index, TimeUs now) {
  const Link& link = *fates_[index].link;
  Watched& watched = watched_[index];
  epoll_event event{};
  event.data.u64 = index;
  if (link.wants_to_read(now)) event.events |= EPOLLIN;
  if (link.wants_to_write()) event.events |= EPOLLOUT;
  if (event.events != watched.events) {
    const int operation = watched.events == 0 ? EPOLL_CTL_ADD
                          : event.events == 0 ? EPOLL_CTL_DEL
                                              : EPOLL_CTL_MOD;
    FIRN_CHECK(::epoll_ctl(epoll_, operation, link.fd(), &event) == 0);
    watched.events = event.events;
  }
  const auto due = link.next_due(now);
  if (!due || *due == watched.due) return;
  watched.due = *due;
  line_.emplace(*due, index);
}

}  // namespace firn::load
