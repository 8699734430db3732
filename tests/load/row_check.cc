#include "tests/load/row_check.h"

#include <string>
#include <utility>

#include "codec/decode.h"
#include "proto/base/digest.h"

namespace firn::load {

RowCheck::RowCheck(const Manifest& manifest, std::uint32_t generation)
    : manifest_(manifest),
      generation_(generation),
      basis_(manifest.info.shape.blocks_in(generation)) {}

bool RowCheck::add(const proto::Block& block) {
  std::vector<std::uint8_t> vector = block.coefficients;
  if (block.source_index) {
    vector.assign(basis_.generation_size(), 0);
    vector[*block.source_index] = 1;
  }
  if (!basis_.insert(vector)) return false;
  vectors_.push_back(std::move(vector));
  payloads_.push_back(block.payload);
  return true;
}

Status RowCheck::compare() const {
  const std::size_t n = basis_.generation_size();
  const std::uint32_t k = manifest_.info.shape.block_bytes;
  std::vector<const std::uint8_t*> vectors, payloads;
  for (const auto& vector : vectors_) vectors.push_back(vector.data());
  for (const proto::Payload& payload : payloads_) payloads.push_back(payload.bytes().data());
  std::vector<std::uint8_t> data(n * k);
  const bool decoded = codec::decode_generation(codec::kernels(), n, k, vectors, payloads, data);
  if (decoded && generation_digest(data, k) == manifest_.info.generation_digests[generation_])
    return Done{};
  return Error{ErrorCode::kCorrupt, "check generation " + std::to_string(generation_),
               decoded ? "what was decoded does not fit its digest" : "its rows do not decode"};
}

}  // namespace firn::load
