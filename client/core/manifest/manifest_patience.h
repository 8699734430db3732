// How long to wait for a peer that sends, or takes, a manifest in parts: each part must come in
// time, and all parts together at a minimum rate. Otherwise a peer that drips bytes would keep us
// from asking another.
#pragma once

#include <algorithm>
#include <cstdint>

#include "client/core/base/types.h"

namespace firn::core {

// Bytes a second. Less: a peer that drips holds us up; more: slow uplinks are left.
inline constexpr std::int64_t kManifestRateMin = 16 << 10;

// When to give up, after `bytes` have come since `began`, the last of them at `last`; `timeout` is
// for one part.
inline TimeUs manifest_patience(TimeUs began, TimeUs last, std::uint64_t bytes, TimeUs timeout) {
  const auto earned = static_cast<TimeUs>(bytes) * kSecond / kManifestRateMin;
  return timeout + std::min(last, began + earned);
}

}  // namespace firn::core
