// Which Epochs a neighbour has, which went between us (epochs.h), and whether it wants claims.
#pragma once

#include <algorithm>
#include <cstdint>

#include "client/core/types.h"
#include "proto/base/ids.h"
#include "proto/messages.h"

namespace firn::core {

class EpochLink {
 public:
  // Its State has come. `latest`: the number of the latest Epoch that is known here.
  void told(const proto::State& state, std::uint64_t latest) {
    if (state.epoch <= latest) may_be_old_ = false;
    if (!may_be_old_) known_ = std::max(known_, state.epoch);
    wants_ = state.wants_epochs;
    wants_claims_ = state.wants_claims;
  }
  // It sent us this one. False if it had sent as late a one before.
  bool came(const PublicKey& speaker, std::uint64_t number) {
    if (speaker == speaker_ && number <= came_) return false;
    speaker_ = speaker;
    came_ = number;
    return true;
  }
  void sent(std::uint64_t number) { known_ = std::max(known_, number); }
  // It has this one, of the peer that speaks, and so listens to that.
  void shown(std::uint64_t number) {
    may_be_old_ = false;
    sent(number);
  }
  // Another peer speaks now, whose numbers begin anew.
  void forget() {
    known_ = 0;
    may_be_old_ = true;
  }

  // It has this Epoch, or it is on its way there.
  bool has(std::uint64_t number) const { return known_ >= number; }
  // It asks us to hand on Epochs at once.
  bool wants() const { return wants_; }
  // Each block that we answer for is to have a claim (claims.h).
  bool wants_claims() const { return wants_claims_; }

 private:
  PublicKey speaker_;
  std::uint64_t came_ = 0;
  std::uint64_t known_ = 0;
  // What it tells may be a number of a peer that spoke before: until it cannot be, higher ones than
  // the latest say nothing.
  bool may_be_old_ = true;
  bool wants_ = false;
  bool wants_claims_ = false;
};

}  // namespace firn::core
