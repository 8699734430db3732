// A fuzz target is one file, FIRN_FUZZ_TARGET(name) { ... } in a namespace of that name: it feeds
// `data` (`size` bytes) to a parser, aborts (FIRN_CHECK) when an invariant breaks, and returns 0.
// The file is compiled twice: with libFuzzer into a program of its own (meson option `fuzz`,
// clang), and in every build into corpus_test, which runs the files in corpus/<name>/ and mutations
// of them as ordinary tests.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef FIRN_LIBFUZZER

#define FIRN_FUZZ_TARGET(name) \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)

#else

#include <doctest/doctest.h>

namespace firn::fuzz {

using Target = int (*)(const std::uint8_t* data, std::size_t size);
void run_corpus(const char* name, Target target);
void run_mutations(const char* name, Target target);

}  // namespace firn::fuzz

#define FIRN_FUZZ_TARGET(name)                                               \
  static int run_input(const std::uint8_t* data, std::size_t size);          \
  TEST_CASE("every input of the corpus of " #name " keeps its invariants") { \
    ::firn::fuzz::run_corpus(#name, run_input);                              \
  }                                                                          \
  TEST_CASE("so do mutations of the corpus of " #name) {                     \
    ::firn::fuzz::run_mutations(#name, run_input);                           \
  }                                                                          \
  static int run_input(const std::uint8_t* data, std::size_t size)

#endif
