// firn-tracker-memory: how much memory a tracker's tables take for each peer, without connections.
// Prints one line; each address is in a prefix of its own unless --per-prefix says otherwise. With
// --times some more: how much processor time single announces and samples took, so that what other
// programs do on the machine does not count. The clock's own time is in it, and is printed first.
#include <time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "tests/tracker_load/tally.h"
#include "tracker/registry_memory.h"

namespace {

using namespace firn;
using namespace firn::tracker;

std::uint64_t resident_bytes() {
  std::uint64_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

template <typename Id>
Id id_of(std::uint64_t number) {
  Id id;
  number *= 0x9e3779b97f4a7c15u;  // so that ids differ in all bytes that tables go by
  for (std::size_t at = 0; at < id.bytes.size(); at += sizeof number)
    std::memcpy(id.bytes.data() + at, &number, sizeof number);
  return id;
}

PackedPeer peer_of(std::uint64_t number, std::uint64_t per_prefix) {
  PackedPeer peer;
  peer.endpoint.id = id_of<PeerId>(number + 1);
  const std::uint64_t prefix = number / per_prefix;
  peer.endpoint.ip = {static_cast<std::uint8_t>(1 + prefix / 65'536 % 223),
                      static_cast<std::uint8_t>(prefix / 256 % 256),
                      static_cast<std::uint8_t>(prefix % 256),
                      static_cast<std::uint8_t>(1 + number % per_prefix)};
  peer.endpoint.port = 4711;
  peer.complete = number % 3 == 0;
  return peer;
}

// Of one kind of call, in nanoseconds.
class Stopwatch {
 public:
  template <class Call>
  void time(const Call& call) {
    const std::int64_t begin = now();
    call();
    const std::int64_t took = now() - begin;
    times_.add(took);
    longest_ = std::max<std::int64_t>(longest_, took);
  }
  void print(const char* what) const {
    std::printf("%s: p50 %.2f us, p99 %.2f us, p99.99 %.1f us, longest %.1f us\n", what,
                us(times_.part(0.5)), us(times_.part(0.99)), us(times_.part(0.9999)), us(longest_));
  }

 private:
  static std::int64_t now() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  }
  static double us(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1000; }

  tracker_load::Latencies times_;
  std::int64_t longest_ = 0;
};

struct Shape {
  std::uint64_t peers = 1'000'000, contents = 10'000, per_prefix = 1;

  ContentId content(std::uint64_t number) const { return id_of<ContentId>(number % contents + 1); }
  PackedPeer peer(std::uint64_t number) const { return peer_of(number, per_prefix); }
};

// Announces of peers that are there, and samples of 50, in random order.
void time_calls(MemoryRegistry& registry, const Shape& shape) {
  constexpr int kCalls = 1'000'000;
  Random random(1);
  Stopwatch renewing, sampling;
  for (int i = 0; i < kCalls; ++i) {
    const std::uint64_t number = random() % shape.peers;
    const ContentId content = shape.content(number);
    const PackedPeer peer = shape.peer(number);
    renewing.time([&] { (void)registry.announce(content, peer, Time(1)); });
  }
  renewing.print("announces of known peers");
  Endpoints drawn;
  for (int i = 0; i < kCalls / 10; ++i) {
    const std::uint64_t number = random() % shape.peers;
    const SampleRequest request{shape.peer(number).endpoint.id, 50, true};
    const ContentId content = shape.content(number);
    sampling.time([&] { registry.sample(content, request, random, drawn); });
  }
  sampling.print("samples of 50");
}

}  // namespace

int main(int argc, char** argv) {
  Shape shape;
  auto& [peers, contents, per_prefix] = shape;
  std::uint64_t room = 20'000'000;
  bool times = false;
  CLI::App app("How much memory a tracker's tables take.", "firn-tracker-memory");
  app.add_option("--peers", peers)->check(CLI::Range(1, 50'000'000))->capture_default_str();
  app.add_option("--contents", contents)->check(CLI::Range(1, 10'000'000))->capture_default_str();
  app.add_option("--per-prefix", per_prefix)->check(CLI::Range(1, 250))->capture_default_str();
  app.add_option("--room", room, "peers that the tables may hold")
      ->check(CLI::Range(1, 100'000'000))
      ->capture_default_str();
  app.add_flag("--times", times, "also how long single calls take");
  CLI11_PARSE(app, argc, argv);
  RegistryLimits limits;
  limits.content_count_max = contents;
  limits.peer_count_max = room;
  limits.peers_per_content_max = peers;
  const std::uint64_t before = resident_bytes();
  MemoryRegistry registry(limits);
  Stopwatch growing;
  for (std::uint64_t number = 0; number < peers; ++number) {
    const ContentId content = shape.content(number);
    const PackedPeer peer = shape.peer(number);
    const auto announce = [&] { (void)registry.announce(content, peer, Time(0)); };
    times ? growing.time(announce) : announce();
  }
  const std::uint64_t bytes = resident_bytes() - before;
  std::printf("%llu peers in %llu contents, %llu to a prefix: %llu MiB, %llu bytes a peer\n",
              static_cast<unsigned long long>(peers), static_cast<unsigned long long>(contents),
              static_cast<unsigned long long>(per_prefix),
              static_cast<unsigned long long>(bytes >> 20),
              static_cast<unsigned long long>(bytes / peers));
  if (times) {
    Stopwatch nothing;
    for (int i = 0; i < 100'000; ++i) nothing.time([] {});
    nothing.print("the clock");
    growing.print("announces of new peers");
    time_calls(registry, shape);
  }
  return 0;
}
