// A row's standing, as the core and the store name it.
#pragma once

#include "client/core/base/types.h"
#include "client/store/content_store.h"

namespace firn::app {

inline store::Standing kept_standing(core::Standing standing) {
  switch (standing) {
    case core::Standing::kUnanswered:
      break;
    case core::Standing::kAnswered:
      return store::Standing::kAnswered;
    case core::Standing::kProven:
      return store::Standing::kProven;
  }
  return store::Standing::kNotKnown;
}

inline core::Standing resumed_standing(store::Standing standing) {
  switch (standing) {
    case store::Standing::kNotKnown:
      break;
    case store::Standing::kAnswered:
      return core::Standing::kAnswered;
    case store::Standing::kProven:
      return core::Standing::kProven;
  }
  return core::Standing::kUnanswered;
}

}  // namespace firn::app
