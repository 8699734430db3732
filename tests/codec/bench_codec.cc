// Rates of the codec on one core, for every kernel set that the CPU has:
//   bench_codec [REPEATS [KERNELS]]
// Each repeat runs every measure once with every set, so that a slow moment of the machine falls on
// all of them; printed are medians. GMAC/s are 10^9 multiply-adds in GF(2^8) per second, MB/s 10^6
// decoded bytes per second.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "codec/decode.h"
#include "codec/encode.h"
#include "codec/kernels.h"
#include "codec/span_basis.h"
#include "tests/codec/generation.h"

namespace firn::codec {
namespace {

constexpr double kSecondsPerSample = 0.03;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Runs `work` for about kSecondsPerSample; seconds per run.
double seconds_of(const std::function<void()>& work) {
  std::size_t runs = 0;
  const double start = now();
  double end = start;
  do {
    work();
    ++runs;
    end = now();
  } while (end - start < kSecondsPerSample);
  return (end - start) / static_cast<double>(runs);
}

struct Measure {
  std::string name, unit;
  // One sample with a kernel set, in `unit`.
  std::function<double(const Kernels&)> sample;
};

// Source blocks in one piece, as a generation read from a file stands, and room for as many rows.
struct Work {
  Generation generation;
  Bytes coefficients;
  std::vector<const std::uint8_t*> in;
  Bytes out_bytes;
  std::vector<std::uint8_t*> out;

  Work(std::size_t n, std::size_t k, std::size_t rows, CoefficientStream& random)
      : generation(n, k, random), coefficients(rows * n), out_bytes(rows * k) {
    random.fill_nonzero(coefficients);
    for (std::size_t j = 0; j < n; ++j) in.push_back(&generation.source[j * k]);
    for (std::size_t r = 0; r < rows; ++r) out.push_back(&out_bytes[r * k]);
  }
};

std::string shape(std::size_t n, std::size_t k) {
  return "n=" + std::to_string(n) + " k=" + std::to_string(k);
}

Measure combine_measure(std::size_t n, std::size_t k) {
  CoefficientStream random(1, 1);
  const auto work = std::make_shared<Work>(n, k, 1, random);
  return {"combine " + shape(n, k), "GMAC/s", [=](const Kernels& kernels) {
            return static_cast<double>(n * k) / 1e9 / seconds_of([&] {
                     kernels.combine(work->out[0], work->in.data(), work->coefficients.data(), n,
                                     k);
                   });
          }};
}

Measure combine_rows_measure(std::size_t rows, std::size_t n, std::size_t k) {
  CoefficientStream random(1, 2);
  const auto work = std::make_shared<Work>(n, k, rows, random);
  return {"combine_rows rows=" + std::to_string(rows) + " " + shape(n, k), "GMAC/s",
          [=](const Kernels& kernels) {
            return static_cast<double>(rows * n * k) / 1e9 / seconds_of([&] {
                     kernels.combine_rows(work->out.data(), rows, work->in.data(), n,
                                          work->coefficients.data(), n, k);
                   });
          }};
}

// All rows dense: n of them, drawn until they have full rank.
Measure decode_measure(std::size_t n, std::size_t k) {
  CoefficientStream random(1, 3);
  const auto work = std::make_shared<Work>(n, k, n, random);
  Bytes inverse(n * n);
  while (!invert_matrix(work->coefficients, n, inverse)) random.fill_nonzero(work->coefficients);
  std::vector<const std::uint8_t*> vectors;
  for (std::size_t r = 0; r < n; ++r) vectors.push_back(&work->coefficients[r * n]);
  return {"decode " + shape(n, k), "MB/s", [=](const Kernels& kernels) {
            return static_cast<double>(n * k) / 1e6 / seconds_of([&] {
                     if (!decode_generation(kernels, n, k, vectors, work->in, work->out_bytes)) {
                       std::abort();
                     }
                   });
          }};
}

Measure invert_measure(std::size_t n) {
  CoefficientStream random(1, 4);
  auto inverse = std::make_shared<Bytes>(n * n);
  Bytes matrix;
  do matrix = random_bytes(n * n, random);
  while (!invert_matrix(matrix, n, *inverse));
  return {"invert n=" + std::to_string(n), "us", [=](const Kernels& kernels) {
            return 1e6 * seconds_of([&] {
                     if (!invert_matrix(matrix, n, *inverse, kernels)) std::abort();
                   });
          }};
}

// Mean time of an insert while a basis fills with dense vectors.
Measure insert_measure(std::size_t n) {
  CoefficientStream random(1, 5);
  std::vector<Bytes> vectors;
  for (std::size_t i = 0; i < n; ++i) vectors.push_back(random_vector(n, random));
  return {"basis insert n=" + std::to_string(n), "us", [=](const Kernels& kernels) {
            return 1e6 / static_cast<double>(n) * seconds_of([&] {
                     SpanBasis basis(n, kernels);
                     for (const Bytes& vector : vectors) basis.insert(vector);
                   });
          }};
}

double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

int run(int repeats, std::string_view only) {
  std::vector<const Kernels*> sets;
  for (const Kernels* kernels : available_kernels()) {
    if (only.empty() || only == kernels->name) sets.push_back(kernels);
  }
  const Measure measures[] = {
      combine_measure(64, 16 << 10),
      combine_measure(128, 4 << 10),
      combine_rows_measure(4, 64, 16 << 10),
      combine_rows_measure(32, 64, 16 << 10),
      combine_rows_measure(64, 64, 16 << 10),
      combine_rows_measure(128, 128, 4 << 10),
      combine_rows_measure(128, 128, 32 << 10),
      decode_measure(64, 16 << 10),
      decode_measure(128, 32 << 10),
      decode_measure(64, 1 << 10),
      invert_measure(64),
      invert_measure(128),
      insert_measure(64),
      insert_measure(128),
  };
  std::printf("%-38s %-7s", "median", "");
  for (const Kernels* kernels : sets) std::printf(" %12s", kernels->name);
  std::printf("\n");
  for (const Measure& measure : measures) {
    std::vector<std::vector<double>> samples(sets.size());
    for (int repeat = 0; repeat < repeats; ++repeat) {
      for (std::size_t s = 0; s < sets.size(); ++s) samples[s].push_back(measure.sample(*sets[s]));
    }
    std::printf("%-38s %-7s", measure.name.c_str(), measure.unit.c_str());
    for (const auto& of_set : samples) std::printf(" %12.2f", median(of_set));
    std::printf("\n");
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace firn::codec

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 7;
  if (repeats < 1) {
    std::fprintf(stderr, "usage: bench_codec [REPEATS [KERNELS]]\n");
    return 2;
  }
  return firn::codec::run(repeats, argc > 2 ? argv[2] : "");
}
