#include "client/app/console/arrivals.h"

#include "client/app/console/quantities.h"

namespace firn::app {
namespace {

// "48.0 of 49.3 GiB", "1.0 MiB of 2.0 GiB".
std::string part_of_bytes(std::uint64_t part, std::uint64_t whole) {
  std::string few = format_bytes(part), all = format_bytes(whole);
  if (few.substr(few.find(' ')) == all.substr(all.find(' '))) few.resize(few.find(' '));
  return few + " of " + all;
}

}  // namespace

std::string arrival_words(const Arrivals& arrivals) {
  if (arrivals.origins.empty()) return "";
  std::string words =
      part_of_bytes(arrivals.from_peers, arrivals.from_peers + arrivals.from_origins) +
      " from peers";
  for (const OriginFigures& origin : arrivals.origins)
    words += ", " + format_bytes(origin.bytes) + " from " + origin.url;
  if (arrivals.redundant > 0) words += "; " + format_bytes(arrivals.redundant) + " redundant";
  if (arrivals.refused > 0) words += "; " + format_bytes(arrivals.refused) + " refused";
  return words;
}

}  // namespace firn::app
