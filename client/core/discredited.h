// Peers that told false check sums, for the content's authority or for nobody. Who speaks for the
// authority and lies counts as anybody after that; of such peers there are few, as they have its
// certificate.
#pragma once

#include "client/core/recent_ids.h"

namespace firn::core {

using Discredited = RecentIds;

}  // namespace firn::core
