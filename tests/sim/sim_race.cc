// sim_race PEERS SEED_MBIT GENERATIONS N SEEDS: flash crowds of the production core in virtual
// time, one line a seed: last finisher over the fluid bound, redundant blocks, copies the source
// sent.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/sim/network.h"

int main(int argc, char** argv) {
  using namespace firn::sim;
  if (argc != 6) {
    std::fprintf(stderr, "usage: %s PEERS SEED_MBIT GENERATIONS N SEEDS\n", argv[0]);
    return 2;
  }
  const int peers = std::atoi(argv[1]);
  const double source_up = std::atof(argv[2]) * 1e6 / 8, peer_up = 1e6;
  const auto generations = static_cast<std::uint32_t>(std::atoi(argv[3]));
  const auto n = static_cast<std::uint32_t>(std::atoi(argv[4]));
  for (int seed = 1; seed <= std::atoi(argv[5]); ++seed) {
    const Content content(generations, n, 16, static_cast<std::uint64_t>(seed));
    Network network(content, static_cast<std::uint64_t>(seed));
    network.add({.link = {source_up}, .source = true});
    for (int i = 0; i < peers; ++i) network.add({.link = {peer_up}});
    network.events().run(3600 * firn::core::kSecond, [&] { return network.all_complete(); });
    firn::core::TimeUs last = 0;
    double innovative = 0, redundant = 0, wire = 0;
    for (std::size_t i = 1; i < network.size(); ++i) {
      last = std::max(last, network.peer(i).completed_at);
      const auto report = network.peer(i).report();
      innovative += static_cast<double>(report.blocks_innovative);
      redundant += static_cast<double>(report.blocks_redundant);
      wire += static_cast<double>(report.bytes_received);
    }
    const double bytes = double{16384} * generations * n;
    const double bound = std::max(bytes / source_up, peers * bytes / (source_up + peers * peer_up));
    std::printf("seed %d ratio %.4f redundant %.2f %% source %.3f copies wire %.4f\n", seed,
                static_cast<double>(last) * 1e-6 / bound,
                100 * redundant / (innovative + redundant),
                static_cast<double>(network.peer(0).uplink().blocks_departed()) / generations / n,
                1.05 * wire / bytes / peers);
  }
}
