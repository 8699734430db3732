// What attackers do to a tracker: each kind a wave of connections and requests. All their ids say
// that they are hostile.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/tracker/abuse/host.h"
#include "tests/tracker/abuse/people.h"

namespace firn::tracker::test::abuse {

enum class Origin { kAddress, kFewAddresses, kPrefix, kManyPrefixes };

// What a request is.
enum class Deed {
  kNothing,       // none comes, not even of TLS
  kAnnounce,      // in an honest swarm, any
  kWantMost,      // the same, asking for 200 peers
  kHold,          // the same, so seldom as to keep the connection
  kEarly,         // the same, as incomplete peer, again and again
  kOwnSwarm,      // in a swarm of its own
  kFill,          // in the largest honest swarm
  kLie,           // of any kind there is: ports, completeness, leaving
  kHalfManifest,  // a part of one that never comes to its end
  kJunkManifest,  // a whole one, that nobody wants
  kReadManifest,  // of an honest content
};

struct AttackSpec {
  const char* name;
  Origin origin;
  Deed deed;
  double calls_per_second;     // connections under fresh identities
  std::size_t connections;     // at most; then the oldest is given up for another, where renewing
  double requests_per_second;  // over all; 0: one of each connection
  Time lasts;
  bool renewing = false;
  std::size_t prefixes = 300;  // where they are many
};

// All kinds; rates, connections and prefixes times `scale`.
std::vector<AttackSpec> all_attacks(double scale);

struct AttackCounts {
  std::uint64_t calls = 0, turned_away = 0;  // or closed by the tracker
  std::uint64_t requests = 0;
  std::uint64_t served = 0, refused = 0, held_back = 0;
  AttackCounts& operator+=(const AttackCounts& other);
};

class Attack {
 public:
  // `honest` outlives it.
  Attack(const AttackSpec& spec, const std::vector<Manifest>& honest, std::uint64_t seed,
         Host& host);

  const AttackSpec& spec() const { return spec_; }
  const AttackCounts& counts() const { return counts_; }
  // Does a step's worth.
  void step();
  // Leaves: half of the connections are hung up, the others stay silent.
  void end();

 private:
  struct Foe {
    Host::Link link = Host::kNone;
    std::uint64_t number = 0;
    std::uint64_t sent = 0;  // requests
  };

  std::string ip_of(std::uint64_t number) const;
  void call();
  bool due(double& saved, double per_second);
  // False: its connection is gone.
  void request(Foe& foe);
  proto::TrackerRequest deed(Foe& foe);
  proto::Announce announce_in(const ContentId& content, const Foe& foe) const;
  proto::TrackerRequest manifest_deed(const Foe& foe);
  const Manifest& any_honest() { return honest_[random_() % honest_.size()]; }

  const AttackSpec spec_;
  const std::vector<Manifest>& honest_;
  std::mt19937_64 random_;
  Host& host_;
  std::vector<Foe> foes_;
  std::size_t next_ = 0;  // in foes_, whose turn it is
  double calls_saved_ = 0, requests_saved_ = 0;
  std::uint64_t born_, swarms_made_;
  AttackCounts counts_;
};

}  // namespace firn::tracker::test::abuse
