// Whether a content and what is known of it belong together: a private one is never fetched or
// served without its secret, so that none gets into the open by mistake.
#pragma once

#include "proto/base/result.h"
#include "proto/content/manifest.h"

namespace firn::app {

// Errors: kBadInput.
inline Status check_secret(bool secret_known, const Info& info) {
  if (!info.is_private || secret_known) return Done{};
  return Error{ErrorCode::kBadInput, "take " + info.name,
               "it is a private content: give its whole link, which holds the secret (share and "
               "create print it); firn get takes both, LINK X.firn"};
}

}  // namespace firn::app
