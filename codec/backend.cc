#include "codec/backend.h"

#include <vector>

#include "codec/batch.h"

namespace firn::codec {

BackendStatus CpuBackend::encode(const EncodeWork& work) {
  std::vector<const std::uint8_t*> in(work.generation_size);
  for (std::size_t j = 0; j < in.size(); ++j) in[j] = work.source.data() + j * work.block_bytes;
  encode_batch(executor_, kernels_, in, work.block_bytes, work.vectors, work.out);
  return {};
}

BackendStatus CpuBackend::decode(std::span<GenerationWork> generations) {
  decode_generations(executor_, kernels_, generations);
  return {};
}

}  // namespace firn::codec
