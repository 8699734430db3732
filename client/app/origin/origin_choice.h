// Chooses the origins that a content is fetched from, and what goes along with requests to each.
//
//   who names the origin                   it is used      it gets credentials and proxies
//   the user (--origin)                    always          yes; private addresses too
//   the link, a manifest file of the user  always          if the user has named its host
//   a manifest from the network            if the key that the link names has signed the origins
//                                                          if the user has named its host
//
// Without these rules any peer could send all downloaders to a victim's server, or let them ask
// servers of their own network.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/app/origin/origin_access.h"
#include "client/app/origin/origin_plan.h"
#include "proto/base/ids.h"
#include "proto/content/manifest.h"
#include "proto/content/origin_url.h"

namespace firn::app {

struct Origin {
  OriginUrl url;
  std::shared_ptr<const OriginAccess> access;
};

struct OriginChoice {
  std::vector<Origin> origins;       // each URL once; the user's own first
  std::vector<std::string> refused;  // for each origin that cannot be used, a message that says why
};

// `publisher`: the key that the link names. Reads AWS's settings for a bucket: its host may be
// among the named ones, and an endpoint for it says that the user's buckets are not at Amazon: then
// a bucket whose host is not named is refused rather than asked for there.
OriginChoice choose_origins(const OriginPlan& plan, const Manifest& manifest,
                            const std::optional<PublicKey>& publisher);

}  // namespace firn::app
