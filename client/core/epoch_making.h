// The authority's side of Epochs (proto/peer.proto): when one is told, of which generations it has
// sums, and which nonces it names. In a large mesh alone; a neighbour of a small one asks for sums
// of its own (check_serving.h).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "client/core/alarm.h"
#include "client/core/context.h"
#include "client/core/convictions.h"
#include "client/core/epochs.h"
#include "client/core/holdings.h"
#include "client/core/membership.h"
#include "client/core/outbox.h"
#include "client/core/policy/constants.h"
#include "client/core/uplink.h"
#include "proto/messages.h"

namespace firn::core {

class EpochMaking final : public LeaveWatcher {
 public:
  EpochMaking(const Context& context, Membership& membership, Outbox& outbox, const Uplink& uplink,
              const Holdings& holdings, Convictions& convictions, Epochs& epochs);

  // This peer speaks for the authority, and no other one does.
  bool speaks() const;
  void asked(const Neighbour& n, const proto::EpochRequest& request);
  // The answer to MakeEpoch; without a signature if it could not be made.
  void made(proto::Epoch&& epoch);

  void leaves(const Neighbour& n) override;

  void step();
  TimeUs next_due() const;

 private:
  bool needed() const;
  // A second, under alarm.
  std::uint64_t allowed_bytes() const;
  TimeUs paced(TimeUs shortest, TimeUs longest) const;
  TimeUs interval() const;
  bool due() const;
  bool alarm() const { return alarm_.on(context_.now); }
  bool early() const { return number_ - context_.options.epochs_before < policy::kEpochsEarly; }
  // Of one generation.
  std::size_t sum_bytes() const {
    return std::size_t{holdings_.generation_size()} * policy::kCheckTagBytes;
  }
  // `other_bytes`: of the Epoch beside its sums.
  std::vector<proto::EpochSums> choose(std::uint64_t other_bytes);
  std::vector<proto::HeardNonce> take_heard();

  const Context& context_;
  Membership& membership_;
  Outbox& outbox_;
  const Uplink& uplink_;
  const Holdings& holdings_;
  Convictions& convictions_;
  Epochs& epochs_;
  struct Heard {
    proto::Nonce nonce{};
    TimeUs at = 0;
  };
  std::map<PeerKey, std::vector<Heard>> heard_;
  std::map<PeerKey, std::set<std::uint32_t>> wanted_;  // generations
  std::map<std::uint32_t, std::uint64_t> judged_;  // the number of the last Epoch, by generation
  std::uint64_t number_;
  TimeUs made_at_ = -kSecond;
  Alarm alarm_;
  std::uint64_t sent_then_ = 0;  // blocks, when the last one was made
  std::uint64_t cost_ = 0;       // of the last one, to all neighbours: bytes, about
  bool making_ = false;
  bool told_alarm_ = false;  // by the last one
};

}  // namespace firn::core
