#include "cuda_kernels/papers/briffa_plan.h"

#include <algorithm>

namespace firn::cuda::papers {
namespace {

constexpr int kWarp = 32;

// The most threads of a block whose shared memory is `fixed` bytes and `each` for a thread: whole
// warps, or what there is below one.
int threads_max(const BriffaBounds& bounds, std::size_t fixed, std::size_t each) {
  if (bounds.shared_bytes <= fixed) return 0;
  const std::size_t fit = (bounds.shared_bytes - fixed) / each;
  const int threads = static_cast<int>(std::min<std::size_t>(fit, bounds.threads));
  return threads >= kWarp ? threads / kWarp * kWarp : threads;
}

int blocks_for(int items, int each) {
  return (items + each - 1) / each;
}

// B_x = min(q, most); B_y, how many states a block takes together, as large as may be with at least
// `blocks_wanted` blocks.
void choose_block(const BriffaFrame& frame, int most, int blocks_wanted, BriffaGrid& grid,
                  int& blocks) {
  grid.threads_x = std::min(frame.q, most);
  grid.threads_y = std::clamp(most / grid.threads_x, 1, frame.states);
  while (grid.threads_y > 1 && blocks_for(frame.states, grid.threads_y) < blocks_wanted) {
    --grid.threads_y;
  }
  blocks = blocks_for(frame.states, grid.threads_y);
}

}  // namespace

Status plan_grids(const BriffaFrame& frame, int multiprocessors, const BriffaBounds& gamma,
                  const BriffaBounds& sums, const BriffaBounds& symbols, BriffaPlan& plan) {
  const std::size_t lattice_bytes =
      static_cast<std::size_t>(frame.lattice_columns()) * sizeof(float);
  const std::size_t row_bytes = static_cast<std::size_t>(frame.states) * sizeof(double);
  const int gamma_threads = threads_max(gamma, 0, lattice_bytes);
  const int sums_threads = threads_max(sums, row_bytes, sizeof(double));
  if (gamma_threads == 0 || sums_threads == 0 || symbols.shared_bytes < 2 * row_bytes) {
    return unsupported("a block has too little shared memory for " + std::to_string(frame.states) +
                       " states");
  }
  const bool global = frame.gamma_of_all;
  // Four gamma kernels run at once in local storage; alpha and beta run at once in global storage.
  choose_block(frame, gamma_threads,
               global ? blocks_for(multiprocessors, frame.length) : blocks_for(multiprocessors, 4),
               plan.gamma, plan.gamma.blocks_y);
  plan.gamma.blocks_x = global ? frame.length : 1;
  plan.gamma.shared_bytes =
      lattice_bytes * static_cast<std::size_t>(plan.gamma.threads_x * plan.gamma.threads_y);
  choose_block(frame, sums_threads, global ? blocks_for(multiprocessors, 2) : multiprocessors,
               plan.sums, plan.sums.blocks_x);
  plan.sums.shared_bytes =
      row_bytes +
      sizeof(double) * static_cast<std::size_t>(plan.sums.threads_x * plan.sums.threads_y);
  // L is cut along the alphabet instead.
  plan.symbols.threads_x = std::min(frame.q, symbols.threads / kWarp * kWarp);
  plan.symbols.blocks_x = global ? frame.length : 1;
  plan.symbols.blocks_y = blocks_for(frame.q, plan.symbols.threads_x);
  plan.symbols.shared_bytes = 2 * row_bytes;
  return {};
}

}  // namespace firn::cuda::papers
