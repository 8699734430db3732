// firn-decisions: what a sender's decisions cost by the number of its neighbours. A swarm core that
// has everything serves receivers which take a given rate each; nothing is encoded, sent or read.
// It prints the CPU time that the core took for a block and for a second, and how often it went
// through all neighbours, so that what grows with their number is seen without a network's noise.
// Not installed.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "tests/load/decision_crowd.h"

namespace firn::load {
namespace {

double cpu_seconds() {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) * 1e-9;
}

// Runs the crowd for that long in virtual time; what the core took, in seconds.
double serve(DecisionCrowd& crowd, double seconds) {
  double spent = 0;
  const auto turns = static_cast<int>(seconds * 1e6 / static_cast<double>(DecisionCrowd::kTurn));
  for (int i = 0; i < turns; ++i) {
    crowd.prepare();
    const double before = cpu_seconds();
    crowd.turn();
    spent += cpu_seconds() - before;
  }
  return spent;
}

void measure(std::size_t receivers, const Diet& diet, double seconds) {
  DecisionCrowd crowd(receivers, diet);
  const double before = cpu_seconds();
  crowd.join();
  const double joining = cpu_seconds() - before;
  serve(crowd, 1);
  const std::uint64_t blocks = crowd.blocks(), steps = crowd.steps(), walks = crowd.walks();
  const double spent = serve(crowd, seconds);
  const double sent = static_cast<double>(crowd.blocks() - blocks);
  const double stepped = static_cast<double>(crowd.steps() - steps);
  const double walked = static_cast<double>(crowd.walks() - walks);
  crowd.rest();
  for (std::uint64_t last = 0; std::exchange(last, crowd.blocks()) != crowd.blocks();)
    serve(crowd, 0.1);  // what they had granted
  const double resting = serve(crowd, 1);
  std::printf("%9zu %12.1f %12.0f %12.2f %12.3f %12.1f %12.1f %12.1f\n", receivers,
              joining * 1e6 / static_cast<double>(receivers), sent / seconds,
              spent * 1e6 / std::max(sent, 1.0), spent / seconds, spent * 1e6 / stepped,
              walked / seconds, resting * 1e3);
}

int run(int argc, char** argv) {
  CLI::App app("What a sender's decisions cost by the number of its neighbours.");
  std::vector<std::size_t> receivers{100, 1000, 3050, 10000};
  double seconds = 2;
  Diet diet;
  app.add_option("--receivers", receivers, "numbers of receivers")->delimiter(',');
  app.add_option("--seconds", seconds, "virtual time measured");
  app.add_option("--blocks", diet.blocks_a_second, "blocks that each takes a second");
  app.add_option("--generation-size", diet.generation_size, "blocks of a generation");
  app.add_flag("--finished-download", diet.finished_download, "the sender was no source at first");
  CLI11_PARSE(app, argc, argv);
  std::printf("%9s %12s %12s %12s %12s %12s %12s %12s\n", "receivers", "us a joiner", "blocks/s",
              "us a block", "cores", "us a turn", "walks/s", "ms/s at rest");
  for (const std::size_t n : receivers) measure(n, diet, seconds);
  return 0;
}

}  // namespace
}  // namespace firn::load

int main(int argc, char** argv) {
  return firn::load::run(argc, argv);
}
