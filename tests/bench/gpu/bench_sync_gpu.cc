// The synchronisation decoder on a device beside one core of the CPU, in the same run:
//   bench_sync_gpu [--quick] [RESULT.json]
// the production kernel in batches, and the paper's kernels a frame at a time.
// Times are of the kernels alone, by events, the median of 11 (--quick: 3); information is N log2 q
// bits a frame. Lattice nodes of the superposed form are 2 N q n M. A frame of every batch is
// compared with the CPU's.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "bench_program.h"
#include "codec/kernels.h"
#include "codec/sync/map_decoder.h"
#include "codec/thread_pool.h"
#include "cuda_kernels/papers/briffa.h"
#include "cuda_kernels/runtime/stopwatch.h"
#include "cuda_kernels/sync/device_decoder.h"
#include "fma_ceiling.h"
#include "sync_frames.h"

namespace firn::cuda::sync {
namespace {

using Json = nlohmann::ordered_json;

constexpr auto kCpuTime = std::chrono::milliseconds(300);

void must(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "bench_sync_gpu: %s\n", status.detail.c_str());
  std::exit(1);
}

double median_seconds(int samples, const Device& device, Stream& stream,
                      const std::function<void()>& work) {
  Stopwatch watch;
  must(watch.open(device));
  std::vector<double> all;
  for (int i = 0; i <= samples; ++i) {
    must(watch.start(stream));
    work();
    must(watch.stop(stream));
    double seconds = 0;
    must(watch.read(seconds));
    if (i > 0) all.push_back(seconds);  // the first is not counted
  }
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

// Seconds for a frame on one core, over at least 0.3 s.
double cpu_seconds(const SyncFrames& frames, const channel::DecoderOptions& options) {
  using Clock = std::chrono::steady_clock;
  channel::MapDecoder decoder(frames.code, frames.medium, frames.limits, options);
  channel::FrameSolution solution;
  decoder.decode(frames.problems[0], solution);
  std::vector<double> all;
  for (const auto begin = Clock::now(); all.size() < 3 || Clock::now() - begin < kCpuTime;) {
    const auto at = Clock::now();
    decoder.decode(frames.problems[all.size() % frames.problems.size()], solution);
    all.push_back(std::chrono::duration<double>(Clock::now() - at).count());
  }
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

double largest_difference(const SyncFrames& frames, const channel::FrameSolution& got) {
  channel::MapDecoder decoder(frames.code, frames.medium, frames.limits);
  channel::FrameSolution wanted;
  decoder.decode(frames.problems[0], wanted);
  return channel::distance(got.posteriors, wanted.posteriors);
}

struct Ceilings {
  double fma_per_second;
};

// One batch on the device, then the CPU's form beside it.
Json measure_batch(const Device& device, const SyncFrames& frames, double cpu, int samples,
                   const Ceilings& ceilings) {
  codec::ThreadPool executor(std::max(1u, std::thread::hardware_concurrency()));
  DeviceDecoder decoder;
  DeviceDecoderOptions options;
  options.frames_max = frames.problems.size();
  must(decoder.open(device, frames.code, frames.medium, frames.limits, options, executor));
  const std::size_t count = std::min(frames.problems.size(), decoder.frames_max());
  must(decoder.upload(std::span(frames.problems).first(count)));
  const double seconds =
      median_seconds(samples, device, decoder.stream(), [&] { must(decoder.launch()); });
  std::vector<channel::FrameSolution> solutions(count);
  const auto begin = std::chrono::steady_clock::now();
  must(decoder.decode(std::span(frames.problems).first(count), solutions));
  const double whole =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const auto redone = std::count_if(solutions.begin(), solutions.end(),
                                    [](const auto& solution) { return solution.redone; });
  const double per_frame = seconds / double(count);
  const double nodes = frames.superposed_nodes() / per_frame;
  Json row{{"kernel", "superposed"},
           {"frames", count},
           {"ms", seconds * 1e3},
           {"info_Mbit_per_s", frames.information() / per_frame / 1e6},
           {"host_to_host_Mbit_per_s", frames.information() * double(count) / whole / 1e6},
           {"Gnode_per_s", nodes / 1e9},
           {"share_of_fma_ceiling", nodes * 3 / ceilings.fma_per_second},
           {"times_one_core", cpu / per_frame},
           {"redone", redone},
           {"largest_difference", largest_difference(frames, solutions[0])}};
  std::printf(
      "  superposed x%-5zu %9.3f ms %9.1f Mbit/s (host to host %7.1f) %8.1f Gnode/s, %4.1f %% of "
      "FMA, %7.1f x one core, %td redone, differs %.1e\n",
      count, seconds * 1e3, frames.information() / per_frame / 1e6,
      frames.information() * double(count) / whole / 1e6, nodes / 1e9,
      nodes * 300 / ceilings.fma_per_second, cpu / per_frame, redone,
      row["largest_difference"].get<double>());
  std::fflush(stdout);
  return row;
}

// The paper's kernels, a frame at a time, beside its form on one core. Both storage modes.
void measure_paper(const Device& device, const SyncFrames& frames, int samples, Json& result) {
  channel::DecoderOptions options;
  options.form = channel::Form::kBatch;
  options.precision = channel::Precision::kMixed;
  const double cpu = cpu_seconds(frames, options);
  result["paper_one_core_ms"] = cpu * 1e3;
  for (const auto storage : {channel::Storage::kGlobal, channel::Storage::kLocal}) {
    const char* name = storage == channel::Storage::kGlobal ? "global" : "local";
    papers::BriffaDecoder decoder;
    const Status opened = decoder.open(device, frames.code, frames.medium, frames.limits, storage);
    if (opened.code == Code::kOutOfMemory) continue;
    must(opened);
    must(decoder.upload(frames.problems[0]));
    const double seconds =
        median_seconds(samples, device, decoder.stream(), [&] { must(decoder.launch()); });
    channel::FrameSolution solution;
    must(decoder.download(solution));
    const double difference = largest_difference(frames, solution);
    result["paper"].push_back({{"storage", name},
                               {"ms", seconds * 1e3},
                               {"info_kbit_per_s", frames.information() / seconds / 1e3},
                               {"times_one_core", cpu / seconds},
                               {"gamma_Gnode_per_s", frames.corridor_nodes() / seconds / 1e9},
                               {"device_MiB", double(decoder.device_bytes()) / (1 << 20)},
                               {"largest_difference", difference}});
    std::printf(
        "  paper %-7s %9.3f ms %9.1f kbit/s, %7.1f x its form on one core (%.1f ms), "
        "%.0f MiB, differs %.1e\n",
        name, seconds * 1e3, frames.information() / seconds / 1e3, cpu / seconds, cpu * 1e3,
        double(decoder.device_bytes()) / (1 << 20), difference);
    std::fflush(stdout);
  }
}

Json measure_shape(const Device& device, const SyncShape& shape, bool quick,
                   const Ceilings& ceilings) {
  const std::size_t most = quick ? 1024 : 8192;
  const SyncFrames frames(shape, most);
  const double cpu = cpu_seconds(frames, {});
  std::printf("n=%zu q=%zu N=%zu p=%g Ps=%g: M_tau=%d M_n=%d; one core %.3f ms, %.1f kbit/s\n",
              shape.n, shape.q, shape.length, shape.p, shape.substitution,
              frames.limits.frame.size(), frames.limits.codeword.size(), cpu * 1e3,
              frames.information() / cpu / 1e3);
  Json result{{"n", shape.n},
              {"q", shape.q},
              {"N", shape.length},
              {"p", shape.p},
              {"Ps", shape.substitution},
              {"M_tau", frames.limits.frame.size()},
              {"M_n", frames.limits.codeword.size()},
              {"one_core_ms", cpu * 1e3}};
  for (const std::size_t count : {std::size_t{1}, std::size_t{256}, std::size_t{1024},
                                  std::size_t{4096}, std::size_t{8192}}) {
    if (count > most) break;
    result["device"].push_back(
        measure_batch(device, frames.first(count), cpu, quick ? 3 : 11, ceilings));
  }
  measure_paper(device, frames, quick ? 3 : 11, result);
  return result;
}

Json measure_all(const Device& device, bool quick) {
  const std::time_t now = std::time(nullptr);
  char date[32] = {};
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  Stream stream;
  must(stream.open(device));
  Ceilings ceilings{};
  must(measure_fma(stream, ceilings.fma_per_second));
  std::printf("%s: %.2f T fused multiply-adds a second\n", device.name.c_str(),
              ceilings.fma_per_second / 1e12);
  Json result{{"date", date},
              {"device", device.name},
              {"fma_per_second", ceilings.fma_per_second},
              {"cpu_kernels", codec::lattice_kernels().name}};
  for (const SyncShape& shape : sync_shapes(quick)) {
    result["shapes"].push_back(measure_shape(device, shape, quick, ceilings));
  }
  return result;
}

}  // namespace
}  // namespace firn::cuda::sync

int main(int argc, char** argv) {
  return firn::cuda::run_bench_program(argc, argv, firn::cuda::sync::measure_all);
}
