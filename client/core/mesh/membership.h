// Decides to which peers this one is connected: calls known addresses, accepts or refuses calls,
// and drops neighbours, for good or for a while. Owns the neighbours. Of the messages it handles
// only Hello and Goodbye.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "client/core/base/context.h"
#include "client/core/base/part.h"
#include "client/core/mesh/eviction.h"
#include "client/core/mesh/neighbour_count.h"
#include "client/core/mesh/peer_book.h"
#include "client/core/mesh/trackers.h"
#include "client/core/neighbour/neighbours.h"
#include "client/core/neighbour/outbox.h"
#include "client/core/view/history.h"
#include "proto/base/result.h"
#include "proto/messages.h"

namespace firn::core {

class Membership final : public Part {
 public:
  // `parts`: those that hear of neighbours that go.
  Membership(const Context& context, Life& life, Trackers& trackers, Outbox& outbox,
             const std::vector<Part*>& parts);

  const Neighbours& neighbours() const { return neighbours_; }
  Neighbours& neighbours() { return neighbours_; }
  Neighbour* find(PeerKey peer) { return neighbours_.find(peer); }
  const PeerBook& book() const { return book_; }
  // PeerBook::call_all_again.
  void call_all_again() { book_.call_all_again(context_.now); }
  const History& history() const { return history_; }
  const NeighbourCount& count() const { return count_; }
  // The certificate that Hello shows; empty while it waits: others would wait for this peer to
  // judge generations that it does not hold yet.
  std::string certificate() const {
    const bool waits = context_.options.certificate_waits && !life_.complete();
    return waits ? std::string() : context_.certificate;
  }

  // --- connections that come ---
  // Announces to trackers, and calls addresses that are due as long as neighbours are wanted.
  void step() override;
  void connect_failed(std::uint64_t attempt, const Error& error);
  // As SwarmCore::peer_opened. A new neighbour is told Hello; null: the connection was refused.
  Neighbour* opened(PeerKey peer, const PeerId& id, const std::string& ip, std::uint16_t port,
                    std::uint64_t attempt, bool has_manifest);
  // Its Hello has come. False: it was dropped for that.
  bool greeted(Neighbour& n, const proto::Hello& hello);
  // What others say of peers: a neighbour, of which some addresses are not taken (address_kind.h),
  // or a tracker or the like, named by `source`, of which the driver has taken those out.
  void heard_of(const std::vector<proto::PeerEndpoint>& endpoints, const Neighbour& from);
  void heard_of(const std::vector<proto::PeerEndpoint>& endpoints, const std::string& source);

  // --- connections that go; the neighbour is dead afterwards ---
  // The other side closed the connection. `why`: for people.
  void closed(PeerKey peer, const std::string& why);
  void said_goodbye(Neighbour& n, const proto::Goodbye& goodbye);
  // Says goodbye.
  void drop(Neighbour& n, proto::GoodbyeReason reason, const std::string& detail);
  // Drops the peer, if it is connected, and bans it for a while, as for at least this number of
  // strikes. `kind`: the kind of fault, and the notice's topic; `detail`: text on this fault, which
  // follows it.
  void punish(const PeerId& id, proto::GoodbyeReason reason, const char* kind,
              std::uint32_t strikes = 1, const std::string& detail = {});
  // These were convicted by false check sums: their bans end.
  void acquit(const std::vector<PeerId>& convicted);
  // Leaves the swarm, for good.
  void stop();

  // Whether the swarm is so small that every peer can know every other.
  bool small_mesh() const { return count_.small_mesh(); }
  TimeUs next_due() override;

 private:
  bool wants_addresses() const;
  bool lonely() const;
  void refuse(PeerKey peer, std::uint64_t attempt, const PeerId& id, proto::GoodbyeReason reason,
              const std::string& why);
  bool keeps_other_connection(const PeerId& id, bool outgoing);
  bool make_room(const std::string& ip, bool called);
  bool give_place_of(Neighbour* gives_way);  // null: of nobody
  void leave_idle();
  void book_opened(std::uint64_t attempt, const PeerId& id);
  void forget(Neighbour& n, TimeUs rest, const std::string& why);
  void accused_by(const PeerId& id);

  const Context& context_;
  Life& life_;
  Trackers& trackers_;
  Outbox& outbox_;
  PeerBook book_;
  Neighbours neighbours_;
  NeighbourCount count_;
  Eviction eviction_;
  History history_;
  const std::vector<Part*>& parts_;
  std::set<PeerId> accusers_;  // kAccusersToTell at most
};

// A part of a peer among its neighbours, and what most of these parts use: which content and when,
// how far the peer has come, the neighbours, and the actions of this step.
class MeshPart : public Part {
 public:
  MeshPart(const Context& context, Life& life, Membership& membership, Outbox& outbox)
      : context_(context), life_(life), membership_(membership), outbox_(outbox) {}

 protected:
  const Context& context_;
  Life& life_;  // ManifestFetch and Receiving alone change it
  Membership& membership_;
  Outbox& outbox_;
};

}  // namespace firn::core
