#include "codec/product.h"

#include <algorithm>
#include <cstring>

namespace firn::codec {
namespace {

// Levels that pay: the seven products of a level must save more than its sums cost. A third costs
// more than it saves at n = 1024 and 2048. Measured by bench_codec --probe levels;
// docs/lab/025.
unsigned levels_that_pay(std::size_t rows, std::size_t count) {
  return std::min(rows, count) >= 480 ? 2 : 0;
}

std::size_t round_up(std::size_t count, std::size_t unit) {
  return (count + unit - 1) / unit * unit;
}

}  // namespace

void Product::FreeAligned::operator()(std::uint8_t* bytes) const {
  ::operator delete[](bytes, std::align_val_t{64});
}

Product::Product(const Kernels& kernels, std::size_t rows, std::size_t count,
                 const std::uint8_t* coefficients, std::size_t stride, std::size_t bytes)
    : Product(kernels, rows, count, coefficients, stride, bytes, levels_that_pay(rows, count)) {}

Product::Product(const Kernels& kernels, std::size_t rows, std::size_t count,
                 const std::uint8_t* coefficients, std::size_t stride, std::size_t bytes,
                 unsigned levels)
    : kernels_(kernels),
      rows_(rows),
      count_(count),
      coefficients_(coefficients),
      stride_(stride),
      levels_(levels) {
  while (levels_ > 0 &&
         (std::min(rows, count) >> levels_ == 0 || bytes / kernels.strip_bytes >> levels_ == 0)) {
    --levels_;
  }
  if (levels_ == 0) return;
  // Rows and sources are filled up with zeros to multiples of 2^levels.
  const std::size_t full_rows = round_up(rows, parts()), full_count = round_up(count, parts());
  if (full_rows != rows || full_count != count) {
    filled_up_ = std::make_unique<std::uint8_t[]>(full_rows * full_count);
    for (std::size_t r = 0; r < rows; ++r) {
      std::copy_n(coefficients + r * stride, count, &filled_up_[r * full_count]);
    }
    coefficients = filled_up_.get();
    stride = full_count;
  }
  sums_ = std::make_unique_for_overwrite<std::uint8_t[]>(
      Left::sum_bytes(full_rows, full_count, levels_));
  left_.emplace(coefficients, stride, full_rows, full_count, levels_, sums_.get());
}

void Product::multiply(std::uint8_t* const* out, const std::uint8_t* const* in, std::size_t begin,
                       std::size_t end, Scratch& scratch) const {
  if (levels_ > 0) begin = multiply_chunks(out, in, begin, end, scratch);
  if (begin == end) return;
  if (begin > 0) {
    scratch.out.assign(out, out + rows_);
    scratch.in.assign(in, in + count_);
    for (auto& row : scratch.out) row += begin;
    for (auto& row : scratch.in) row += begin;
    out = scratch.out.data();
    in = scratch.in.data();
  }
  kernels_.combine_rows(out, rows_, in, count_, coefficients_, stride_, end - begin);
}

// What of begin..end is whole chunks of 2^levels strips; returns where that ends.
std::size_t Product::multiply_chunks(std::uint8_t* const* out, const std::uint8_t* const* in,
                                     std::size_t begin, std::size_t end, Scratch& scratch) const {
  const std::size_t strip = kernels_.strip_bytes, chunk_bytes = unit_bytes();
  const std::size_t right_bytes = left_->columns * chunk_bytes,
                    out_bytes = left_->rows * chunk_bytes;
  if (!scratch.strips) {
    const std::size_t sums = Strassen::scratch_bytes(left_->rows, left_->columns, levels_, strip);
    scratch.strips.reset(static_cast<std::uint8_t*>(
        ::operator new[](right_bytes + out_bytes + sums, std::align_val_t{64})));
    const Block right{scratch.strips.get(), left_->columns * strip};
    for (std::size_t p = 0; p < parts(); ++p) {
      std::memset(right.at(p, count_, strip).bytes, 0, (left_->columns - count_) * strip);
    }
  }
  const Block right{scratch.strips.get(), left_->columns * strip};
  const Block result{right.bytes + right_bytes, left_->rows * strip};

  // Only a chunk of each row is used at a time: too little for the CPU to foresee what comes next.
  constexpr std::size_t kRowsAhead = 4, kLineBytes = 64;
  constexpr int kToRead = 0, kToWrite = 1;
  const Strassen strassen(kernels_);
  for (; begin + chunk_bytes <= end; begin += chunk_bytes) {
    for (std::size_t j = 0; j < count_; ++j) {
      for (std::size_t i = 0; i < chunk_bytes && j + kRowsAhead < count_; i += kLineBytes) {
        __builtin_prefetch(in[j + kRowsAhead] + begin + i, kToRead);
      }
      for (std::size_t p = 0; p < parts(); ++p) {
        std::memcpy(right.at(p, j, strip).bytes, in[j] + begin + p * strip, strip);
      }
    }
    strassen.multiply(*left_, right, result, false, levels_, result.bytes + out_bytes);
    for (std::size_t r = 0; r < rows_; ++r) {
      for (std::size_t i = 0; i < chunk_bytes && r + kRowsAhead < rows_; i += kLineBytes) {
        __builtin_prefetch(out[r + kRowsAhead] + begin + i, kToWrite);
      }
      for (std::size_t p = 0; p < parts(); ++p) {
        std::memcpy(out[r] + begin + p * strip, result.at(p, r, strip).bytes, strip);
      }
    }
  }
  return begin;
}

void multiply_rows(const Kernels& kernels, std::uint8_t* const* out, std::size_t rows,
                   const std::uint8_t* const* in, std::size_t count,
                   const std::uint8_t* coefficients, std::size_t stride, std::size_t bytes,
                   unsigned levels) {
  Product::Scratch scratch;
  Product(kernels, rows, count, coefficients, stride, bytes, levels)
      .multiply(out, in, 0, bytes, scratch);
}

void multiply_rows(const Kernels& kernels, std::uint8_t* const* out, std::size_t rows,
                   const std::uint8_t* const* in, std::size_t count,
                   const std::uint8_t* coefficients, std::size_t stride, std::size_t bytes) {
  multiply_rows(kernels, out, rows, in, count, coefficients, stride, bytes,
                levels_that_pay(rows, count));
}

}  // namespace firn::codec
