// Frames for the decoder's tests: codes, random symbols, and what the channel makes of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "codec/kernels.h"
#include "codec/sync/bridge_band.h"
#include "codec/sync/codebooks.h"
#include "codec/sync/map_decoder.h"

namespace firn::codec::sync {

inline TvbCode random_code(std::size_t n, std::size_t q, std::size_t length, std::uint64_t seed,
                           std::size_t books = kBookCount) {
  return *TvbCode::make(n, q, length, random_books(n, q, books, seed));
}

inline TvbCode indel_code(std::size_t n, std::size_t q, std::size_t length,
                          std::size_t distance = 4, std::uint64_t seed = 777) {
  return *TvbCode::make(n, q, length, indel_books(n, q, distance, kBookCount, seed));
}

inline std::vector<Symbol> random_symbols(const TvbCode& code, CoefficientStream& random) {
  std::vector<Symbol> symbols(code.length());
  for (Symbol& symbol : symbols) symbol = random.below(static_cast<std::uint32_t>(code.alphabet()));
  return symbols;
}

// Rows of `width` numbers of sum 1, none near 0.
inline std::vector<double> random_priors(std::size_t rows, std::size_t width,
                                         CoefficientStream& random) {
  std::vector<double> priors(rows * width);
  for (std::size_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (std::size_t i = 0; i < width; ++i) {
      sum += priors[row * width + i] = 0.1 + uniform(random);
    }
    for (std::size_t i = 0; i < width; ++i) priors[row * width + i] /= sum;
  }
  return priors;
}

// The largest difference, or infinity if the sizes differ or a number is none.
inline double distance(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return INFINITY;
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(a[i] - b[i]);
    if (!(difference <= largest)) largest = std::isnan(difference) ? INFINITY : difference;
  }
  return largest;
}

// The most probable symbol of each index.
inline std::vector<Symbol> decisions(const FrameSolution& solution, std::size_t q) {
  std::vector<Symbol> symbols;
  for (std::size_t at = 0; at < solution.posteriors.size(); at += q) {
    const auto row = solution.posteriors.begin() + static_cast<std::ptrdiff_t>(at);
    symbols.push_back(
        static_cast<Symbol>(std::max_element(row, row + static_cast<std::ptrdiff_t>(q)) - row));
  }
  return symbols;
}

inline std::size_t wrong_symbols(const std::vector<Symbol>& a, const std::vector<Symbol>& b) {
  std::size_t wrong = a.size() == b.size() ? 0 : a.size();
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) wrong += a[i] != b[i] ? 1 : 0;
  return wrong;
}

struct FormCase {
  std::string name;
  DecoderOptions options;
  double tolerance;  // against enumeration or the double form
};

// Every form and precision there is, and of the superposed form every kernel set of this CPU.
inline std::vector<FormCase> all_forms() {
  std::vector<FormCase> forms = {
      {"individual double",
       {Form::kIndividual, Precision::kDouble, Storage::kGlobal, 0, nullptr},
       1e-9},
      {"individual float",
       {Form::kIndividual, Precision::kSingle, Storage::kGlobal, 0, nullptr},
       1e-6},
      {"batch double", {Form::kBatch, Precision::kDouble, Storage::kGlobal, 0, nullptr}, 1e-9},
      {"batch double local", {Form::kBatch, Precision::kDouble, Storage::kLocal, 0, nullptr}, 1e-9},
      {"batch mixed", {Form::kBatch, Precision::kMixed, Storage::kGlobal, 0, nullptr}, 1e-6},
      {"batch float", {Form::kBatch, Precision::kSingle, Storage::kLocal, 0, nullptr}, 1e-6},
  };
  for (const LatticeKernels* kernels : available_lattice_kernels()) {
    DecoderOptions options{Form::kSuperposed, Precision::kDouble, Storage::kGlobal, 0, kernels};
    forms.push_back({std::string("superposed double ") + kernels->name, options, 1e-9});
    options.precision = Precision::kSingle;
    forms.push_back({std::string("superposed float ") + kernels->name, options, 1e-6});
  }
  return forms;
}

}  // namespace firn::codec::sync
