// firn-tracker-memory: how much memory a tracker's tables take for each peer, without connections.
// Prints one line; each address is in a prefix of its own unless --per-prefix says otherwise.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>
#include <fstream>

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

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t peers = 1'000'000, contents = 10'000, per_prefix = 1;
  std::uint64_t room = 20'000'000;
  CLI::App app("How much memory a tracker's tables take.", "firn-tracker-memory");
  app.add_option("--peers", peers)->check(CLI::Range(1, 50'000'000))->capture_default_str();
  app.add_option("--contents", contents)->check(CLI::Range(1, 10'000'000))->capture_default_str();
  app.add_option("--per-prefix", per_prefix)->check(CLI::Range(1, 250))->capture_default_str();
  app.add_option("--room", room, "peers that the tables may hold")
      ->check(CLI::Range(1, 100'000'000))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  RegistryLimits limits;
  limits.content_count_max = contents;
  limits.peer_count_max = room;
  limits.peers_per_content_max = peers;
  const std::uint64_t before = resident_bytes();
  MemoryRegistry registry(limits);
  for (std::uint64_t number = 0; number < peers; ++number)
    (void)registry.announce(id_of<ContentId>(number % contents + 1), peer_of(number, per_prefix),
                            Time(0));
  const std::uint64_t bytes = resident_bytes() - before;
  std::printf("%llu peers in %llu contents, %llu to a prefix: %llu MiB, %llu bytes a peer\n",
              static_cast<unsigned long long>(peers), static_cast<unsigned long long>(contents),
              static_cast<unsigned long long>(per_prefix),
              static_cast<unsigned long long>(bytes >> 20),
              static_cast<unsigned long long>(bytes / peers));
  return 0;
}
