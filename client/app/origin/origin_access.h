// What goes along with requests to one origin, and which addresses they may reach. origin_choice.h
// decides that for each origin. transfers.h sends credentials to the origin's own scheme, host and
// port alone, and never to another server to which the origin redirects.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/app/origin/aws_keys.h"
#include "proto/base/result.h"
#include "proto/content/origin_url.h"

namespace firn::app {

struct OriginAccess {
  // The user of this machine named the origin: its address may be a loopback, private or link-local
  // one, and user and password of its URL are sent. Other origins must have addresses of the
  // Internet.
  bool by_hand = false;
  std::vector<std::string> headers;  // each "NAME: VALUE", as check_header() allows
  std::string endpoint;              // for s3: an http or https URL; empty: Amazon's
  std::string region;                // for s3; empty: us-east-1
  std::optional<AwsKeys> aws;        // for s3; none: requests are not signed
  // User and password for the host are read from ~/.netrc, or the file that NETRC names.
  bool netrc = false;
  // Requests to the origin's host may use the proxy that http_proxy, https_proxy, all_proxy name.
  bool proxies = false;
};

// Whether a user may send `header` along: "NAME: VALUE" with a name of RFC 9110, section 5.1,
// without control characters. Refused are the headers that a request for bytes sets itself: Range,
// If-*, Accept-Encoding, Connection, Content-Length, Transfer-Encoding, TE, Expect, Upgrade.
// Errors: kBadInput; messages show the name, not the value.
Status check_header(std::string_view header);

// The region that requests to s3 are signed for.
std::string s3_region(const OriginAccess& access);

// Adds AWS's settings: the keys, and region and endpoint where `access` has none. Errors: as
// read_aws_settings().
Status add_aws_settings(OriginAccess& access);

// The http or https URL that is asked for `url`: `url` itself unless it is s3://BUCKET/KEY. That is
//   with an endpoint                            ENDPOINT/BUCKET/KEY
//   if BUCKET cannot be a part of a host name   https://s3.REGION.amazonaws.com/BUCKET/KEY
//     (it has dots, capitals or '_')
//   else                                        https://BUCKET.s3.REGION.amazonaws.com/KEY
// Errors: kBadInput (a malformed endpoint or region).
Result<OriginUrl> request_url(const OriginUrl& url, const OriginAccess& access);

}  // namespace firn::app
