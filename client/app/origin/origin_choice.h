// Which origins a content may be fetched from, and what goes along with
// requests to each.
//
//   who names it                           used            gets credentials,
//   proxies the user (--origin)                    always          yes; private
//   addresses too the link, a manifest file of the user  always          if the
//   user has named its host a manifest from the network            if its
//   publisher signed them, whose key the link names
//                                                          if the user has
//                                                          named its host
//
// Else any peer could send all downloaders to a victim's server, or fetch from
// their own network.
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
  std::vector<Origin> origins; // each URL once, those of the user first
  std::vector<std::string>
      refused; // messages: origins that cannot be used, and why
};

// `publisher`: whose key the link names.
OriginChoice choose_origins(const OriginPlan &plan, const Manifest &manifest,
                            const std::optional<PublicKey> &publisher);

} // namespace firn::app
