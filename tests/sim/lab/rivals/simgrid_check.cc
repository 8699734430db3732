// A cross-check of our links against SimGrid's (Casanova, Giersch, Legrand, Quinson, Suter 2014):
// one run of twelve peers, whose blocks then go again, from the same senders to the same receivers,
// over SimGrid's network model. A sender goes through its list in order, starts a block when its
// uplink is free, and not before it has received as many blocks as it had then. SimGrid decides how
// long each block takes, and what those that overlap do to each other. The finishing times are
// compared.
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/sim/lab/rivals/super_seeding.h"

namespace sg4 = simgrid::s4u;
using namespace firn::sim;

namespace {

constexpr int kPeers = 12;
constexpr double kAgree = 0.02;

struct Node {
  sg4::Host* host = nullptr;
  sg4::SemaphorePtr arrivals;
  std::vector<Transfer> list;
  double up = 0;
};

double seconds(TimeUs time) {
  return static_cast<double>(time) * 1e-6;
}

// Our run; its transfers, and when the last block arrived.
double run_ours(bool unequal, std::vector<LabPeerSpec>& specs, std::vector<Transfer>& trace) {
  RivalRules rules;
  rules.groups = 2048;
  rules.pipeline = 3;
  SuperSeeding swarm(rules, 1);
  specs.push_back({.link = {16 * kMbit, 0, 20'000}, .source = true});
  for (int i = 0; i < kPeers; ++i) {
    specs.push_back({.link = {(i % 4 + 1) * 4 * kMbit, 0, unequal ? 10'000 + i * 3'000 : 20'000}});
  }
  for (const LabPeerSpec& spec : specs) swarm.add(spec);
  swarm.record(&trace);
  if (!swarm.run(3'600'000'000)) return -1;
  return seconds(swarm.now());
}

void send_all(std::vector<Node>& nodes, Node& node, double& last) {
  const sg4::SemaphorePtr never = sg4::Semaphore::create(0);
  std::uint64_t received = 0;
  for (const Transfer& transfer : node.list) {
    for (; received < transfer.received; ++received) node.arrivals->acquire();
    sg4::Actor::create("block", node.host, [&nodes, &node, &last, transfer] {
      Node& to = nodes[transfer.to];
      sg4::Comm::sendto(node.host, to.host, static_cast<std::uint64_t>(transfer.bytes));
      last = std::max(last, sg4::Engine::get_clock());
      to.arrivals->release();
    });
    // Until its uplink is free: in SimGrid time passes for a process that waits in vain.
    never->acquire_timeout(transfer.bytes / node.up);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<LabPeerSpec> specs;
  std::vector<Transfer> trace;
  const bool unequal = argc > 1 && std::string(argv[1]) == "unequal";
  const double ours = run_ours(unequal, specs, trace);
  if (ours < 0) return 1;

  sg4::Engine engine(&argc, argv);
  // The plain fluid model: what is measured is the sharing of links, not a fit to some TCP.
  engine.set_config("network/model:CM02");
  engine.set_config("network/crosstraffic:0");
  engine.set_config("network/TCP-gamma:0");
  auto* zone = sg4::create_star_zone("net");
  std::vector<Node> nodes(specs.size());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    Node& node = nodes[i];
    const std::string name = std::to_string(i);
    const double half = seconds(specs[i].link.delay) / 2;
    node.up = specs[i].link.up;
    node.host = zone->create_host(name, 1e9);
    auto* up = zone->create_link("up" + name, node.up)->set_latency(half)->seal();
    auto* down = zone->create_link("down" + name, 1e12)->set_latency(half)->seal();
    zone->add_route(node.host->get_netpoint(), nullptr, nullptr, nullptr, {sg4::LinkInRoute(up)},
                    false);
    zone->add_route(nullptr, node.host->get_netpoint(), nullptr, nullptr, {sg4::LinkInRoute(down)},
                    false);
    node.arrivals = sg4::Semaphore::create(0);
  }
  zone->seal();
  for (const Transfer& transfer : trace) nodes[transfer.from].list.push_back(transfer);
  double last = 0;
  for (Node& node : nodes) {
    sg4::Actor::create("uplink", node.host,
                       [&nodes, &node, &last] { send_all(nodes, node, last); });
  }
  engine.run();
  const double difference = last / ours - 1;
  std::printf("%zu blocks, %d peers: our links %.3f s, SimGrid's %.3f s, difference %+.2f %%\n",
              trace.size(), kPeers, ours, last, 100 * difference);
  return std::abs(difference) <= kAgree ? 0 : 1;
}
