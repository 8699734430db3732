#include "codec/bench/shape_measures.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "codec/batch.h"
#include "codec/bench/baselines.h"
#include "codec/bench/isal.h"
#include "codec/bench/machine_limits.h"
#include "codec/decode.h"
#include "codec/parallel.h"
#include "codec/product.h"
#include "codec/random.h"
#include "codec/thread_pool.h"

namespace firn::codec::bench {
namespace {

using Bytes = std::vector<std::uint8_t>;

// Blocks begin at multiples of a cache line where k is one, as in a program that allocates for
// them; for every contender alike.
template <class T>
struct AtCacheLines {
  static constexpr std::align_val_t kLine{64};
  using value_type = T;
  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), kLine));
  }
  void deallocate(T* at, std::size_t) { ::operator delete(at, kLine); }
  bool operator==(const AtCacheLines&) const = default;
};
using Blocks = std::vector<std::uint8_t, AtCacheLines<std::uint8_t>>;

// Baselines and the textbook decoder are left out where one run would take more than about this.
constexpr double kSlowMacs = 5e9;
// Below this a product takes less time than it takes to wake a thread.
constexpr double kParallelMacs = 3e7;

template <class Memory>
std::vector<const std::uint8_t*> rows_of(const Memory& bytes, std::size_t rows) {
  std::vector<const std::uint8_t*> result;
  for (std::size_t r = 0; r < rows; ++r) result.push_back(&bytes[r * (bytes.size() / rows)]);
  return result;
}

template <class Memory>
std::vector<std::uint8_t*> rows_of(Memory& bytes, std::size_t rows) {
  std::vector<std::uint8_t*> result;
  for (std::size_t r = 0; r < rows; ++r) result.push_back(&bytes[r * (bytes.size() / rows)]);
  return result;
}

// A generation, n coded blocks of it with full rank, and room for results.
struct Work {
  std::size_t n, k;
  Bytes matrix;
  Blocks source, coded, out;
  std::vector<const std::uint8_t*> source_rows, vector_rows, coded_rows;
  std::vector<std::uint8_t*> out_rows;

  explicit Work(const Shape& shape)
      : n(shape.n), k(shape.k), matrix(n * n), source(n * k), coded(n * k), out(n * k) {
    CoefficientStream random(1, n * 65536 + k);
    random.fill(source);
    Bytes inverse(n * n);
    do random.fill_nonzero(matrix);
    while (!invert_matrix(matrix, n, inverse));
    source_rows = rows_of(std::as_const(source), n);
    vector_rows = rows_of(std::as_const(matrix), n);
    multiply_rows(kernels(), rows_of(coded, n).data(), n, source_rows.data(), n, matrix.data(), n,
                  k);
    coded_rows = rows_of(std::as_const(coded), n);
    out_rows = rows_of(out, n);
  }
  double macs(std::size_t rows) const { return static_cast<double>(rows * n * k); }
  double megabytes() const { return static_cast<double>(n * k) / 1e6; }
};
using WorkPointer = std::shared_ptr<Work>;

// With plain Kernels, the product as the codec makes it.
Measure encode_measure(const WorkPointer& w, const char* operation, const char* series,
                       const Kernels& kernels, std::size_t rows) {
  Cell cell{operation, series, kernels.name, w->n, w->k, rows, 1, "GMAC/s", {}};
  return {std::move(cell), w->macs(rows) / 1e9, [w, &kernels, rows] {
            multiply_rows(kernels, w->out_rows.data(), rows, w->source_rows.data(), w->n,
                          w->matrix.data(), w->n, w->k);
          }};
}

// What a product of n rows must move, and no arithmetic: strip by strip every source is read and
// every row of the result written. Counted in the multiply-adds that go with it.
Measure move_measure(const WorkPointer& w, const Kernels& kernels) {
  Cell cell{"move", "memory", kernels.name, w->n, w->k, w->n, 1, "GMAC/s", {}};
  return {std::move(cell), w->macs(w->n) / 1e9, [w, &kernels] {
            for (std::size_t begin = 0; begin < w->k; begin += kernels.strip_bytes) {
              const std::size_t width = std::min(kernels.strip_bytes, w->k - begin);
              for (std::size_t r = 0; r < w->n; ++r) {
                std::memcpy(w->out_rows[r] + begin, w->source_rows[r] + begin, width);
              }
            }
          }};
}

