// A request and its reply in a line, for the log.
#pragma once

#include <string>

#include "proto/messages.h"

namespace firn::tracker {

// "announce of CONTENT: started, incomplete, port 4000; 3 peers returned, 1 complete and 4
// incomplete known". An error of the tracker's is a reply as well.
std::string text_of(const proto::TrackerRequest& request, const proto::TrackerReply& reply);

}  // namespace firn::tracker
