// What a person can do about a store that fails: added to the errors that a session passes on.
#pragma once

#include "client/app/session/session_plan.h"
#include "proto/base/result.h"

namespace firn::app {

// The disk takes nothing for now.
Error advice_when_paused(const SessionPlan& plan, Error error);
// A generation of finished files is not what it was; the files are left as they are.
Error advice_when_lost(const SessionPlan& plan, Error error);

}  // namespace firn::app