// The product where all sources are one and the same row: what is left without waiting for them.
Measure one_source_measure(const WorkPointer& w, const Kernels& kernels) {
  Cell cell{"encode, same source", "firn", kernels.name, w->n, w->k, w->n, 1, "GMAC/s", {}};
  const std::vector<const std::uint8_t*> same(w->n, w->source_rows[0]);
  return {std::move(cell), w->macs(w->n) / 1e9, [w, same, &kernels] {
            multiply_rows(kernels, w->out_rows.data(), w->n, same.data(), w->n, w->matrix.data(),
                          w->n, w->k);
          }};
}

Measure encode_one_measure(const WorkPointer& w, const char* series, const Kernels& kernels) {
  Cell cell{"encode one", series, kernels.name, w->n, w->k, 1, 1, "GMAC/s", {}};
  return {std::move(cell), w->macs(1) / 1e9, [w, &kernels] {
            kernels.combine(w->out_rows[0], w->source_rows.data(), w->matrix.data(), w->n, w->k);
          }};
}

// Eight fresh blocks, vectors and payloads, from n received ones.
Measure recode_measure(const WorkPointer& w, const Kernels& kernels) {
  const std::size_t rows = std::min<std::size_t>(8, w->n);
  const auto vectors = std::make_shared<Bytes>(rows * w->n);
  Cell cell{"recode", "firn", kernels.name, w->n, w->k, rows, 1, "GMAC/s", {}};
  return {std::move(cell), w->macs(rows) / 1e9, [=, &kernels] {
            SerialExecutor here;
            const auto vector_rows = rows_of(*vectors, rows);
            recode_batch(here, kernels, {w->n, w->k, w->vector_rows, w->coded_rows},
                         std::span(w->matrix).first(rows * w->n), vector_rows,
                         std::span(w->out_rows).first(rows));
          }};
}

Measure decode_measure(const WorkPointer& w, const char* series, const Kernels& kernels) {
  Cell cell{"decode", series, kernels.name, w->n, w->k, w->n, 1, "MB/s", {}};
  return {std::move(cell), w->megabytes(), [w, &kernels] {
            [[maybe_unused]] const bool decoded =
                decode_generation(kernels, w->n, w->k, w->vector_rows, w->coded_rows, w->out);
            assert(decoded);
          }};
}

Measure invert_measure(const WorkPointer& w, const char* series, const Kernels& kernels) {
  const auto inverse = std::make_shared<Bytes>(w->n * w->n);
  Cell cell{"invert", series, kernels.name, w->n, w->k, w->n, 1, "us", {}};
  return {std::move(cell), 1e6, [=, &kernels] {
            [[maybe_unused]] const bool inverted =
                invert_matrix(w->matrix, w->n, *inverse, kernels);
            assert(inverted);
          }};
}

using Mode = ProgressiveDecoder::Mode;

// Blocks one by one, all of the work. Returns seconds in all and after the last block.
struct Taken {
  double all, after_last;
};

Taken decode_progressively(Work& w, Mode mode, const Kernels& kernels) {
  const double start = seconds_now(Clock::kThread);
  ProgressiveDecoder decoder(w.n, w.k, mode, kernels);
  double last = start;
  for (std::size_t i = 0; i < w.n; ++i) {
    if (i + 1 == w.n) last = seconds_now(Clock::kThread);
    decoder.add({w.vector_rows[i], w.n}, {w.coded_rows[i], w.k});
  }
  if (mode != Mode::kPanel) decoder.decode(w.out);  // the panels' result stands in place
  const double end = seconds_now(Clock::kThread);
  return {end - start, end - last};
}

Measure progressive_measure(const WorkPointer& w, const char* operation, const char* series,
                            Mode mode, const Kernels& kernels) {
  Cell cell{operation, series, kernels.name, w->n, w->k, w->n, 1, "MB/s", {}};
  return {std::move(cell), w->megabytes(),
          [=, &kernels] { decode_progressively(*w, mode, kernels); }};
}

