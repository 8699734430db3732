#include "tests/bench/prices.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <thread>
#include <vector>

#include "codec/random.h"
#include "codec/span_basis.h"
#include "proto/base/result.h"
#include "proto/base/stage_times.h"
#include "proto/framing.h"
#include "proto/messages.h"
#include "proto/payload_place.h"

namespace firn {
namespace {

constexpr int kPriceRounds = 5;

// Nanoseconds for one of `count`, in the best of the rounds.
double each_ns(std::size_t count, const std::function<void()>& work) {
  double least = 1e9;
  for (int i = 0; i < kPriceRounds; ++i) {
    const double begin = thread_cpu_seconds();
    work();
    least = std::min(least, thread_cpu_seconds() - begin);
  }
  return 1e9 * least / static_cast<double>(count);
}

// One end of two threads that wake each other in turns.
class WakingEnd {
 public:
  WakingEnd() : event_(::eventfd(0, EFD_NONBLOCK)), epoll_(::epoll_create1(0)) {
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    FIRN_CHECK(event_ >= 0 && epoll_ >= 0 &&
               ::epoll_ctl(epoll_, EPOLL_CTL_ADD, event_, &wanted) == 0);
  }
  ~WakingEnd() { ::close(event_), ::close(epoll_); }
  WakingEnd(const WakingEnd&) = delete;
  WakingEnd& operator=(const WakingEnd&) = delete;

  void wake() {
    const std::uint64_t one = 1;
    FIRN_CHECK(::write(event_, &one, sizeof one) == sizeof one);
  }
  void await() {
    epoll_event come{};
    std::uint64_t count = 0;
    while (::epoll_wait(epoll_, &come, 1, -1) != 1) {
    }
    FIRN_CHECK(::read(event_, &count, sizeof count) == sizeof count);
  }

 private:
  const int event_, epoll_;
};

// The whole of a wake-up is processor time of both threads. What of it the signal takes is the
// median of the clock on the wall around it: the thread that is woken may interrupt it.
void measure_wake_ups(nlohmann::ordered_json& prices) {
  constexpr std::size_t kTurns = 20'000;
  WakingEnd here, there;
  double other_cpu = 0;
  std::thread other([&] {
    const double begin = thread_cpu_seconds();
    for (std::size_t i = 0; i < kTurns; ++i) there.await(), here.wake();
    other_cpu = thread_cpu_seconds() - begin;
  });
  std::vector<double> signals_ns(kTurns);
  const double begin = thread_cpu_seconds();
  for (double& signal_ns : signals_ns) {
    const auto before = std::chrono::steady_clock::now();
    there.wake();
    const auto after = std::chrono::steady_clock::now();
    signal_ns = std::chrono::duration<double, std::nano>(after - before).count();
    here.await();
  }
  const double own_cpu = thread_cpu_seconds() - begin;
  other.join();
  std::nth_element(signals_ns.begin(), signals_ns.begin() + kTurns / 2, signals_ns.end());
  const double whole = 1e9 * (own_cpu + other_cpu) / (2 * kTurns);
  const double signal = std::min(signals_ns[kTurns / 2], whole);
  prices["wake_up_signal"] = signal;
  prices["wake_up_wait"] = whole - signal;
}

double page_fault_ns() {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return each_ns(kBytes / page, [page] {
    void* const memory =
        ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FIRN_CHECK(memory != MAP_FAILED);
    (void)::madvise(memory, kBytes, MADV_NOHUGEPAGE);
    for (std::size_t at = 0; at < kBytes; at += page)
      static_cast<volatile std::uint8_t*>(memory)[at] = 1;
    ::munmap(memory, kBytes);
  });
}

double stage_ns() {
  constexpr std::size_t kTimes = 1'000'000;
  StageClock clock;
  const StageClock::Attach counted(&clock, Stage::kActions);
  return each_ns(kTimes, [] {
    for (std::size_t i = 0; i < kTimes; ++i) const StageScope stage(Stage::kTls);
  });
}

void measure_messages(nlohmann::ordered_json& prices) {
  constexpr std::size_t kTimes = 20'000;
  codec::CoefficientStream random(7, 0);
  proto::Block block;
  block.generation = 1000;
  block.sequence = 100'000;
  block.coefficients.resize(kN);
  random.fill(block.coefficients);
  block.payload = proto::Payload::allocate(kBlockBytes);
  const proto::PeerMessage message(block);
  prices["block_serialize"] = each_ns(kTimes, [&] {
    for (std::size_t i = 0; i < kTimes; ++i) (void)serialize(message);
  });
  const proto::OutgoingFrame frame = serialize(message);
  const auto* head = reinterpret_cast<const std::uint8_t*>(frame.head.data());
  const std::span<const std::uint8_t> fields =
      std::span(head, frame.head.size()).subspan(proto::kFramePrefixBytes);
  prices["block_parse"] = each_ns(kTimes, [&] {
    for (std::size_t i = 0; i < kTimes; ++i)
      FIRN_CHECK(proto::parse_peer_message(fields, block.payload).ok());
  });
}

double payload_ns() {
  constexpr std::size_t kTimes = 100'000;
  return each_ns(kTimes, [] {
    for (std::size_t i = 0; i < kTimes; ++i) (void)proto::Payload::allocate(kBlockBytes);
  });
}

double vector_ns() {
  constexpr std::size_t kGenerations = 100;
  std::vector<std::uint8_t> vectors(kN * kN);
  codec::CoefficientStream random(7, 0);
  random.fill(vectors);
  return each_ns(kGenerations * kN, [&] {
    for (std::size_t g = 0; g < kGenerations; ++g) {
      codec::SpanBasis basis(kN);
      for (std::size_t i = 0; i < kN; ++i)
        (void)basis.insert(std::span(vectors).subspan(i * kN, kN));
      basis.settle();
    }
  });
}

}  // namespace

double thread_cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

nlohmann::ordered_json measure_prices() {
  nlohmann::ordered_json prices;
  measure_wake_ups(prices);
  prices["page_fault"] = page_fault_ns();
  prices["stage"] = stage_ns();
  measure_messages(prices);
  prices["payload"] = payload_ns();
  prices["vector"] = vector_ns();
  return prices;
}

}  // namespace firn
