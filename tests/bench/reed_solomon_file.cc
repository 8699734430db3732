// Reed-Solomon alone on a file, as a rival of media (scripts/medium picture):
//
//   reed_solomon_file encode|decode PARITY INPUT OUTPUT
//
// Words of 255 bytes stand one behind the other, each data first: where a bit is lost, the words
// before it are all that can be had, and interleaved ones would lose these too. The last word's
// data is filled up with zeros. `decode` keeps the data of a word that is beyond the code as it
// came.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "codec/reed_solomon/reed_solomon.h"

namespace {

using Bytes = std::vector<char>;

// The file in pieces of `from` bytes, each made into `to` bytes.
template <class Work>
Bytes by_words(Bytes input, std::size_t from, std::size_t to, const Work& work) {
  const std::size_t words = (input.size() + from - 1) / from;
  input.resize(words * from);
  Bytes output;
  output.reserve(words * to);
  std::vector<std::uint8_t> word(firn::codec::kReedSolomonLengthMax);
  for (std::size_t i = 0; i < words; ++i) {
    std::copy_n(input.begin() + static_cast<std::ptrdiff_t>(i * from), from, word.begin());
    work(std::span(word));
    output.insert(output.end(), word.begin(), word.begin() + static_cast<std::ptrdiff_t>(to));
  }
  return output;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc == 5 ? argv[1] : "";
  const int parity = argc == 5 ? std::atoi(argv[2]) : 0;
  const std::size_t whole = firn::codec::kReedSolomonLengthMax;
  if ((what != "encode" && what != "decode") || parity < 1 ||
      static_cast<std::size_t>(parity) >= whole) {
    std::fprintf(stderr, "usage: reed_solomon_file encode|decode PARITY INPUT OUTPUT\n");
    return 2;
  }
  std::ifstream in(argv[3], std::ios::binary);
  Bytes input{std::istreambuf_iterator<char>(in), {}};
  const std::size_t data = whole - static_cast<std::size_t>(parity);
  const firn::codec::ReedSolomon code(whole, data);
  const Bytes output =
      what == "encode"
          ? by_words(std::move(input), data, whole,
                     [&](auto word) { code.encode(word.first(data), word.subspan(data)); })
          : by_words(std::move(input), whole, data, [&](auto word) { (void)code.decode(word); });
  std::ofstream out(argv[4], std::ios::binary);
  out.write(output.data(), static_cast<std::streamsize>(output.size()));
  out.close();
  if (in.bad() || !in.is_open() || !out) {
    std::fprintf(stderr, "reed_solomon_file: cannot read %s or write %s\n", argv[3], argv[4]);
    return 1;
  }
}
