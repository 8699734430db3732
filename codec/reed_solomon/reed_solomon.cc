#include "codec/reed_solomon/reed_solomon.h"

#include <algorithm>
#include <cassert>

#include "codec/reed_solomon/locator.h"
#include "codec/reed_solomon/logarithms.h"

namespace firn::codec {
namespace {

bool all_zero_bytes(std::span<const std::uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t b) { return b == 0; });
}

// g(x) without its leading 1, the highest power first: p coefficients.
std::vector<std::uint8_t> generator(std::size_t p) {
  std::vector<std::uint8_t> g(p + 1);
  g[0] = 1;
  for (std::size_t root = 1; root <= p; ++root)
    for (std::size_t i = root; i > 0; --i) g[i] ^= log_product(g[i - 1], power_of_a(root));
  g.erase(g.begin());
  return g;
}

// Row-major, rows x columns, becomes columns x rows.
std::vector<std::uint8_t> transposed(std::span<const std::uint8_t> matrix, std::size_t columns) {
  const std::size_t rows = matrix.size() / columns;
  std::vector<std::uint8_t> result(matrix.size());
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) result[c * rows + r] = matrix[r * columns + c];
  return result;
}

// out = sum over i of factors[i] times column i, which is as long as `out`.
void sum_of_columns(std::span<const std::uint8_t> columns, std::span<const std::uint8_t> factors,
                    std::span<std::uint8_t> out) {
  const std::uint8_t* places[kReedSolomonLengthMax];
  for (std::size_t i = 0; i < factors.size(); ++i) places[i] = columns.data() + i * out.size();
  kernels().combine(out.data(), places, factors.data(), factors.size(), out.size());
}

}  // namespace

ReedSolomon::ReedSolomon(std::size_t n, std::size_t k) : n_(n), k_(k) {
  assert(1 <= k && k < n && n <= kReedSolomonLengthMax);
  const std::size_t p = n - k;
  const std::vector<std::uint8_t> g = generator(p);
  // Column i is x^(n-1-i) mod g; from the last one on, each is x times the next one.
  parity_matrix_.resize(p * k);
  std::vector<std::uint8_t> remainder = g;
  for (std::size_t i = k; i-- > 0;) {
    for (std::size_t j = 0; j < p; ++j) parity_matrix_[j * k + i] = remainder[j];
    const std::uint8_t carry = remainder[0];
    for (std::size_t j = 0; j < p; ++j)
      remainder[j] =
          static_cast<std::uint8_t>((j + 1 < p ? remainder[j + 1] : 0) ^ log_product(carry, g[j]));
  }
  syndrome_matrix_.resize(p * n);
  for (std::size_t j = 0; j < p; ++j)
    for (std::size_t i = 0; i < n; ++i)
      syndrome_matrix_[j * n + i] = power_of_a((j + 1) * (n - 1 - i));
  parity_columns_ = transposed(parity_matrix_, k);
  syndrome_columns_ = transposed(syndrome_matrix_, n);
}

void ReedSolomon::encode(std::span<const std::uint8_t> data, std::span<std::uint8_t> parity) const {
  assert(data.size() == k_ && parity.size() == parity_bytes());
  sum_of_columns(parity_columns_, data, parity);
}