Measure after_last_measure(const WorkPointer& w, const char* operation, Mode mode,
                           const Kernels& kernels) {
  Cell cell{operation, "firn", kernels.name, w->n, w->k, w->n, 1, "%", {}};
  return {std::move(cell), 0, nullptr, [=, &kernels] {
            const Taken taken = decode_progressively(*w, mode, kernels);
            return 100 * taken.after_last / taken.all;
          }};
}

// Runs tasks on another executor and notes the CPU time of the longest: what a run would take if
// every thread had a core to itself, also on a machine that others use.
class TimedExecutor : public Executor {
 public:
  explicit TimedExecutor(std::size_t threads) : pool_(threads) {}
  std::size_t threads() const override { return pool_.threads(); }
  void run(std::size_t count, const std::function<void(std::size_t)>& task) override {
    std::vector<double> seconds(count);
    pool_.run(count, [&](std::size_t i) {
      const double start = seconds_now(Clock::kThread);
      task(i);
      seconds[i] = seconds_now(Clock::kThread) - start;
    });
    longest_ = *std::max_element(seconds.begin(), seconds.end());
  }
  double longest() const { return longest_; }

 private:
  ThreadPool pool_;
  double longest_ = 0;
};

// Multiply-adds a second in registers alone, of all threads together.
double register_rate(Executor& executor, std::size_t threads, const char* kernels) {
  constexpr std::size_t kRounds = 4000;
  const double start = seconds_now(Clock::kWall);
  executor.run(threads, [&](std::size_t) { register_macs(kernels, kRounds); });
  return static_cast<double>(threads) * register_macs(kernels, 1) * kRounds /
         (seconds_now(Clock::kWall) - start);
}

bool threads_have_cores(Executor& executor, const char* kernels) {
  constexpr double kNearly = 0.9;
  const auto threads = executor.threads();
  if (register_macs(kernels, 1) == 0) return true;  // no such loop: cannot be told
  return register_rate(executor, threads, kernels) >=
         kNearly * static_cast<double>(threads) * register_rate(executor, 1, kernels);
}

void add_thread_measures(const WorkPointer& w, const Kernels& kernels, std::size_t threads,
                         std::vector<Measure>& measures) {
  const auto executor = std::make_shared<TimedExecutor>(threads);
  const auto add = [&](const char* operation, const char* unit, double amount,
                       std::function<void()> work) {
    Cell cell{operation, "firn", kernels.name, w->n, w->k, w->n, threads, unit, {}};
    const auto apart = [=, &kernels] { return threads_have_cores(*executor, kernels.name); };
    measures.push_back({cell, amount, work});
    measures.back().cores_apart = apart;
    cell.operation += " by CPU time";
    measures.push_back({std::move(cell), 0, nullptr, [=] {
                          double sum = 0;
                          std::size_t runs = 0;
                          for (; sum < 0.003 && runs < 5; ++runs) {
                            work();
                            sum += executor->longest();
                          }
                          return amount * static_cast<double>(runs) / sum;
                        }});
    measures.back().cores_apart = apart;
  };
  add("encode", "GMAC/s", w->macs(w->n) / 1e9, [=, &kernels] {
    multiply_rows(*executor, kernels, w->out_rows.data(), w->n, w->source_rows.data(), w->n,
                  w->matrix.data(), w->n, w->k);
  });
  // As many generations as threads.
  const auto others = std::make_shared<Blocks>((threads - 1) * w->n * w->k);
  add("decode", "MB/s", static_cast<double>(threads) * w->megabytes(), [=, &kernels] {
    std::vector<GenerationWork> generations;
    for (std::size_t i = 0; i < threads; ++i) {
      const auto out = i == 0 ? std::span(w->out)
                              : std::span(*others).subspan((i - 1) * w->n * w->k, w->n * w->k);
      generations.push_back({w->n, w->k, w->vector_rows, w->coded_rows, out});
    }
    decode_generations(*executor, kernels, generations);
  });
}

