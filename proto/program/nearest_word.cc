#include "proto/program/nearest_word.h"

#include <algorithm>

#include "proto/base/plain_text.h"

namespace firn {
namespace {

constexpr std::size_t kBeginningMin = 3;  // letters; fewer begin too many words
constexpr std::size_t kShort = 3;  // letters; such words differ too little to change the first one

std::string_view without_dashes(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  return word;
}

}  // namespace

// Optimal string alignment: rows of the table for the prefixes of `one`.
std::size_t edit_distance(std::string_view one, std::string_view other) {
  std::vector<std::size_t> before, last(other.size() + 1), row(other.size() + 1);
  for (std::size_t j = 0; j <= other.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= one.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= other.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (one[i - 1] == other[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = last;
    last = row;
  }
  return last[other.size()];
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
  const std::string wanted = lower_case(without_dashes(word));
  const std::size_t distance_max = std::max<std::size_t>(1, wanted.size() / 3);
  std::string nearest;
  std::size_t least = distance_max + 1;
  for (const std::string& candidate : known) {
    const std::string plain = lower_case(without_dashes(candidate));
    std::size_t distance = edit_distance(wanted, plain);
    if (wanted.size() >= kBeginningMin && plain.starts_with(wanted))
      distance = std::min(distance, distance_max);
    // A word that shares no letter with it is not meant, however short both are.
    if (distance >= std::min(least, wanted.size())) continue;
    if (wanted.size() <= kShort && plain.front() != wanted.front() && distance > 0) continue;
    least = distance;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace firn
