// A sample of a swarm's peers, spread over its prefixes, drawn where they lie: it takes time by how
// many are drawn, whatever the swarm's size.
#pragma once

#include "tracker/prefix_table.h"
#include "tracker/registry.h"

namespace firn::tracker {

// One thread. Lasts as long as what it was made of is not changed.
class SwarmSample {
 public:
  // Of the swarm with these crowds, those that fit.
  SwarmSample(const KindList& crowds, With with, const PeerTable& peers,
              const PrefixTable& prefixes)
      : crowds_(crowds), with_(with), peers_(peers), prefixes_(prefixes) {}

  // Replaces what `into` holds. `fitting`: peers that fit, over all crowds.
  void draw(const SampleRequest& request, std::size_t fitting, Random& random,
            Endpoints& into) const;

 private:
  class Turns;

  void draw_once(const SampleRequest& request, Random& random, Endpoints& into) const;
  void draw_again(const SampleRequest& request, Random& random, Endpoints& into) const;
  std::uint32_t pick(Crowd crowd, Random& random) const;
  std::uint32_t fitting_in(Crowd crowd) const {
    return PrefixTable::is_group(crowd) ? prefixes_.members(crowd).fitting(with_) : 1;
  }

  const KindList& crowds_;
  const With with_;
  const PeerTable& peers_;
  const PrefixTable& prefixes_;
};

}  // namespace firn::tracker
