// firn-slow-link: a link that delays and loses frames, for scripts/swarm: not every kernel has
// netem. It joins two TAP devices that it makes, each in a network namespace, by a delay line in
// either direction; rate and queue are a token bucket's before the devices.
//
//   firn-slow-link HOST_NAMESPACE HOST_DEVICE HUB_NAMESPACE HUB_DEVICE KEY=VALUE...
//     delay_us=0   in each direction
//     loss=0       part of the frames from the host that get lost
//     offload=1    frames of many segments pass as they are; 0: each segment by itself
//     seed=1       of the lost frames
//
// Prints `ready` once both devices are there, and for each line on stdin what it has counted, as
// one line of JSON. Ends with its stdin.
//
// Few turns cost little: after one in which frames moved it rests for kRestUs, so that the delay is
// longer by that at most.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/swarm/delay_line.h"
#include "tests/swarm/tap_device.h"

using namespace firn::swarm;

namespace {

constexpr std::uint64_t kRestUs = 250;
constexpr std::size_t kUnderWayMax = 64
                                     << 20;  // bytes in one direction: 1 Gbit/s for half a second
constexpr int kFramesPerTurn = 256;          // of one direction

struct Options {
  double delay_us = 0, loss = 0, offload = 1, seed = 1;
};

std::optional<Options> options_of(int count, char** words) {
  Options options;
  for (int i = 0; i < count; ++i) {
    const std::string_view word = words[i];
    const std::size_t at = word.find('=');
    if (at == std::string_view::npos) return std::nullopt;
    char* end = nullptr;
    const double value = std::strtod(words[i] + at + 1, &end);
    const std::string_view key = word.substr(0, at);
    double* const option = key == "delay_us"  ? &options.delay_us
                           : key == "loss"    ? &options.loss
                           : key == "offload" ? &options.offload
                           : key == "seed"    ? &options.seed
                                              : nullptr;
    if (!option || *end != '\0' || value < 0) return std::nullopt;
    *option = value;
  }
  return options;
}

std::uint64_t now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

// From one device to the other.
class Direction {
 public:
  Direction(const TapDevice& from, const TapDevice& to, const DelayLine::Terms& terms)
      : from_(from), to_(to), line_(terms), buffer_(kTapFrameMax) {}

  // Takes in what waits and lets out what is due. Whether any frame moved.
  bool turn() {
    bool moved = false;
    for (int i = 0; i < kFramesPerTurn; ++i) {
      const auto frame = from_.read(buffer_);
      if (frame.empty()) break;
      line_.put(frame, now_us());
      moved = true;
    }
    const std::uint64_t now = now_us();
    while (line_.next_due() <= now) {
      to_.write(line_.take());
      moved = true;
    }
    return moved;
  }
  std::uint64_t next_due() const { return line_.next_due(); }
  const DelayLine::Counts& counts() const { return line_.counts(); }

 private:
  const TapDevice& from_;
  const TapDevice& to_;
  DelayLine line_;
  std::vector<std::uint8_t> buffer_;
};

void tell(const char* name, const DelayLine::Counts& counts, const char* after) {
  std::printf("\"%s\": {\"passed\": %" PRIu64 ", \"lost\": %" PRIu64 ", \"overflowed\": %" PRIu64
              "}%s",
              name, counts.passed, counts.lost, counts.overflowed, after);
}

// Waits for frames, for when one is due, or for a word on stdin; after a turn in which frames
// `moved` for kRestUs or a word. False: stdin is at its end.
bool wait(const TapDevice& host, const TapDevice& hub, const Direction& up, const Direction& down,
          bool moved) {
  const std::uint64_t due = std::min(up.next_due(), down.next_due());
  const std::uint64_t now = now_us();
  std::uint64_t left = due <= now ? 0 : std::min<std::uint64_t>(due - now, 1'000'000);
  if (moved) left = kRestUs;
  const timespec time{static_cast<time_t>(left / 1'000'000),
                      static_cast<long>(left % 1'000'000 * 1000)};
  pollfd polled[] = {{STDIN_FILENO, POLLIN, 0}, {host.fd(), POLLIN, 0}, {hub.fd(), POLLIN, 0}};
  const bool timed = moved || due != kNever;
  if (ppoll(polled, moved ? 1 : 3, timed ? &time : nullptr, nullptr) <= 0) return true;
  if (polled[0].revents == 0) return true;
  char word[64];
  if (read(STDIN_FILENO, word, sizeof word) <= 0) return false;
  std::printf("{");
  tell("from_host", up.counts(), ", ");
  tell("to_host", down.counts(), "}\n");
  std::fflush(stdout);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = options_of(std::max(argc - 5, 0), argv + std::min(argc, 5));
  if (argc < 5 || !options) {
    std::fprintf(stderr,
                 "usage: firn-slow-link HOST_NAMESPACE HOST_DEVICE HUB_NAMESPACE HUB_DEVICE "
                 "[delay_us=N] [loss=PART] [offload=0|1] [seed=N]\n");
    return 2;
  }
  // The host's last: its namespace is where this process stays, and ends with it.
  const bool offload = options->offload != 0;
  const TapDevice hub(argv[3], argv[4], offload), host(argv[1], argv[2], offload);
  for (const TapDevice* device : {&hub, &host}) {
    if (device->error().empty()) continue;
    std::fprintf(stderr, "firn-slow-link: %s\n", device->error().c_str());
    return 1;
  }
  DelayLine::Terms terms;
  terms.delay_us = static_cast<std::uint64_t>(options->delay_us);
  terms.bytes_max = kUnderWayMax;
  terms.seed = static_cast<std::uint64_t>(options->seed);
  Direction down(hub, host, terms);
  terms.loss = options->loss;
  Direction up(host, hub, terms);
  std::puts("ready");
  std::fflush(stdout);
  bool moved = false;
  do {
    moved = up.turn();
    moved = down.turn() || moved;
  } while (wait(host, hub, up, down, moved));
  return 0;
}