void add_isal_measures(const WorkPointer& w, std::vector<Measure>& measures) {
  // Its tables for the encoder are made before, as for a fixed code: that is in its favour.
  const std::size_t rows = std::min<std::size_t>(w->n, w->macs(w->n) > kSlowMacs ? 96 : w->n);
  const auto tables = std::make_shared<Bytes>(isal::tables(w->matrix, rows, w->n));
  const auto encode = [&](const char* operation, std::size_t count) {
    Cell cell{operation, "isa-l", "", w->n, w->k, count, 1, "GMAC/s", {}};
    measures.push_back({std::move(cell), w->macs(count) / 1e9, [=] {
                          isal::encode(*tables, w->out_rows.data(), count, w->source_rows.data(),
                                       w->n, w->k);
                        }});
  };
  encode("encode", rows);
  encode("encode 8", std::min<std::size_t>(8, w->n));
  encode("encode one", 1);
  if (w->n > 512 || w->macs(w->n) > kSlowMacs) return;
  Cell cell{"decode", "isa-l", "", w->n, w->k, w->n, 1, "MB/s", {}};
  measures.push_back({std::move(cell), w->megabytes(), [=] {
                        Bytes inverse;
                        isal::invert(w->matrix, w->n, inverse);
                        const Bytes all = isal::tables(inverse, w->n, w->n);
                        isal::encode(all, w->out_rows.data(), w->n, w->coded_rows.data(), w->n,
                                     w->k);
                      }});
}

}  // namespace

std::vector<Measure> shape_measures(const Shape& shape, const Options& options) {
  const auto w = std::make_shared<Work>(shape);
  const Kernels& best = kernels();
  std::vector<Measure> measures;
  measures.push_back(encode_measure(w, "encode", "firn", best, w->n));
  measures.push_back(one_source_measure(w, best));
  measures.push_back(move_measure(w, best));
  measures.push_back(encode_measure(w, "encode 8", "firn", best, std::min<std::size_t>(8, w->n)));
  measures.push_back(encode_one_measure(w, "firn", best));
  measures.push_back(recode_measure(w, best));
  measures.push_back(decode_measure(w, "firn", best));
  measures.push_back(invert_measure(w, "firn", best));
  measures.push_back(progressive_measure(w, "progressive bulk", "firn", Mode::kBulk, best));
  measures.push_back(progressive_measure(w, "progressive panel", "firn", Mode::kPanel, best));
  measures.push_back(after_last_measure(w, "bulk after last", Mode::kBulk, best));
  measures.push_back(after_last_measure(w, "panel after last", Mode::kPanel, best));
  if (w->macs(w->n) <= kSlowMacs) {
    measures.push_back(progressive_measure(w, "textbook", "firn", Mode::kTextbook, best));
  }
  if (isal::available()) add_isal_measures(w, measures);
  for (const Kernels* baseline : {&kLogExpKernels, &kLoopKernels}) {
    measures.push_back(encode_one_measure(w, baseline->name, *baseline));
    if (w->macs(w->n) <= kSlowMacs / 100) {
      measures.push_back(
          progressive_measure(w, "textbook", baseline->name, Mode::kTextbook, *baseline));
    }
  }
  if (options.threads > 1 && w->macs(w->n) >= kParallelMacs)
    add_thread_measures(w, best, options.threads, measures);
  return measures;
}

std::vector<Measure> level_measures(const Shape& shape) {
  const auto w = std::make_shared<Work>(shape);
  const Kernels& best = kernels();
  std::vector<Measure> measures;
  for (unsigned levels = 0; levels <= 3; ++levels) {
    const std::string operation = "encode, " + std::to_string(levels) + " levels";
    Cell cell{operation, "firn", best.name, w->n, w->k, w->n, 1, "GMAC/s", {}};
    measures.push_back({std::move(cell), w->macs(w->n) / 1e9, [w, &best, levels] {
                          multiply_rows(best, w->out_rows.data(), w->n, w->source_rows.data(), w->n,
                                        w->matrix.data(), w->n, w->k, levels);
                        }});
  }
  return measures;
}

std::vector<Measure> kernel_measures(const Shape& shape) {
  const auto w = std::make_shared<Work>(shape);
  std::vector<Measure> measures;
  for (const Kernels* set : available_kernels()) {
    const bool slow = set == &kScalarKernels && w->macs(w->n) > kSlowMacs / 10;
    const std::size_t rows = slow ? 4 : w->n;
    measures.push_back(encode_measure(w, "encode", "firn", *set, rows));
    measures.push_back(encode_one_measure(w, "firn", *set));
    if (!slow) measures.push_back(decode_measure(w, "firn", *set));
  }
  return measures;
}

}  // namespace firn::codec::bench
