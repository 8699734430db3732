// The first frame that `firn push` sends to a host's `firn receive`: what to download, and how.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proto/base/result.h"

namespace firn::app {

struct PushOrder {
  std::string link;  // with the content's secret: for the ssh session alone
  std::string dir;   // as its user gave it; empty: the folder where a login begins
  std::string as;    // as SessionPlan::as
  bool overwrite = false;
  bool repair = false;
  std::uint32_t timeout_s = 0;  // a download without progress ends after it; 0: none
};

// The payload of a control frame, without line ends. `order.link` is at most kLinkFileBytesMax / 2
// long.
std::string order_text(const PushOrder& order);
// Errors: kProtocol (it is no order, or one of a later kind).
Result<PushOrder> parse_order(std::string_view text);

}  // namespace firn::app
