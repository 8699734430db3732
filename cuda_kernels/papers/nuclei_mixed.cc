// Nuclei, IV-E.2 (and Envelope, 5.4.1): CPU and GPU encode side by side. Of the two partitionings
// the paper takes the second: whole coded blocks go to one or the other. The GPU's come back to
// host memory, where the CPU's are made; its part is the codec's (codec/parallel.h).
#include <cmath>
#include <vector>

#include "codec/parallel.h"
#include "cuda_kernels/papers/launch.h"

namespace firn::cuda::papers {
namespace {

// Blocks first..m-1 of one segment, on all of the executor's threads.
void encode_on_cpu(Context& context, const Job& job, int segment, int first) {
  const auto n = static_cast<std::size_t>(job.n), m = static_cast<std::size_t>(job.m);
  const auto k = static_cast<std::size_t>(job.k), at = static_cast<std::size_t>(segment);
  const auto pitch = static_cast<std::size_t>(coefficient_pitch(job.n));
  const auto begin = static_cast<std::size_t>(first);
  std::vector<const std::uint8_t*> in;
  std::vector<std::uint8_t*> out;
  for (std::size_t j = 0; j < n; ++j) in.push_back(job.host_blocks + (at * n + j) * k);
  for (std::size_t r = begin; r < m; ++r) out.push_back(job.host_out + (at * m + r) * k);
  codec::multiply_rows(context.executor(), codec::kernels(), out.data(), out.size(), in.data(), n,
                       job.host_coefficients + (at * m + begin) * pitch, pitch, k);
}

}  // namespace

Status encode_mixed(Context& context, const Job& job) {
  const int rows = static_cast<int>(std::lround(job.gpu_share * job.m));
  const auto k = static_cast<std::size_t>(job.k), m = static_cast<std::size_t>(job.m);
  const auto pitch = static_cast<std::size_t>(coefficient_pitch(job.n));
  for (int s = 0; s < job.segments && rows > 0; ++s) {
    const auto at = static_cast<std::size_t>(s);
    Job part = job;
    part.segments = 1;
    part.m = rows;
    part.coefficients += at * m * pitch;
    part.blocks += at * static_cast<std::size_t>(job.n) * k;
    part.out += at * m * k;
    if (Status done = launch_gpu_share(part, context.stream().handle()); !done.ok()) {
      return done;
    }
    if (Status done = context.stream().copy_out(job.host_out + at * m * k, part.out,
                                                static_cast<std::size_t>(rows) * k);
        !done.ok()) {
      return done;
    }
  }
  for (int s = 0; s < job.segments && rows < job.m; ++s) encode_on_cpu(context, job, s, rows);
  return context.stream().wait();
}

}  // namespace firn::cuda::papers
