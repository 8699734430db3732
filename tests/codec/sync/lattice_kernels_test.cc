// The lattice kernels, each set that this CPU can run, against the recursion as it is written down
// in codec/kernels/lattice_table.h.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "codec/kernels.h"
#include "codec/random.h"
#include "codec/sync/aligned_array.h"
#include "codec/sync/channel.h"
#include "tests/codec/guarded_row.h"

namespace firn::codec::sync {
namespace {

struct LatticeShape {
  std::size_t nodes, chunks;
  std::vector<LatticeSweep> sweeps;
  bool insert_first, insert_last, weighted;
};

// Arguments of a pass, of which those that kernels could read or write beyond stand at forbidden
// pages.
template <class Real>
class PassCase {
 public:
  PassCase(const LatticeShape& shape, const LatticeOperations<Real>& operations,
           CoefficientStream& random)
      : shape_(shape),
        lanes_(operations.lanes),
        first_row_(shape.nodes * sizeof(Real), 0),
        symbols_((shape.nodes + bits() - 1) * sizeof(std::int32_t), 0),
        table_(shape.chunks * bits() * 3 * lanes_ * sizeof(Real), 0),
        priors_(shape.chunks * lanes_ * sizeof(Real), 0),
        weights_(shape.nodes * sizeof(Real), 0, GuardedRow::At::kStart),
        work_((2 * shape.nodes + lanes_) * lanes_ * sizeof(Real), 0),
        row_sums_((shape.nodes + lanes_ - 1) * sizeof(Real), 0),
        joint_(shape.chunks * lanes_ * sizeof(Real), 0) {
    for (GuardedRow* numbers : {&first_row_, &table_, &priors_, &weights_}) {
      for (Real& number : reals(*numbers)) number = static_cast<Real>(uniform(random));
    }
    // What an earlier frame left there must not matter.
    for (Real& number : reals(work_)) number = static_cast<Real>(NAN);
    auto* const symbols = reinterpret_cast<std::int32_t*>(symbols_.data());
    for (std::size_t i = 0; i < shape.nodes + bits() - 1; ++i) {
      symbols[i] = static_cast<std::int32_t>(random.below(3) * lanes_);
    }
  }

  std::size_t bits() const {
    std::size_t rows = 0;
    for (const auto& sweep : shape_.sweeps) rows += sweep.rows;
    return rows;
  }

  void check(const LatticeOperations<Real>& operations, double tolerance) {
    LatticePass<Real> pass{};
    pass.nodes = shape_.nodes;
    pass.chunks = shape_.chunks;
    pass.sweeps = shape_.sweeps.data();
    pass.sweep_count = shape_.sweeps.size();
    pass.insertion = kInsertion;
    pass.deletion = kDeletion;
    pass.insert_first = shape_.insert_first;
    pass.insert_last = shape_.insert_last;
    pass.first_row = reals(first_row_).data();
    pass.symbols = reinterpret_cast<const std::int32_t*>(symbols_.data());
    pass.table = reals(table_).data();
    pass.priors = reals(priors_).data();
    if (shape_.weighted) pass.weights = reals(weights_).data() + shape_.nodes - 1;
    pass.weight_step = -1;
    pass.work = reals(work_).data();
    pass.row_sums = reals(row_sums_).data();
    pass.joint = reals(joint_).data();
    operations.pass(pass);
    compare(tolerance);
  }

 private:
  static constexpr Real kInsertion = static_cast<Real>(0.25), kDeletion = static_cast<Real>(0.5);

  static std::span<Real> reals(GuardedRow& row) {
    return {reinterpret_cast<Real*>(row.data()), row.bytes().size() / sizeof(Real)};
  }

  // The last row of one codeword.
  std::vector<double> last_row(std::size_t chunk, std::size_t lane) {
    const auto first = reals(first_row_);
    const auto* const symbols = reinterpret_cast<const std::int32_t*>(symbols_.data());
    std::vector<double> row(first.begin(), first.end());
    for (std::size_t u = 1; shape_.insert_first && u < row.size(); ++u)
      row[u] += kInsertion * row[u - 1];
    std::size_t k = 0;
    for (const auto& sweep : shape_.sweeps) {
      for (std::size_t end = k + sweep.rows; k < end; ++k) {
        const std::size_t n = bits();
        const Real* const factors = reals(table_).data() + (chunk * n + k) * 3 * lanes_ + lane;
        const bool inserts = k + 1 < n || shape_.insert_last;
        std::vector<double> next(row.size());
        for (std::size_t u = 0; u < row.size(); ++u) {
          next[u] = static_cast<double>(factors[symbols[u + k]]) * row[u];
          if (u + 1 < row.size()) next[u] += (sweep.unit_deletion ? 1.0 : kDeletion) * row[u + 1];
          if (u > 0 && inserts) next[u] += kInsertion * next[u - 1];
        }
        row = next;
      }
    }
    return row;
  }

