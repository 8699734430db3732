// False claims (proto/block_claim.h) as neighbours bring them: which of them are looked at. Each
// costs a signature's check at least, so few of one neighbour's are looked at in a second.
#pragma once

#include <map>

#include "client/core/context.h"
#include "client/core/holdings.h"
#include "client/core/neighbour.h"
#include "proto/base/token_bucket.h"
#include "proto/messages.h"

namespace firn::core {

class BroughtClaims {
 public:
  BroughtClaims(const Context& context, const Holdings& holdings)
      : context_(context), holdings_(holdings) {}

  enum class Verdict {
    kSigned,   // by the peer that it names
    kTooMany,  // it was not looked at
    kRefused,  // no honest peer brings that, not even one that hands on what it has not checked
  };
  Verdict look(const Neighbour& from, const proto::FalseClaim& claim);

  void leaves(PeerKey neighbour) { allowances_.erase(neighbour); }

 private:
  const Context& context_;
  const Holdings& holdings_;
  std::map<PeerKey, TokenBucket> allowances_;
};

}  // namespace firn::core
