#include "client/core/mesh/book_shares.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace firn::core::policy {
namespace {

using Counts = std::map<std::string_view, std::size_t>;

std::string_view most_of(const Counts& counts) {
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

}  // namespace

std::optional<std::size_t> gives_way(const std::vector<KeptAddress>& kept,
                                     const KeptAddress& newcomer) {
  if (kept.empty()) return std::nullopt;
  const auto worst = std::max_element(kept.begin(), kept.end(), [](const auto& a, const auto& b) {
    return a.failures < b.failures;
  });
  if (worst->failures > 0) return static_cast<std::size_t>(worst - kept.begin());

  Counts sources;
  for (const KeptAddress& one : kept) ++sources[*one.source];
  const std::size_t own = sources[*newcomer.source];
  std::string_view source = most_of(sources);
  const bool from_own = own == sources[source];
  if (from_own) source = *newcomer.source;
  if (!from_own && own + 1 >= sources[source]) return std::nullopt;

  Counts prefixes;
  for (const KeptAddress& one : kept) {
    if (*one.source == source) ++prefixes[*one.prefix];
  }
  if (prefixes.empty()) return std::nullopt;
  const std::string_view prefix = most_of(prefixes);
  const bool rarer = prefixes[*newcomer.prefix] + 1 < prefixes[prefix];
  std::optional<std::size_t> last;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (*kept[i].source != source || *kept[i].prefix != prefix) continue;
    if (!last || kept[i].turn > kept[*last].turn) last = i;
  }
  const bool fits = !from_own || rarer || newcomer.turn < kept[*last].turn;
  return fits ? last : std::nullopt;
}

}  // namespace firn::core::policy
