// What the papers print, as far as their text says it in numbers: figures that exist only as a
// drawn curve or bar are not guessed. MB are 10^6 bytes, as in the papers' rates of a second.
#pragma once

#include <string_view>

namespace firn::cuda::papers {

struct PrintedRate {
  std::string_view algorithm;
  int n;  // 0: any
  int k_min, k_max;
  double megabytes;  // per second
  std::string_view where;
};

inline constexpr std::string_view kLoop = "nuclei.encode.fine_coefficients4";

inline constexpr PrintedRate kPrintedRates[] = {
    {kLoop, 128, 128, 32768, 133, "Envelope Fig. 4(a), GTX 280 (8800 GT: 66.9)"},
    {kLoop, 256, 128, 32768, 66, "Envelope Fig. 4(a), GTX 280 (8800 GT: 33.8)"},
    {kLoop, 512, 128, 32768, 33.6, "Envelope Fig. 4(a), GTX 280 (8800 GT: 16.8)"},
    {"envelope.encode.table0", 128, 128, 32768, 98.4, "Envelope 5.1: 26 % below the loop's 133"},
    {"envelope.encode.table1", 128, 128, 32768, 177, "Envelope 5.1.2: 1,844 peers of 96 kB/s"},
    {"envelope.encode.table3", 128, 128, 32768, 207.6, "Envelope 5.1.3: 293.7 / 1.23 / 1.15"},
    {"envelope.encode.table4_texture", 128, 128, 32768, 238.8, "Envelope 5.1.3: 293.7 / 1.23"},
    {"envelope.encode.table5", 128, 128, 32768, 293.7, "Envelope Fig. 7 and 5.1.3"},
    {"envelope.encode.conflict_free", 128, 128, 32768, 335, "Envelope 5.1.3, estimate 330 to 340"},
    {"nuclei.decode.replicated", 128, 32768, 32768, 93, "Envelope Fig. 4(b), GTX 280, the peak"},
    {"nuclei.decode.replicated", 128, 128, 128, 0.53, "Nuclei V-A, 8800 GT: 31 ms"},
    {"nuclei.decode.replicated", 128, 256, 256, 1.06, "Nuclei V-A, 8800 GT: 31 ms"},
    {"nuclei.decode.replicated", 128, 512, 512, 2.11, "Nuclei V-A, 8800 GT: 31 ms"},
    {"nuclei.decode.replicated", 128, 1024, 1024, 4.23, "Nuclei V-A, 8800 GT: 31 ms"},
    {"nuclei.decode.replicated", 128, 2048, 2048, 8.46, "Nuclei V-A, 8800 GT: 31 ms"},
    {"envelope.decode.multi_segment_two", 128, 32768, 32768, 254, "Envelope 1, the best rate"},
};

// Milliseconds for c = 7168, n = 1024, k = 2048 (Nuclei, 8800 GT).
struct PrintedTime {
  std::string_view algorithm;
  double milliseconds;
  std::string_view where;
};

inline constexpr PrintedTime kMemoryFreeTimes[] = {
    {"nuclei.multiply.byte", 7186, "IV-B"},
    {"nuclei.multiply.word_conditions", 2509, "IV-B"},
    {"nuclei.multiply.word_mask", 2373, "IV-C"},
    {"nuclei.multiply.word_mul24", 2067, "IV-C"},
    {"nuclei.multiply.word_by_hand", 1905, "IV-C"},
};
inline constexpr PrintedTime kAllOnesTimes[] = {
    {"nuclei.encode.coarse", 5306, "IV-E.1"},
    {"nuclei.encode.fine", 3016, "IV-E.1"},
    {"nuclei.encode.fine_coefficients4", 2098, "IV-E.1"},
};
inline constexpr PrintedTime kDenseTimes[] = {
    {"nuclei.encode.fine_coefficients4", 1751, "IV-E.1, random coefficients"},
    {"nuclei.encode.gpu_coefficients", 1753, "IV-E.1 and IV-E.3: 1751 + 1.61"},
    {"nuclei.coefficients", 1.61, "IV-E.3"},
};
// n = m = 1024, k = 2048.
inline constexpr PrintedTime kDecodeTimes[] = {
    {"nuclei.decode.host_pivot", 2484, "IV-F.1"},
    {"nuclei.decode.replicated", 6073, "IV-F.2"},
    {"nuclei.decode.buffered", 2175, "IV-F.2"},
};

// A stream that the papers call high quality: 768 kbit/s (Envelope, 5.1.1).
inline constexpr double kPeerBytesPerSecond = 96000;

inline const PrintedRate* printed_rate(std::string_view algorithm, int n, int k) {
  for (const PrintedRate& one : kPrintedRates) {
    if (one.algorithm == algorithm && one.n == n && one.k_min <= k && k <= one.k_max) return &one;
  }
  return nullptr;
}

}  // namespace firn::cuda::papers
