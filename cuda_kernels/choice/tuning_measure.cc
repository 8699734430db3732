// The self-tune: every kernel on every class of shapes, on random data.
#include "cuda_kernels/choice/tuning_measure.h"

#include <algorithm>
#include <vector>

#include "cuda_kernels/product/product.h"
#include "cuda_kernels/runtime/memory.h"
#include "cuda_kernels/runtime/stopwatch.h"

namespace firn::cuda {
namespace {

// A kernel that took this many times the best one's time in its first run is not tried again.
constexpr double kHopeless = 2;
constexpr int kRuns = 2;
// The self-tune sees a cool chip, on which power is no limit. A chip that has been busy for a
// second is held at its power limit, and there kTower's fewer bit products count: at n = 256, k =
// 16 KiB it was 4 % slower here and 6 % faster over 3 s. So for batches its time counts for less,
// on the chips that were measured.
constexpr double kTowerWhenBusy = 0.93;

double as_when_busy(const Device& device, const Shape& shape, const ProductChoice& choice,
                    double seconds) {
  const bool counts = device.major == 9 && choice.path == Path::kTower && shape.generations > 1;
  return counts ? seconds * kTowerWhenBusy : seconds;
}

std::vector<ProductChoice> candidates(const Device& device, const Shape& shape) {
  const ProductChoice first = default_choice(device, shape);
  std::vector<ProductChoice> all{first};
  const auto add = [&](const ProductChoice& choice) {
    if (has_path(device, choice.path) && !(choice == first)) all.push_back(choice);
  };
  add({Path::kWgmma, 0});
  if (shape.generation_size > 128) add({Path::kTower, 0});
  for (const int warps : {8, 4, 2}) {
    // Neither mostly empty tiles nor more than four to a row of tiles that could be one.
    const std::size_t rows = static_cast<std::size_t>(warps) * 8;
    if (rows < 2 * shape.rows + 8 && (rows * 4 >= shape.rows || warps == 8))
      add({Path::kMma, warps});
  }
  add({Path::kTables, 0});
  return all;
}

class Measurement {
 public:
  Status open(const Device& device) {
    std::size_t source = 0, out = 0, coefficients = 0, scratch = 0;
    for (std::size_t i = 0; i < kTuningClasses; ++i) {
      const Shape s = tuning_shape(i);
      source = std::max(source, s.generations * s.generation_size * s.block_bytes);
      out = std::max(out, s.generations * s.rows * s.block_bytes);
      coefficients = std::max(coefficients, s.generations * s.rows * s.generation_size);
      for (const Path path : {Path::kWgmma, Path::kTower}) {
        // As much as callers are told is best: in smaller slices other kernels would win.
        scratch = std::max(scratch, product_scratch(device, s, path).best);
      }
    }
    Status s = stream_.open(device);
    if (s.ok()) s = watch_.open(device);
    if (s.ok()) s = source_.allocate(device, source);
    if (s.ok()) s = out_.allocate(device, out);
    if (s.ok()) s = coefficients_.allocate(device, coefficients);
    if (s.ok()) s = scratch_.allocate(device, std::max(scratch, kScratchBytes));
    if (s.ok()) s = launch_coefficients(stream_, 1, 0, 0, 1, source, source_.data());
    if (s.ok()) s = launch_coefficients(stream_, 2, 0, 0, 1, coefficients, coefficients_.data());
    return s;
  }

  // Seconds of one run.
  Status time(const Shape& shape, const ProductChoice& choice, double& seconds) {
    Status s = watch_.start(stream_);
    if (s.ok()) {
      s = launch_chosen(stream_, shape, choice, coefficients_.data(),
                        {source_.data(), shape.block_bytes}, {out_.data(), shape.block_bytes},
                        {scratch_.data(), scratch_.size()});
    }
    if (s.ok()) s = watch_.stop(stream_);
    if (s.ok()) s = watch_.read(seconds);
    return s;
  }

 private:
  static constexpr std::size_t kScratchBytes = std::size_t{128} << 20;
  Stream stream_;
  Stopwatch watch_;
  DeviceMemory source_, out_, coefficients_, scratch_;
};

}  // namespace

Status measure_tuning(const Device& device, Tuning& tuning) {
  Measurement measurement;
  if (Status s = measurement.open(device); !s.ok()) return s;
  for (std::size_t i = 0; i < kTuningClasses; ++i) {
    const Shape shape = tuning_shape(i);
    double best = 0;
    for (const ProductChoice& choice : candidates(device, shape)) {
      double seconds = 0;  // the first run loads code and fills caches
      if (Status s = measurement.time(shape, choice, seconds); !s.ok()) return s;
      if (best > 0 && seconds > kHopeless * best) continue;
      for (int run = 0; run < kRuns; ++run) {
        double again = 0;
        if (Status s = measurement.time(shape, choice, again); !s.ok()) return s;
        seconds = run == 0 ? again : std::min(seconds, again);
      }
      seconds = as_when_busy(device, shape, choice, seconds);
      if (best == 0 || seconds < best) best = seconds, tuning[i] = choice;
    }
  }
  return {};
}

}  // namespace firn::cuda
