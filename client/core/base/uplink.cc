#include "client/core/base/uplink.h"

#include <algorithm>

namespace firn::core {

void Uplink::blocks_departed(std::uint32_t blocks, std::uint64_t bytes, TimeUs now) {
  bytes_sent_ += bytes;
  if (bytes > 0) {
    blocks_sent_ += blocks;
    blocks_rate_.add(blocks, now);
  }
  meter_.sent(bytes, now);
}

std::uint32_t Uplink::kib_per_second() const {
  double carries = seen();
  if (!unlimited()) {
    const auto limit = static_cast<double>(rate());
    carries = carries > 0 ? std::min(carries, limit) : limit;
  }
  if (carries <= 0) return 0;
  return static_cast<std::uint32_t>(std::clamp(carries / 1024, 1.0, 1e9));
}

}  // namespace firn::core
