// Measuring the papers' algorithms and the production codec on the same data. Exits with a message
// if anything fails: for the benchmark program only.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "codec/thread_pool.h"
#include "cuda_kernels/batch/batch.h"
#include "cuda_kernels/papers/context.h"
#include "cuda_kernels/papers/papers.h"
#include "cuda_kernels/runtime/stopwatch.h"

namespace firn::cuda::papers {

using Bytes = std::vector<std::uint8_t>;
using Json = nlohmann::ordered_json;

void must(const Status& status);

struct Measured {
  double seconds = 0, spread = 0;  // of one run; (slowest - fastest) / median
};

class PaperBench {
 public:
  PaperBench(const Device& device, std::size_t threads);

  Context& context() { return context_; }
  codec::ThreadPool& pool() { return pool_; }

  // Median of some samples of a few milliseconds each, on the stream's clock.
  Measured time(const std::function<void()>& work);
  // The same by the host's clock, for work without a kernel.
  Measured time_on_host(const std::function<void()>& work);

  // Data for a job of this shape: random blocks, and dense coefficients. For decoding (m == n)
  // every segment's matrix is regular. The host's copies are made for a single segment.
  void prepare(Kind kind, int segments, int n, int m, int k);
  // Coefficients all 0xff, or all 0 or 1 (regular, for decoding).
  void all_ones();
  void binary();
  Job job() const { return job_; }
  void share(double of_the_gpu) { job_.gpu_share = of_the_gpu; }
  void words_per_thread(int words) { job_.words_per_thread = words; }
  void first_stage_only(bool only) { job_.first_stage_only = only; }
  double bytes() const;  // coded or decoded, of one run

  bool takes(const Algorithm& algorithm) const;
  // Runs once from a poisoned output, compares a part with the CPU, then measures.
  Measured measure(const Algorithm& algorithm);
  // The production codec on the same data.
  Measured measure_production();
  // Encoding with every coded block copied to pinned host memory, beside the next blocks' encoding.
  Measured measure_production_to_host();
  // The CPU's codec on the same data, with all of the pool's threads or one.
  Measured measure_cpu(bool one_thread, std::string_view kernels = {});

 private:
  void check_encoded(const std::uint8_t* out);
  void check_decoded(const Bytes& out, std::size_t segment);
  void download(const std::uint8_t* from, std::size_t bytes, Bytes& to);
  void make_regular();

  Kind kind_ = Kind::kEncode;
  codec::ThreadPool pool_;
  Context context_;
  Stopwatch watch_;
  DeviceMemory source_, out_, coefficients_, scratch_, ranks_;
  PinnedMemory host_out_;
  Bytes host_coefficients_, host_blocks_;
  std::vector<int> found_ranks_;
  Job job_;
};

}  // namespace firn::cuda::papers
