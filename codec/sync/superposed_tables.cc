#include "codec/sync/superposed_tables.h"

#include <algorithm>
#include <cmath>

namespace firn::codec::sync {
namespace {

// How far rows of unit deletion may scale the nodes up, which are probabilities: short of overflow.
template <class Real>
constexpr double kScaleMax = sizeof(Real) == sizeof(float) ? 1e36 : 1e300;

}  // namespace

template <class Real>
SuperposedTables<Real>::SuperposedTables(const TvbCode& code, const Channel& channel,
                                         const LatticeOperations<Real>& operations)
    : lanes_(operations.lanes),
      chunks_((code.alphabet() + lanes_ - 1) / lanes_),
      table_size_(chunks_ * code.codeword_bits() * 3 * lanes_),
      insertion_(static_cast<Real>(channel.insertion / 2)),
      deletion_(static_cast<Real>(channel.deletion)) {
  plan_sweeps(code.codeword_bits(), channel, operations.rows_max);
  fill(forward_, code, channel, false);
  fill(backward_, code, channel, true);
}

template <class Real>
void SuperposedTables<Real>::plan_sweeps(std::size_t n, const Channel& channel,
                                         std::size_t rows_max) {
  const std::size_t count = (n + rows_max - 1) / rows_max;
  const double growth =
      std::max(1.0, std::max(channel.match(), channel.mismatch()) / channel.deletion);
  double scale = 1;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t rows = n * (i + 1) / count - n * i / count;
    const double scale_with_it = scale * std::pow(growth, static_cast<double>(rows));
    const bool unit_deletion = channel.deletion > 0 && scale_with_it <= kScaleMax<Real>;
    sweeps_.push_back({rows, unit_deletion});
    if (!unit_deletion) continue;
    scale = scale_with_it;
    log_scale_ += static_cast<double>(rows) * std::log(channel.deletion);
  }
}

template <class Real>
void SuperposedTables<Real>::fill(AlignedArray<Real>& table, const TvbCode& code,
                                  const Channel& channel, bool reversed) {
  const std::size_t n = code.codeword_bits(), q = code.alphabet();
  table.assign(code.book_count() * table_size_, Real{0});
  for (std::size_t book = 0; book < code.book_count(); ++book) {
    std::size_t row = 0;
    for (const LatticeSweep& sweep : sweeps_) {
      const double unit = sweep.unit_deletion ? channel.deletion : 1;
      for (std::size_t end = row + sweep.rows; row < end; ++row) {
        const std::size_t bit = reversed ? n - 1 - row : row;
        for (std::size_t D = 0; D < q; ++D) {
          Real* const factors = table.data() + book * table_size_ +
                                ((D / lanes_ * n + row) * 3) * lanes_ + D % lanes_;
          const unsigned sent = code.book(book)[D] >> bit & 1;
          factors[sent * lanes_] = static_cast<Real>(channel.match() / unit);
          factors[(1 - sent) * lanes_] = static_cast<Real>(channel.mismatch() / unit);
        }
      }
    }
  }
}

template class SuperposedTables<float>;
template class SuperposedTables<double>;

}  // namespace firn::codec::sync
