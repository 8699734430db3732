// What may go along with requests to one origin, and how far they may reach.
// Who gives which is the session's decision; transfers.h holds to it:
// credentials go to the origin's own scheme, host and port alone, never to
// where it redirects.
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
  // Given by the user of this machine: its address may be a loopback, private
  // or link-local one, and user and password of its URL are sent. Else only
  // addresses of the Internet are connected to.
  bool by_hand = false;
  std::vector<std::string>
      headers;                // "NAME: VALUE" each; check_header() says which
  std::string endpoint;       // of s3: an http or https URL; empty: Amazon's
  std::string region;         // of s3; empty: us-east-1
  std::optional<AwsKeys> aws; // of s3; none: requests are not signed
  bool netrc = false; // user and password for the host from ~/.netrc (or the
                      // file NETRC names)
  // May go to the origin's host through the proxy that http_proxy, https_proxy,
  // all_proxy name.
  bool proxies = false;
};

// Whether `header` can go along with requests: "NAME: VALUE" with a name of RFC
// 9110, section 5.1, without control characters, and none of those that a
// request for bytes sets itself (Range, If-*, Accept-Encoding, Connection,
// Content-Length, Transfer-Encoding, TE, Expect, Upgrade). Errors: kBadInput;
// messages show the name, not the value.
Status check_header(std::string_view header);

// The region that requests to s3 are signed for.
std::string s3_region(const OriginAccess &access);

// Where requests for `url` go: `url` itself if it is http or https. Of s3 it is
// https://BUCKET.s3.REGION.amazonaws.com/KEY, or path style for a bucket whose
// name is no label of a host's (it has dots, capitals or '_'):
// https://s3.REGION.amazonaws.com/BUCKET/KEY; with an endpoint
// ENDPOINT/BUCKET/KEY. Errors: kBadInput (endpoint or region are none).
Result<OriginUrl> request_url(const OriginUrl &url, const OriginAccess &access);

} // namespace firn::app