ReedSolomon::Corrections ReedSolomon::correct(std::span<const std::uint8_t> syndromes,
                                              std::span<const std::uint8_t> erased) const {
  Corrections found;
  found.decoded.erasures = erased.size();
  if (erased.size() > parity_bytes()) return found;
  if (all_zero_bytes(syndromes)) {
    found.decoded.ok = true;
    return found;
  }
  std::uint8_t locators[kReedSolomonLengthMax];
  bool is_erased[kReedSolomonLengthMax] = {};
  for (std::size_t i = 0; i < erased.size(); ++i) {
    assert(erased[i] < n_ && !is_erased[erased[i]]);
    is_erased[erased[i]] = true;
    locators[i] = power_of_a(n_ - 1 - erased[i]);
  }
  std::size_t degree = 0;
  const Polynomial lambda = find_locator(syndromes, {locators, erased.size()}, degree);
  if (2 * degree > parity_bytes() + erased.size()) return found;
  const Polynomial omega = find_evaluator(syndromes, lambda, degree);
  for (std::size_t place = 0; place < n_; ++place) {
    const std::size_t log = n_ - 1 - place, inverse = (255 - log) % 255;
    if (value_at(lambda, degree + 1, inverse) != 0) continue;
    const std::uint8_t slope = derivative_at(lambda, degree, inverse);
    if (slope == 0) return found;
    found.place[found.count] = static_cast<std::uint8_t>(place);
    found.value[found.count++] = log_quotient(value_at(omega, parity_bytes(), inverse), slope);
    found.decoded.errors += is_erased[place] ? 0 : 1;
  }
  // The roots must be as many as the degree, all inside of the word; and the corrections must have
  // these syndromes: what is called ok is a codeword whatever stands above.
  if (found.count != degree) return found;
  for (std::size_t j = 0; j < syndromes.size(); ++j) {
    std::uint8_t sum = syndromes[j];
    for (std::size_t i = 0; i < found.count; ++i)
      sum ^= log_product(found.value[i], syndrome_matrix_[j * n_ + found.place[i]]);
    if (sum != 0) return found;
  }
  found.decoded.ok = true;
  return found;
}

ReedSolomon::Decoded ReedSolomon::decode(std::span<std::uint8_t> word,
                                         std::span<const std::uint8_t> erased) const {
  assert(word.size() == n_);
  std::uint8_t syndromes[kReedSolomonLengthMax];
  sum_of_columns(syndrome_columns_, word, {syndromes, parity_bytes()});
  const Corrections found = correct({syndromes, parity_bytes()}, erased);
  if (found.decoded.ok)
    for (std::size_t i = 0; i < found.count; ++i) word[found.place[i]] ^= found.value[i];
  return found.decoded;
}

void ReedSolomon::encode_columns(const Kernels& kernels, const std::uint8_t* const* data_rows,
                                 std::uint8_t* const* parity_rows, std::size_t count) const {
  kernels.combine_rows(parity_rows, parity_bytes(), data_rows, k_, parity_matrix_.data(), k_,
                       count);
}

std::vector<ReedSolomon::Decoded> ReedSolomon::decode_columns(
    const Kernels& kernels, std::uint8_t* const* rows, std::size_t count,
    std::span<const std::vector<std::uint8_t>> erased) const {
  assert(erased.empty() || erased.size() == count);
  const std::size_t p = parity_bytes();
  std::vector<std::uint8_t> syndromes(p * count), column(p), any(count);
  std::vector<std::uint8_t*> syndrome_rows(p);
  for (std::size_t j = 0; j < p; ++j) syndrome_rows[j] = syndromes.data() + j * count;
  kernels.combine_rows(syndrome_rows.data(), p, rows, n_, syndrome_matrix_.data(), n_, count);
  for (std::size_t j = 0; j < p; ++j)
    for (std::size_t c = 0; c < count; ++c) any[c] |= syndrome_rows[j][c];

  std::vector<Decoded> results(count);
  for (std::size_t c = 0; c < count; ++c) {
    const std::span<const std::uint8_t> places =
        erased.empty() ? std::span<const std::uint8_t>{} : erased[c];
    if (any[c] == 0 && places.size() <= p) {
      results[c] = {true, 0, places.size()};
      continue;
    }
    for (std::size_t j = 0; j < p; ++j) column[j] = syndrome_rows[j][c];
    const Corrections found = correct(column, places);
    results[c] = found.decoded;
    if (found.decoded.ok)
      for (std::size_t i = 0; i < found.count; ++i) rows[found.place[i]][c] ^= found.value[i];
  }
  return results;
}

}  // namespace firn::codec
