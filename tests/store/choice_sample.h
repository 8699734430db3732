// The content of the tests of choices: which files share a generation is what they are about.
#pragma once

#include <initializer_list>
#include <vector>

#include "client/store/content_store.h"
#include "tests/store/sample_content.h"

namespace firn::store::test {

using Choice = std::vector<bool>;

enum Entry : std::uint32_t { kA, kB, kC, kEmpty, kLink, kFolder, kFileCount };

// Generations of 2000 bytes: a has 0 to 2, and of 3 the first half, which b shares; b ends in 4,
// and c has 5 to 7.
inline const Sample& choice_sample() {
  static const Sample kSample = make_sample("o",
                                            {{"a", 7000},
                                             {"b", 1500},
                                             {"c", 6000},
                                             {"d/empty", 0},
                                             {"d/link", 0, false, "../a"},
                                             {"d/folder", 0, true}},
                                            4, 500);
  return kSample;
}

inline Choice choice_of(std::initializer_list<Entry> files) {
  Choice chosen(kFileCount, false);
  for (const Entry file : files) chosen[file] = true;
  return chosen;
}

inline const Choice kOnlyA = choice_of({kA});
inline const Choice kOnlyB = choice_of({kB});
inline const Choice kOnlyC = choice_of({kC});

inline OpenOptions choosing(const Choice& chosen) {
  OpenOptions options = kOptions;
  options.chosen = chosen;
  return options;
}

}  // namespace firn::store::test
