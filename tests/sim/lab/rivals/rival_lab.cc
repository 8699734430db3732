// rival_lab strategy=NAME KEY=VALUE...: as swarm_lab, of a swarm that does not recode. The keys are
// those of setting.h, and
//
//   strategy=rarest-first | super-seeding | source-only
//   pipeline=0 (requests open at a neighbour; 0: see rival_swarm.h)
//   order=sequence | spread (source-only: of the generations at the source)
//
// n counts for source-only alone; a content is cut into blocks of k bytes whatever the strategy.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "tests/sim/lab/bound.h"
#include "tests/sim/lab/rivals/source_only.h"
#include "tests/sim/lab/rivals/super_seeding.h"
#include "tests/sim/lab/setting.h"

namespace {

using namespace firn::sim;

constexpr double kPieceHeader = 13;  // BitTorrent: length, type, index, begin
// As Firn's own blocks, with the seed from which the source drew the vector in place of it.
constexpr double kCodedHeader = 40;

std::unique_ptr<RivalSwarm> make(const std::string& strategy, const std::string& order,
                                 const Setting& setting, std::uint32_t pipeline) {
  RivalRules rules;
  rules.groups = setting.generations * setting.n;
  rules.block_bytes = setting.k;
  rules.frame_bytes = setting.k + kPieceHeader;
  rules.wire_share = setting.wire.share;
  rules.pipeline = pipeline;
  rules.neighbours = setting.neighbours;
  rules.source_copies = setting.source_copies;
  if (strategy == "rarest-first") return std::make_unique<RivalSwarm>(rules, setting.seed);
  if (strategy == "super-seeding") return std::make_unique<SuperSeeding>(rules, setting.seed);
  const bool spread = order == "spread";
  if (strategy != "source-only" || (!spread && order != "sequence")) return nullptr;
  rules.groups = setting.generations;
  rules.per_group = setting.n;
  rules.frame_bytes = setting.k + kCodedHeader;
  return std::make_unique<SourceOnly>(
      rules, spread ? SourceOnly::Order::kSpread : SourceOnly::Order::kSequence, setting.seed);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments("rival_lab", argc, argv);
  const auto began = std::chrono::steady_clock::now();
  const Setting setting = setting_of(arguments);
  const std::string strategy = arguments.text("strategy", "");
  const std::string order = arguments.text("order", "spread");
  const auto pipeline = static_cast<std::uint32_t>(arguments.number("pipeline", "0"));
  arguments.all();
  const auto swarm = make(strategy, order, setting, pipeline);
  if (!swarm || setting.peers.front().leaves_when_safe) {
    std::fprintf(stderr,
                 "rival_lab: strategy is rarest-first, super-seeding or source-only, order "
                 "sequence or spread, and no rival can tell when it is safe to leave\n");
    return 2;
  }
  for (const LabPeerSpec& spec : setting.peers) swarm->add(spec);
  const double about = fluid_bound(run_of(*swarm));
  const bool done = swarm->run(static_cast<TimeUs>(about * setting.limit * 1e6));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::printf("%s\n",
              report(arguments, setting, run_of(*swarm), done, took.count(), swarm->events())
                  .dump()
                  .c_str());
  return done ? 0 : 1;
}
