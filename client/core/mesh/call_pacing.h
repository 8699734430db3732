// Limits how often an address is called that does not answer. A tracker or neighbour may name the
// address of a victim that has nothing to do with this content. So after a few calls in vain only
// few more follow, however many ports and peer ids are named there. One party owns a whole IPv6
// network (network_of), which therefore counts as one address. A prefix, of which one party may own
// many addresses, has a higher limit. A call that reaches the expected peer does not count, so many
// peers behind one address are called without delay.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "client/core/base/types.h"

namespace firn::core {

// A peer makes kVainCalls calls in vain to one address at once, then one each kVainCallTime. All
// peers of a swarm may be told of the same victim, so each must be modest. Fewer calls: peers
// behind a bad link are found late.
inline constexpr int kVainCalls = 8;
inline constexpr TimeUs kVainCallTime = 5 * kSecond;
inline constexpr int kVainCallsPrefix = 64;  // the same, to a prefix
inline constexpr TimeUs kVainCallTimePrefix = kSecond / 2;

class CallPacing {
 public:
  // When `host` may be called next; at most `now` if it may be called now.
  TimeUs next(const std::string& host, TimeUs now) const;
  void called(const std::string& host, TimeUs now);
  // A call that was counted has reached its peer.
  void answered(const std::string& host);

  // Networks that have calls in vain to forget; bounded by the rate of calls.
  std::size_t size() const { return of_network_.forgotten_at.size(); }

 private:
  // A call is forgotten `time` after the call before it is; `calls` may be remembered at once.
  struct Vain {
    TimeUs next(const std::string& whose, TimeUs now) const;
    void note(const std::string& whose, TimeUs now);
    void take_back(const std::string& whose);

    TimeUs calls, time;
    // Of each network or prefix: the time by which all calls so far are forgotten.
    std::map<std::string, TimeUs> forgotten_at = {};
  };

  Vain of_network_{kVainCalls, kVainCallTime};
  Vain of_prefix_{kVainCallsPrefix, kVainCallTimePrefix};
};

}  // namespace firn::core
