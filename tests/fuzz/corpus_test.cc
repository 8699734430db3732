// Runs fuzz targets over their corpora, in every build: a target aborts when an invariant breaks.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "tests/fuzz/fuzz_target.h"

namespace firn::fuzz {
namespace {

using Input = std::vector<std::uint8_t>;

std::vector<Input> corpus(const char* name) {
  const char* folder = std::getenv("FIRN_CORPUS");  // set in meson.build
  REQUIRE(folder != nullptr);
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(folder) / name))
    paths.push_back(entry.path());
  std::ranges::sort(paths);  // so that mutations are the same everywhere
  std::vector<Input> inputs;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    REQUIRE(file);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

// Flips, overwrites, cuts and doublings: what happens to bytes on bad days.
Input mutated(Input input, std::mt19937& random) {
  for (unsigned i = 1 + random() % 3; i > 0 && !input.empty(); --i) {
    const std::size_t at = random() % input.size();
    const std::size_t to = at + random() % (input.size() - at + 1);
    switch (random() % 4) {
      case 0:
        input[at] ^= static_cast<std::uint8_t>(1 << random() % 8);
        break;
      case 1:
        input[at] = static_cast<std::uint8_t>(random());
        break;
      case 2:
        input.erase(input.begin() + static_cast<std::ptrdiff_t>(at),
                    input.begin() + static_cast<std::ptrdiff_t>(to));
        break;
      default: {
        const Input part(input.begin() + static_cast<std::ptrdiff_t>(at),
                         input.begin() + static_cast<std::ptrdiff_t>(to));
        input.insert(input.begin() + static_cast<std::ptrdiff_t>(at), part.begin(), part.end());
      }
    }
  }
  return input;
}

}  // namespace

void run_corpus(const char* name, Target target) {
  const auto inputs = corpus(name);
  CHECK(inputs.size() >= 3);
  for (const Input& input : inputs) CHECK(target(input.data(), input.size()) == 0);
}

void run_mutations(const char* name, Target target) {
  std::mt19937 random(20);
  for (const Input& input : corpus(name))
    for (int round = 0; round < 100; ++round) {
      const Input mutation = mutated(input, random);
      CHECK(target(mutation.data(), mutation.size()) == 0);
    }
}

}  // namespace firn::fuzz
