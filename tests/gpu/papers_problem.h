// Problems for the papers' algorithms in tests: coefficients, blocks and the CPU's scalar answer,
// and running one algorithm on one of them between guards. CHECKs and REQUIREs: inside a test case
// only.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "codec/decode.h"
#include "codec/span_basis.h"
#include "codec/thread_pool.h"
#include "cuda_kernels/papers/context.h"
#include "cuda_kernels/papers/papers.h"
#include "on_device.h"

namespace firn::cuda::papers {

struct Sizes {
  int segments, n, m, k;

  std::size_t pitch() const { return static_cast<std::size_t>(coefficient_pitch(n)); }
  std::size_t rows(int of_a_segment) const {
    return static_cast<std::size_t>(segments) * static_cast<std::size_t>(of_a_segment);
  }
  std::size_t bytes(int blocks) const { return rows(blocks) * static_cast<std::size_t>(k); }
};

inline std::string describe(const Algorithm& algorithm, const Sizes& s) {
  return std::string(algorithm.name) + ": segments=" + std::to_string(s.segments) +
         " n=" + std::to_string(s.n) + " m=" + std::to_string(s.m) + " k=" + std::to_string(s.k);
}

// As Job says: in memory without gaps but for the padding of coefficient rows.
struct Problem {
  Sizes sizes;
  std::uint64_t seed;
  Bytes coefficients, source, coded;

  std::uint8_t* row(std::size_t r) { return &coefficients[r * sizes.pitch()]; }
  const std::uint8_t* row(std::size_t r) const { return &coefficients[r * sizes.pitch()]; }
};

// coded = coefficients times source, by the scalar kernels: the specification.
inline void encode_on_cpu(Problem& problem) {
  const Sizes& s = problem.sizes;
  const auto n = static_cast<std::size_t>(s.n), m = static_cast<std::size_t>(s.m);
  const auto k = static_cast<std::size_t>(s.k);
  problem.coded.assign(s.bytes(s.m), 0);
  for (std::size_t g = 0; g < static_cast<std::size_t>(s.segments); ++g) {
    std::vector<const std::uint8_t*> in;
    std::vector<std::uint8_t*> out;
    for (std::size_t j = 0; j < n; ++j) in.push_back(&problem.source[(g * n + j) * k]);
    for (std::size_t r = 0; r < m; ++r) out.push_back(&problem.coded[(g * m + r) * k]);
    codec::find_kernels("scalar")->combine_rows(out.data(), m, in.data(), n, problem.row(g * m),
                                                s.pitch(), k);
  }
}

// Dense: row r is what a generator makes for it from the seed.
inline Problem make_problem(const Sizes& sizes, std::uint64_t seed) {
  Problem problem{sizes, seed, Bytes(sizes.rows(sizes.m) * sizes.pitch()), {}, {}};
  for (std::size_t r = 0; r < sizes.rows(sizes.m); ++r) {
    codec::CoefficientStream(seed, r).fill({problem.row(r), static_cast<std::size_t>(sizes.n)});
  }
  codec::CoefficientStream content(seed, std::uint64_t{1} << 40);
  problem.source = random_bytes(sizes.bytes(sizes.n), content);
  encode_on_cpu(problem);
  return problem;
}

inline void make_binary(Problem& problem) {
  for (std::uint8_t& c : problem.coefficients) c &= 1;
  encode_on_cpu(problem);
}

// The ranks of the segments' received vectors.
inline std::vector<int> ranks_on_cpu(const Problem& problem) {
  std::vector<int> ranks;
  const auto m = static_cast<std::size_t>(problem.sizes.m);
  const auto n = static_cast<std::size_t>(problem.sizes.n);
  for (std::size_t g = 0; g < static_cast<std::size_t>(problem.sizes.segments); ++g) {
    codec::SpanBasis basis(n);
    for (std::size_t r = 0; r < m; ++r) basis.insert({problem.row(g * m + r), n});
    ranks.push_back(static_cast<int>(basis.rank()));
  }
  return ranks;
}

// A context with a pool of two, and one algorithm run on one problem.
class PaperDevice {
 public:
  PaperDevice() : pool_(2) { require(context_.open(devices().at(0), pool_)); }
  Context& context() { return context_; }

  Bytes encode(const Algorithm& algorithm, const Problem& problem, double gpu_share = 0.5) {
    Guarded c(stream(), problem.coefficients), in(stream(), problem.source);
    Guarded out(stream(), problem.coded.size());
    Job job = job_of(problem, c, in, out);
    Bytes on_host(problem.coded.size(), Guarded::kPoison);
    job.host_blocks = problem.source.data();
    job.host_out = on_host.data();
    job.gpu_share = gpu_share;
    require(run(context_, algorithm, job));
    const Bytes on_device = out.read();
    return (algorithm.traits & kResultOnHost) != 0 ? on_host : on_device;
  }

  // What came out, and the ranks.
  Bytes decode(const Algorithm& algorithm, const Problem& problem, std::vector<int>& ranks) {
    Guarded c(stream(), problem.coefficients), in(stream(), problem.coded);
    Guarded out(stream(), problem.source.size());
    Job job = job_of(problem, c, in, out);
    ranks.assign(static_cast<std::size_t>(problem.sizes.segments), -1);
    job.ranks = ranks.data();
    require(run(context_, algorithm, job));
    return out.read();
  }

  Stream& stream() { return context_.stream(); }

 private:
  static Job job_of(const Problem& problem, const Guarded& c, const Guarded& in,
                    const Guarded& out) {
    Job job;
    job.segments = problem.sizes.segments;
    job.n = problem.sizes.n, job.m = problem.sizes.m, job.k = problem.sizes.k;
    job.coefficients = c.data(), job.blocks = in.data(), job.out = out.data();
    job.host_coefficients = problem.coefficients.data();
    job.seed = problem.seed;
    return job;
  }

  codec::ThreadPool pool_;
  Context context_;
};

}  // namespace firn::cuda::papers
