#include "tests/hostile/deeds.h"

#include <cstdlib>

namespace firn::hostile {

namespace {

// False: there is no such deed, or its number is missing.
bool add(Deeds& deeds, const std::string& word, double number) {
  if (word == "noise" || word == "byte") {
    deeds.falsifies = 1;
    deeds.noise = word == "noise";
  } else if (word == "sparse" && number >= 1) {
    deeds.falsifies = 1 / number;
  } else if (word == "turns" && number > 0) {
    deeds.falsifies = 1;
    deeds.turn = static_cast<core::TimeUs>(number * core::kSecond);
  } else if (word == "low-rank" && number >= 1) {
    deeds.rank = static_cast<std::uint32_t>(number);
  } else if (word == "replay") {
    deeds.repeats = true;
  } else if (word == "rank-liar") {
    deeds.claims_rank = true;
  } else if (word == "silent") {
    deeds.serves = 0;
  } else if (word == "half") {
    deeds.serves = 0.5;
  } else if (word == "reports") {
    deeds.lies_in_reports = true;
  } else if (word == "false-sums") {
    deeds.false_sums = true;
    deeds.true_sums = static_cast<std::uint32_t>(number);
  } else if (word == "colluding") {
    deeds.colludes = true;
  } else if (word == "fresh" && number > 0) {
    deeds.renamed = static_cast<core::TimeUs>(number * core::kSecond);
  } else {
    return false;
  }
  return true;
}

}  // namespace

Result<Deeds> parse_deeds(const std::string& text) {
  Deeds deeds;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('+', at), text.size());
    const std::string word = text.substr(at, end - at);
    const std::size_t colon = word.find(':');
    const double number =
        colon == std::string::npos ? 0 : std::strtod(word.c_str() + colon + 1, nullptr);
    if (!add(deeds, word.substr(0, colon), number))
      return Error{ErrorCode::kBadInput, "parse deeds", "no such deed: \"" + word + "\""};
    at = end + 1;
  }
  return deeds;
}

}  // namespace firn::hostile
