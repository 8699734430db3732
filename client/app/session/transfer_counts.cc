#include "client/app/session/transfer_counts.h"

#include <utility>

namespace firn::app {

void TransferCounts::add_origin(const std::string& url, std::uint64_t bytes) {
  // The rest of a URL may say what a private content is.
  const std::size_t host = url.find("://") + 3;
  const std::string server = url.substr(0, url.find('/', host));
  const bool known = origins.contains(server) || origins.size() < kOriginsMax;
  origins[known ? server : kOthers] += bytes;
}

void SessionCounts::take(const Arrivals& arrivals, std::uint64_t received, std::uint64_t sent,
                         TransferCounts& all) {
  const auto grown = [](std::uint64_t& last, std::uint64_t now) {
    const std::uint64_t before = std::exchange(last, now);
    return now > before ? now - before : 0;
  };
  const auto count = [&](std::uint64_t TransferCounts::*figure, std::uint64_t now) {
    const std::uint64_t more = grown(last_.*figure, now);
    counts_.*figure += more;
    all.*figure += more;
  };
  count(&TransferCounts::from_peers, arrivals.from_peers);
  count(&TransferCounts::from_origins, arrivals.from_origins);
  count(&TransferCounts::redundant, arrivals.redundant);
  count(&TransferCounts::refused, arrivals.refused);
  count(&TransferCounts::received, received);
  count(&TransferCounts::sent, sent);
  for (const OriginFigures& origin : arrivals.origins)
    if (const std::uint64_t more = grown(last_.origins[origin.url], origin.bytes); more > 0)
      all.add_origin(origin.url, more);
}

}  // namespace firn::app
