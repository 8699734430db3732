// What all parts of a swarm core read: which content, with which options, and the time. The doors
// (swarm.cc) set the time; a part that is handed it const cannot.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/core/types.h"
#include "proto/base/ids.h"

namespace firn::core {

struct Context {
  const ContentId content_id;
  const Options options;
  TimeUs now = 0;
  // Whose envelope of the manifest this peer wants or has; none: any.
  std::optional<PublicKey> signer = options.publisher;
  // By which this peer speaks for the content's authority; empty: it does not.
  std::string certificate = options.certificate;
  // The highest number of an Epoch that a peer of the last version has sent.
  std::uint64_t epoch = 0;
};

}  // namespace firn::core