  void compare(double tolerance) {
    std::vector<double> sums(shape_.nodes, 0);
    for (std::size_t chunk = 0; chunk < shape_.chunks; ++chunk) {
      for (std::size_t lane = 0; lane < lanes_; ++lane) {
        const auto row = last_row(chunk, lane);
        const double prior = reals(priors_)[chunk * lanes_ + lane];
        double joint = 0;
        for (std::size_t u = 0; u < row.size(); ++u) {
          sums[u] += prior * row[u];
          joint += prior * row[u] * reals(weights_)[shape_.nodes - 1 - u];
        }
        if (!shape_.weighted) continue;
        REQUIRE(reals(joint_)[chunk * lanes_ + lane] == doctest::Approx(joint).epsilon(tolerance));
      }
    }
    for (std::size_t u = 0; u < sums.size(); ++u) {
      REQUIRE(reals(row_sums_)[u] == doctest::Approx(sums[u]).epsilon(tolerance));
    }
    for (GuardedRow* row :
         {&first_row_, &symbols_, &table_, &priors_, &weights_, &work_, &row_sums_, &joint_}) {
      REQUIRE(row->guards_intact());
    }
  }

  LatticeShape shape_;
  std::size_t lanes_;
  GuardedRow first_row_, symbols_, table_, priors_, weights_, work_, row_sums_, joint_;
};

template <class Real>
void check_operations(const LatticeOperations<Real>& operations, double tolerance,
                      CoefficientStream& random) {
  for (std::size_t rows = 1; rows <= operations.rows_max; ++rows) {
    CAPTURE(rows);
    for (std::size_t nodes = 1; nodes <= 40; nodes += 1 + nodes / 24) {
      CAPTURE(nodes);
      // Each kind of sweep, first and behind another one.
      LatticeShape shape{nodes, 1, {{rows, nodes % 2 == 0}}, true, false, nodes % 3 == 0};
      PassCase<Real>(shape, operations, random).check(operations, tolerance);
      const std::size_t others = 1 + nodes % operations.rows_max;
      shape = {nodes,          1 + nodes % 3,  {{others, nodes % 4 < 2}, {rows, nodes % 2 == 0}},
               nodes % 2 == 0, nodes % 4 != 0, nodes % 3 != 0};
      PassCase<Real>(shape, operations, random).check(operations, tolerance);
    }
  }
}

TEST_CASE("every lattice kernel set carries rows as the recursion says, and touches nothing else") {
  CoefficientStream random(51, 0);
  for (const LatticeKernels* kernels : available_lattice_kernels()) {
    CAPTURE(std::string(kernels->name));
    check_operations(kernels->single_precision, 1e-4, random);
    check_operations(kernels->double_precision, 1e-11, random);
  }
}

TEST_CASE("every lattice kernel set scales numbers to a sum of one, and leaves what has none") {
  CoefficientStream random(52, 0);
  for (const LatticeKernels* kernels : available_lattice_kernels()) {
    CAPTURE(std::string(kernels->name));
    for (std::size_t count = 1; count <= 70; ++count) {
      GuardedRow row(count * sizeof(float), 0);
      auto* const values = reinterpret_cast<float*>(row.data());
      double sum = 0, scaled = 0;
      for (std::size_t i = 0; i < count; ++i) {
        values[i] = static_cast<float>(0.1 + uniform(random));
        sum += static_cast<double>(values[i]);
      }
      CHECK(kernels->single_precision.normalise(values, count) ==
            doctest::Approx(sum).epsilon(1e-5));
      for (std::size_t i = 0; i < count; ++i) scaled += static_cast<double>(values[i]);
      CHECK(scaled == doctest::Approx(1).epsilon(1e-5));
      CHECK(row.guards_intact());
    }
    std::vector<double> nothing(9, 0), too_much(9, 1e308);
    CHECK(kernels->double_precision.normalise(nothing.data(), 9) == 0);
    CHECK(nothing == std::vector<double>(9, 0));
    CHECK(std::isinf(kernels->double_precision.normalise(too_much.data(), 9)));
    CHECK(too_much == std::vector<double>(9, 1e308));
  }
}

TEST_CASE("each set of kernels has a set for lattices that this CPU can run") {
  const auto available = available_lattice_kernels();
  REQUIRE(!available.empty());
  CHECK(std::string(available.back()->name) == "scalar");
  for (const Kernels* set : available_kernels()) {
    const LatticeKernels& lattices = lattice_kernels(*set);
    CHECK(std::find(available.begin(), available.end(), &lattices) != available.end());
  }
  CHECK(&lattice_kernels(kScalarKernels) == &kScalarLatticeKernels);
}

}  // namespace
}  // namespace firn::codec::sync
