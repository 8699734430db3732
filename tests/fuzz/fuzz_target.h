// A fuzz target is one file that defines LLVMFuzzerTestOneInput: it feeds `data` to a parser and
// aborts (FIRN_CHECK) when an invariant breaks. Two programs are linked from it: with libFuzzer
// (meson option `fuzz`, clang), and in every build with corpus_test.cc, which runs the files in
// corpus/<target>/ and mutations of them as an ordinary test.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
