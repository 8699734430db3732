// Epochs (proto/peer.proto) on their way through the swarm: each is checked once, kept if it is the
// latest, and handed on. A peer names the neighbour from which Epochs come first; that one hands
// them on to it at once, so that most Epochs come once to each peer, and to few others besides,
// in case that the chosen neighbour keeps them back. Neighbours that turn out to be behind get the
// latest later.
//
// One peer speaks at a time: another one is listened to when the first has been silent for long.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "client/core/context.h"
#include "client/core/discredited.h"
#include "client/core/holdings.h"
#include "client/core/membership.h"
#include "client/core/outbox.h"
#include "codec/random.h"
#include "proto/base/token_bucket.h"
#include "proto/messages.h"

namespace firn::core {

class Epochs final : public LeaveWatcher {
 public:
  // `authority_key`: of the manifest; empty: there are no Epochs.
  Epochs(const Context& context, Membership& membership, Outbox& outbox, const Holdings& holdings,
         const Discredited& discredited, std::string authority_key);

  enum class Verdict {
    kNews,   // it is the latest now, and has been handed on
    kOld,    // as late a one is known, or another peer speaks, or too many come
    kFalse,  // not even an honest relay sends that
  };
  Verdict came(Neighbour& n, proto::Epoch&& epoch);
  // This peer speaks. Its numbers rise.
  void speak(proto::Epoch&& epoch);

  // Null: none has come.
  const proto::Epoch* latest() const { return latest_ ? &*latest_ : nullptr; }
  std::uint64_t number() const { return latest_ ? latest_->number : 0; }
  // Changes when another peer speaks.
  std::uint32_t speakers() const { return speakers_; }
  // The latest is no older than Epochs are while peers need them.
  bool alive() const;
  // The authority says that false rows are about, and goes on to say so.
  bool alarm() const;
  // The peer speaks: the latest Epoch is of it.
  bool speaks(const PeerId& id) const { return latest_ && speaker_ == id; }
  // Of the latest.
  const PeerId& speaker() const { return speaker_; }
  // The discredited peer is not listened to any more.
  void discredit(const PeerId& id);
  // From which neighbour Epochs come first; kNoPeer: none is known.
  PeerKey upstream() const { return upstream_; }

  void leaves(const Neighbour& n) override;

  // The neighbour's State has come: it gets the latest if it is behind.
  void told(Neighbour& n);
  // When alarm() or alive() may change.
  TimeUs next_due() const;

 private:
  bool fits(const proto::Epoch& epoch) const;
  bool is_signed(const proto::Epoch& epoch) const;
  void keep(proto::Epoch&& epoch);
  void send(Neighbour& n);
  void hand_on();

  const Context& context_;
  Membership& membership_;
  Outbox& outbox_;
  const Holdings& holdings_;
  const Discredited& discredited_;
  const std::string authority_key_;
  std::optional<proto::Epoch> latest_;
  PeerId speaker_;  // of it
  TimeUs came_at_ = 0;
  std::uint32_t speakers_ = 0;
  std::uint64_t kept_ = 0;  // Epochs that were news
  PeerKey upstream_ = kNoPeer;
  std::map<PeerKey, TokenBucket> allowances_;
  std::map<PublicKey, std::uint64_t> numbers_;  // the highest of each certified speaker
  codec::CoefficientStream random_;
};

}  // namespace firn::core
