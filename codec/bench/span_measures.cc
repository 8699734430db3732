#include "codec/bench/span_measures.h"

#include <memory>
#include <string>
#include <utility>

#include "codec/encode.h"
#include "codec/kernels.h"
#include "codec/random.h"
#include "codec/span_basis.h"

namespace firn::codec::bench {
namespace {

using Vectors = std::vector<std::vector<std::uint8_t>>;

Measure insert_measure(std::string operation, const Shape& shape, Vectors vectors) {
  Cell cell{std::move(operation), "firn", kernels().name, shape.n, 0, shape.n, 1, "us", {}};
  return {std::move(cell), 1e6 / static_cast<double>(shape.n),
          [n = shape.n, vectors = std::make_shared<const Vectors>(std::move(vectors))] {
            SpanBasis basis(n);
            for (const auto& vector : *vectors) (void)basis.insert(vector);
          }};
}

}  // namespace

std::vector<Measure> span_measures(const Shape& shape) {
  CoefficientStream random(1, shape.n);
  Vectors dense, units;
  for (std::size_t i = 0; i < shape.n; ++i) {
    dense.push_back(random_vector(shape.n, random));
    units.push_back(unit_vector(shape.n, i));
  }
  for (std::size_t i = shape.n; i > 1; --i)
    std::swap(units[i - 1], units[random.below(static_cast<std::uint32_t>(i))]);
  std::vector<Measure> measures;
  measures.push_back(insert_measure("reduce, dense vectors", shape, std::move(dense)));
  measures.push_back(insert_measure("reduce, unit vectors", shape, std::move(units)));
  return measures;
}

}  // namespace firn::codec::bench
