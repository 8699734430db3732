// What all parts of a swarm core read: which content, with which options, and the time. The doors
// (swarm.cc) set the time; a part that is handed it const cannot.
#pragma once

#include "client/core/types.h"
#include "proto/base/ids.h"

namespace firn::core {

struct Context {
  const ContentId content_id;
  const Options options;
  TimeUs now = 0;
};

}  // namespace firn::core
