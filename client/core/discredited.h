// Peers that spoke for the content's authority and told false check sums: their word counts as
// anybody's. Such a peer has the authority's certificate, so there are few.
#pragma once

#include "client/core/recent_ids.h"

namespace firn::core {

using Discredited = RecentIds;

}  // namespace firn::core
