// What a person can do about a store that fails: added to the errors that a session passes on.
#pragma once

#include <string>

#include "client/app/session/session_plan.h"
#include "proto/base/result.h"

namespace firn::app {

// What `overwrite` or `repair` may change at the content's top name in `dir`, said before it does:
// another's folder or file may have stood there before.
std::string what_may_change(const std::string& dir, const std::string& top_name, bool repair);

// Trying again will not help: the download ends.
Error advice_when_refused(Error error);

// The disk takes nothing for now.
Error advice_when_paused(const SessionPlan& plan, Error error);
// A generation of finished files is not what it was, or cannot be read; the files are left as they
// are.
Error advice_when_lost(const SessionPlan& plan, Error error);

}  // namespace firn::app
