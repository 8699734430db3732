// Makes source blocks of the rows that were read of one generation, slice by slice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace firn::medium {

// Decodes one slice of a generation from rows, each a vector of n coefficients and a payload of
// `slice_bytes` bytes. Takes innovative ones as they come; where source blocks are there, the
// others cost what is missing. One thread at a time.
class SliceDecoder {
 public:
  SliceDecoder(std::size_t n, std::size_t slice_bytes) : n_(n), slice_bytes_(slice_bytes) {}

  void add(std::vector<std::uint8_t> vector, std::vector<std::uint8_t> payload);

  // Writes block i's slice to out + i * stride. False if the rows are not enough; `missing` then
  // says how many innovative ones lack, and out holds nothing of use.
  bool decode(std::uint8_t* out, std::size_t stride, std::size_t& missing) const;

 private:
  std::size_t n_, slice_bytes_;
  std::vector<std::vector<std::uint8_t>> vectors_, payloads_;
};

}  // namespace firn::medium
