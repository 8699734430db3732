// A lab's tracker: it knows the peers that listen, and answers with a random choice of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/core/base/types.h"
#include "codec/random.h"
#include "proto/base/ids.h"
#include "proto/messages.h"
#include "tests/sim/lab/run.h"

namespace firn::sim {

class LabTracker {
 public:
  // It answers from then until then.
  void set_hours(TimeUs from, TimeUs until) {
    from_ = from;
    until_ = until;
  }
  bool answers(TimeUs now) const { return now >= from_ && now < until_; }

  // A peer announces itself and asks for `wanted` others. It is remembered if it listens: at `ip`.
  proto::AnnounceReply announced(std::uint32_t peer, const PeerId& id, const std::string& ip,
                                 std::uint64_t wanted, codec::CoefficientStream& random);
  void forget(std::uint32_t peer);

 private:
  struct Known {
    std::uint32_t peer = 0;
    PeerId id;
    std::string ip;
  };
  TimeUs from_ = 0, until_ = kNever;
  std::vector<Known> known_;
};

}  // namespace firn::sim
