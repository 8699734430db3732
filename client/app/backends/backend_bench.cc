#include "client/app/backends/backend_bench.h"

#include <algorithm>
#include <chrono>
#include <functional>

#include "codec/decode.h"
#include "codec/encode.h"
#include "codec/random.h"

namespace firn::app {
namespace {

using Bytes = std::vector<std::uint8_t>;

// Median and spread of several calls, after one that is not counted.
BackendRate timed(BackendRate rate, std::size_t repeats, std::size_t bytes,
                  const std::function<codec::BackendStatus()>& call) {
  std::vector<double> seconds;
  for (std::size_t i = 0; i <= repeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const codec::BackendStatus status = call();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    if (!status.ok()) {
      rate.error = status.detail;
      return rate;
    }
    if (i > 0) seconds.push_back(spent.count());
  }
  std::sort(seconds.begin(), seconds.end());
  const double median = seconds[seconds.size() / 2];
  rate.mb_per_second = static_cast<double>(bytes) / 1e6 / median;
  rate.spread = (seconds.back() - seconds.front()) / median;
  return rate;
}

// A generation and an invertible matrix of coding vectors.
struct Source {
  Source(std::size_t size, std::size_t block_bytes) : n(size), k(block_bytes), blocks(n * k) {
    codec::CoefficientStream random(1, 0);
    random.fill(blocks);
    codec::SpanBasis basis(n);
    while (!basis.full()) {
      const Bytes vector = codec::random_vector(n, random);
      if (basis.insert(vector)) vectors.insert(vectors.end(), vector.begin(), vector.end());
    }
  }
  std::size_t n, k;
  Bytes blocks, vectors;
};

std::vector<std::uint8_t*> rows_of(Bytes& bytes, std::size_t length) {
  std::vector<std::uint8_t*> rows;
  for (std::size_t at = 0; at < bytes.size(); at += length) rows.push_back(&bytes[at]);
  return rows;
}

}  // namespace

std::vector<BackendRate> measure_backend(codec::Backend& backend, std::size_t n, std::size_t k,
                                         std::size_t rows, std::size_t generations,
                                         std::size_t repeats) {
  const Source source(n, k);
  backend.prepare(n, k);
  Bytes coded(n * k);
  const auto coded_rows = rows_of(coded, k);
  const auto encode = [&](std::size_t first, std::size_t count) {
    return backend.encode({1, n, k, source.blocks,
                           std::span(source.vectors).subspan(first * n, count * n),
                           std::span(coded_rows).subspan(first, count)});
  };
  std::vector<BackendRate> rates;
  rows = std::min(rows, n);
  rates.push_back(
      timed({"encode", n, k, rows, 0, 0, {}}, repeats, rows * k, [&] { return encode(0, rows); }));
  if (const auto all = encode(0, n); !all.ok()) return rates;

  std::vector<const std::uint8_t*> vectors, payloads(coded_rows.begin(), coded_rows.end());
  for (std::size_t r = 0; r < n; ++r) vectors.push_back(&source.vectors[r * n]);
  Bytes decoded(generations * n * k);
  std::vector<codec::GenerationWork> work;
  for (std::size_t g = 0; g < generations; ++g)
    work.push_back({n, k, vectors, payloads, std::span(decoded).subspan(g * n * k, n * k)});
  for (const std::size_t count : {std::size_t{1}, generations}) {
    BackendRate rate = timed({"decode", n, k, count, 0, 0, {}}, repeats, count * n * k,
                             [&] { return backend.decode(std::span(work).first(count)); });
    for (std::size_t g = 0; g < count && rate.error.empty(); ++g)
      if (!std::equal(source.blocks.begin(), source.blocks.end(), work[g].out.begin()))
        rate = {"decode", n, k, count, 0, 0, "what it decoded is wrong"};
    rates.push_back(std::move(rate));
    if (generations == 1) break;
  }
  backend.forget(1);
  return rates;
}

}  // namespace firn::app
