// What has come to honest peers: how many blocks from the source, and whether all true rows have
// full rank in every generation, so that the source may leave.
#pragma once

#include <cstdint>
#include <vector>

#include "codec/encode.h"
#include "codec/span_basis.h"
#include "proto/content/shape.h"
#include "proto/messages.h"

namespace firn::sim {

class Delivered {
 public:
  explicit Delivered(const Shape& shape) : shape_(shape), missing_(shape.block_count()) {
    for (std::uint32_t g = 0; g < shape.generation_count(); ++g) {
      spans_.emplace_back(shape.blocks_in(g));
    }
  }
  // A true block has come to an honest peer.
  void count(const proto::Block& block, bool from_source) {
    blocks_ += from_source;
    const std::uint32_t n = shape_.blocks_in(block.generation);
    missing_ -= spans_[block.generation].insert(
        block.source_index ? codec::unit_vector(n, *block.source_index) : block.coefficients);
  }
  // All rows of the content are there, and so many times its blocks have come.
  bool reaches(double copies) const {
    return missing_ == 0 &&
           static_cast<double>(blocks_) >= copies * static_cast<double>(shape_.block_count());
  }

 private:
  const Shape shape_;
  std::uint64_t missing_, blocks_ = 0;
  std::vector<codec::SpanBasis> spans_;
};

}  // namespace firn::sim
