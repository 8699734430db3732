// Which proxy the environment names for a URL, as the curl command reads it: http_proxy (in small
// letters alone), https_proxy or HTTPS_PROXY, else all_proxy or ALL_PROXY; and no_proxy or NO_PROXY
// with the hosts that are reached without one.
#pragma once

#include <string>

#include "client/app/origin/aws_keys.h"
#include "proto/content/origin_url.h"

namespace firn::app {

// The proxy's URL, as it stands in the environment (it may hold a password: never for logs); empty:
// none. NO_PROXY is "*" or a list of names (each with all names below it), addresses and ranges
// (10.0.0.0/8), separated by commas or spaces. `url`: http or https.
std::string proxy_for(const OriginUrl& url, const Environment& environment);

}  // namespace firn::app
