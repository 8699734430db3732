// Measures Reed-Solomon (255, 239) over GF(2^8): each codeword alone, many as columns, and libfec's
// decoder (Phil Karn's) on the same words in the same run, where libfec was there to build with.
//
//   bench_reed_solomon [SECONDS]     per line; default 0.3
//
// Prints MB/s of codeword bytes on one thread, the best of five rounds.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "codec/bench/measure.h"
#include "codec/random.h"
#include "codec/reed_solomon/reed_solomon.h"

#ifdef FIRN_HAVE_LIBFEC
extern "C" {
#include <fec.h>
}
#endif

namespace firn::codec {
namespace {

constexpr std::size_t kLength = 255, kData = 239, kParity = kLength - kData, kWords = 1024;
using Bytes = std::vector<std::uint8_t>;

class Bench {
 public:
  explicit Bench(double seconds) : seconds_(seconds), random_(1, 0) {
    for (std::size_t w = 0; w < kWords; ++w) {
      Bytes word(kLength);
      random_.fill(std::span(word).first(kData));
      code_.encode(std::span(word).first(kData), std::span(word).last(kParity));
      words_.push_back(word);
    }
  }

  void run() {
    encode_alone();
    encode_columns();
    for (const std::size_t errors : {0, 2, 4, 8}) decode(errors);
#ifdef FIRN_HAVE_LIBFEC
    encode_libfec();
#else
    std::printf("(libfec was not there to build with: no rival)\n");
#endif
  }

 private:
  void line(const char* what, const std::function<void()>& work) const {
    double best = 0;
    for (int round = 0; round < 5; ++round) {
      const double begin = bench::seconds_now(bench::Clock::kThread);
      double taken = 0;
      std::size_t runs = 0;
      while (taken < seconds_ / 5) {
        work();
        ++runs;
        taken = bench::seconds_now(bench::Clock::kThread) - begin;
      }
      best = std::max(best, static_cast<double>(runs * kWords * kLength) / 1e6 / taken);
    }
    std::printf("%-44s %9.1f MB/s\n", what, best);
  }

  std::vector<Bytes> damaged(std::size_t errors) {
    std::vector<Bytes> words = words_;
    for (Bytes& word : words)
      for (std::size_t i = 0; i < errors; ++i)
        word[random_.below(kLength)] ^= static_cast<std::uint8_t>(1 + random_.below(255));
    return words;
  }

  static std::vector<Bytes> as_columns(const std::vector<Bytes>& words) {
    std::vector<Bytes> rows(kLength, Bytes(kWords));
    for (std::size_t w = 0; w < kWords; ++w)
      for (std::size_t i = 0; i < kLength; ++i) rows[i][w] = words[w][i];
    return rows;
  }

  void encode_alone() {
    Bytes parity(kParity);
    line("encode, each alone", [&] {
      for (const Bytes& word : words_) code_.encode(std::span(word).first(kData), parity);
    });
  }

  void encode_columns() {
    std::vector<Bytes> rows = as_columns(words_);
    std::vector<std::uint8_t*> places;
    for (Bytes& row : rows) places.push_back(row.data());
    line("encode, 1024 as columns",
         [&] { code_.encode_columns(kernels(), places.data(), places.data() + kData, kWords); });
  }

  // Each run begins with a copy of the damaged words; all decoders pay it.
  void decode(std::size_t errors) {
    const std::vector<Bytes> received = damaged(errors);
    std::vector<Bytes> words = received;
    char name[64];
    std::snprintf(name, sizeof name, "decode %zu errors, each alone", errors);
    line(name, [&] {
      words = received;
      for (Bytes& word : words) (void)code_.decode(word);
    });
    const std::vector<Bytes> received_rows = as_columns(received);
    std::vector<Bytes> rows = received_rows;
    std::vector<std::uint8_t*> places;
    for (Bytes& row : rows) places.push_back(row.data());
    std::snprintf(name, sizeof name, "decode %zu errors, 1024 as columns", errors);
    line(name, [&] {
      for (std::size_t i = 0; i < kLength; ++i)
        std::copy(received_rows[i].begin(), received_rows[i].end(), rows[i].begin());
      (void)code_.decode_columns(kernels(), places.data(), kWords);
    });
#ifdef FIRN_HAVE_LIBFEC
    void* rival = init_rs_char(8, static_cast<int>(0x11d), 1, 1, kParity, 0);
    std::snprintf(name, sizeof name, "decode %zu errors, libfec", errors);
    line(name, [&] {
      words = received;
      for (Bytes& word : words) (void)decode_rs_char(rival, word.data(), nullptr, 0);
    });
    free_rs_char(rival);
#endif
  }

#ifdef FIRN_HAVE_LIBFEC
  void encode_libfec() {
    void* rival = init_rs_char(8, static_cast<int>(0x11d), 1, 1, kParity, 0);
    Bytes parity(kParity);
    bool same = true;
    for (Bytes& word : words_) {
      encode_rs_char(rival, word.data(), parity.data());
      same = same && std::equal(parity.begin(), parity.end(), word.begin() + kData);
    }
    line("encode, libfec", [&] {
      for (Bytes& word : words_) encode_rs_char(rival, word.data(), parity.data());
    });
    std::printf("libfec's parity is %s\n", same ? "the same" : "ANOTHER");
    free_rs_char(rival);
  }
#endif

  const ReedSolomon code_{kLength, kData};
  double seconds_;
  CoefficientStream random_;
  std::vector<Bytes> words_;
};

}  // namespace
}  // namespace firn::codec

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0.3;
  std::printf("(255, 239), 1024 codewords, kernels %s\n", firn::codec::kernels().name);
  firn::codec::Bench(seconds).run();
  return 0;
}
