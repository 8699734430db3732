// Measures how many symbols the synchronisation decoder gets wrong, and how many frames a
// Reed-Solomon code behind it would lose, as JSON (scripts/medium rates):
//
//   measure_rates SECONDS BOOKS,n,q,N,p,Ps,ASSUMED,LOOKAHEAD...
//
// SECONDS of processor time for each cell. BOOKS: random, marker, indel4, indel6. p = P_i = P_d of
// the channel; ASSUMED: what the decoder takes it for. LOOKAHEAD: -1 for frames whose ends are
// known; else frames back to back of which only the first one's start and the last one's end are.
// Where a frame is 255 bytes the number of frames is counted that a Reed-Solomon code loses, by
// parity and by the certainty below which bytes are erased.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "codec/bench/measure.h"
#include "codec/sync/codebooks.h"
#include "codec/sync/stream_decoder.h"

namespace {

using namespace firn::codec::sync;
using firn::codec::CoefficientStream;
using Json = nlohmann::ordered_json;

constexpr double kExcluded = 1e-10;
constexpr std::uint64_t kSeed = 2026, kBookSeed = 777;
constexpr std::size_t kStreamFrames = 50, kWordBytes = 255;
constexpr std::array<unsigned, 8> kParities{8, 12, 16, 20, 32, 48, 64, 89};
constexpr std::array<double, 3> kErasedBelow{0.7, 0.5, 0};  // 0: no erasures

struct Cell {
  std::string name, books;
  unsigned n = 0, q = 0, length = 0;
  double p = 0, substitution = 0, assumed = 0;
  int lookahead = -1;

  Channel channel() const { return {p, p, substitution}; }
};

struct Counts {
  std::size_t frames = 0, undecoded = 0;
  std::size_t broken = 0;                   // frames with more than half of the symbols wrong
  double wrong = 0, squares = 0, bits = 0;  // wrong symbols, by frame; information
  std::array<std::array<std::size_t, kParities.size()>, kErasedBelow.size()> lost{};
};

// e errors and s erasures are too many where 2 e + s > parity.
void count_losses(const std::vector<bool>& wrong, const std::vector<double>& certainty,
                  Counts& counts) {
  for (std::size_t t = 0; t < kErasedBelow.size(); ++t) {
    std::size_t weight = 0;
    for (std::size_t i = 0; i < wrong.size(); ++i)
      weight += certainty[i] < kErasedBelow[t] ? 1U : wrong[i] ? 2U : 0U;
    for (std::size_t i = 0; i < kParities.size(); ++i)
      counts.lost[t][i] += weight > kParities[i] ? 1 : 0;
  }
}

void count_frame(const FrameSolution& solution, const std::vector<Symbol>& sent, std::size_t q,
                 Counts& counts) {
  ++counts.frames;
  if (solution.status != FrameStatus::kDecoded) {
    ++counts.undecoded;
    for (auto& losses : counts.lost)
      for (std::size_t& lost : losses) ++lost;
    return;
  }
  const std::size_t bytes = q == 256 ? sent.size() : q == 16 ? sent.size() / 2 : 0;
  const std::size_t per_byte = q == 256 ? 1 : 2;
  std::vector<bool> wrong(bytes);
  std::vector<double> certainty(bytes, 1);
  double errors = 0;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const auto row = solution.posteriors.begin() + static_cast<std::ptrdiff_t>(i * q);
    const auto best = std::max_element(row, row + static_cast<std::ptrdiff_t>(q));
    const bool is_wrong = best - row != static_cast<std::ptrdiff_t>(sent[i]);
    errors += is_wrong ? 1 : 0;
    counts.bits += std::log2(static_cast<double>(q) * std::max(row[sent[i]], 1e-300));
    if (bytes == 0) continue;
    wrong[i / per_byte] = wrong[i / per_byte] || is_wrong;
    certainty[i / per_byte] *= *best;
  }
  counts.wrong += errors;
  counts.squares += errors * errors;
  counts.broken += 2 * errors > static_cast<double>(sent.size()) ? 1 : 0;
  if (bytes == kWordBytes) count_losses(wrong, certainty, counts);
}

std::vector<Symbol> random_symbols(const TvbCode& code, CoefficientStream& random) {
  std::vector<Symbol> symbols(code.length());
  for (Symbol& symbol : symbols) symbol = random.below(static_cast<std::uint32_t>(code.alphabet()));
  return symbols;
}

TvbCode code_of(const Cell& cell) {
  std::vector<std::uint32_t> books;
  if (cell.books == "random") books = random_books(cell.n, cell.q, kBookCount, kBookSeed);
  if (cell.books == "marker") books = marker_books(cell.n, cell.q, kBookCount, kBookSeed);
  if (cell.books == "indel4") books = indel_books(cell.n, cell.q, 4, kBookCount, kBookSeed);
  if (cell.books == "indel6") books = indel_books(cell.n, cell.q, 6, kBookCount, kBookSeed);
  auto code = TvbCode::make(cell.n, cell.q, cell.length, std::move(books));
  if (code) return *std::move(code);
  std::fprintf(stderr, "measure_rates: no such code: %s\n", cell.name.c_str());
  std::exit(2);
}

