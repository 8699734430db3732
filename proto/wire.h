// The classes that protoc makes from the schemas (namespace firn::wire), for proto's own sources
// and for tests; all other code uses messages.h and manifest.h. The pragma keeps our warnings away
// from generated code.
#pragma once
#pragma GCC system_header

#include "proto/manifest.pb.h"
#include "proto/peer.pb.h"
#include "proto/tracker.pb.h"