using Clock = firn::codec::bench::Clock;
using firn::codec::bench::seconds_now;

// Frames alone; the limits are those of the worse of both channels.
void measure_frames(const Cell& cell, const TvbCode& code, double seconds, Counts& counts) {
  const double worse = std::max(cell.p, cell.assumed);
  DecoderOptions options;
  if (cell.assumed == cell.p) options.bridge_exclusion = kExcluded;
  MapDecoder decoder(
      code, {cell.assumed, cell.assumed, cell.substitution},
      rigorous_limits(cell.n, cell.length, {worse, worse, cell.substitution}, kExcluded), options);
  FrameSolution solution;
  CoefficientStream random(kSeed, 0);
  for (const double begin = seconds_now(Clock::kThread);
       seconds_now(Clock::kThread) - begin < seconds;) {
    const auto symbols = random_symbols(code, random);
    const Bits received = transmit(code.encode(symbols), cell.channel(), random);
    FrameProblem problem;
    problem.received = received;
    decoder.decode(problem, solution);
    count_frame(solution, symbols, code.alphabet(), counts);
  }
}

void measure_streams(const Cell& cell, const TvbCode& code, double seconds, Counts& counts) {
  FrameSolution solution;
  CoefficientStream random(kSeed, 1);
  for (const double begin = seconds_now(Clock::kThread);
       seconds_now(Clock::kThread) - begin < seconds;) {
    std::vector<std::vector<Symbol>> sent;
    Bits bits;
    while (sent.size() < kStreamFrames) {
      sent.push_back(random_symbols(code, random));
      const Bits more = code.encode(sent.back());
      bits.insert(bits.end(), more.begin(), more.end());
    }
    const Bits record = transmit(bits, cell.channel(), random);
    StreamDecoder decoder(code, cell.channel(), kExcluded,
                          static_cast<std::size_t>(cell.lookahead));
    for (std::size_t f = 0; f < sent.size(); ++f) {
      decoder.decode(record,
                     f + 1 < sent.size() ? StreamDecoder::Next::kFrame : StreamDecoder::Next::kEnd,
                     solution);
      count_frame(solution, sent[f], code.alphabet(), counts);
    }
  }
}

Json result_of(const Cell& cell, const Counts& counts) {
  const auto decoded = static_cast<double>(counts.frames - counts.undecoded);
  const double symbols = decoded * cell.length, mean = counts.wrong / std::max(decoded, 1.0);
  const double variance = std::max(0.0, counts.squares / std::max(decoded, 1.0) - mean * mean);
  Json row{{"cell", cell.name},
           {"frames", counts.frames},
           {"undecoded", counts.undecoded},
           {"broken", counts.broken},
           {"symbol_error_rate", counts.wrong / symbols},
           // Of frames that differ: errors come in bursts within a frame.
           {"standard_error", std::sqrt(variance / decoded) / cell.length},
           {"information", counts.bits / symbols}};
  if (cell.length * (cell.q == 256 ? 2 : cell.q == 16 ? 1 : 0) != 2 * kWordBytes) return row;
  for (std::size_t t = 0; t < kErasedBelow.size(); ++t)
    for (std::size_t i = 0; i < kParities.size(); ++i) {
      char below[16];
      std::snprintf(below, sizeof below, "%g", kErasedBelow[t]);
      row["lost_by_erased_below"][below][std::to_string(kParities[i])] = counts.lost[t][i];
    }
  return row;
}

Cell cell_of(const std::string& text) {
  Cell cell;
  cell.name = text;
  const std::size_t comma = text.find(',');
  cell.books = text.substr(0, comma);
  if (comma == std::string::npos ||
      std::sscanf(text.c_str() + comma, ",%u,%u,%u,%lf,%lf,%lf,%d", &cell.n, &cell.q, &cell.length,
                  &cell.p, &cell.substitution, &cell.assumed, &cell.lookahead) != 7) {
    std::fprintf(stderr, "usage: measure_rates SECONDS BOOKS,n,q,N,p,Ps,ASSUMED,LOOKAHEAD...\n");
    std::exit(2);
  }
  return cell;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0;
  Json rows = Json::array();
  for (int i = 2; i < argc; ++i) {
    const Cell cell = cell_of(argv[i]);
    const TvbCode code = code_of(cell);
    Counts counts;
    if (cell.lookahead < 0) {
      measure_frames(cell, code, seconds, counts);
    } else {
      measure_streams(cell, code, seconds, counts);
    }
    rows.push_back(result_of(cell, counts));
    std::fprintf(stderr, "%s\n", rows.back().dump().c_str());
  }
  std::printf("%s\n", rows.dump().c_str());
}
