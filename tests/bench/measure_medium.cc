// Measures how many frames of a medium are lost, by code, channel and Reed-Solomon parity: the
// table that `firn medium plan` reckons with (client/medium/measured_losses.cc) is its output.
//
//   measure_medium FRAMES [THREADS [CODE [RATE]]]
//
// FRAMES: in each cell. CODE: n,q,distance; RATE: of insertions and of deletions. A frame is lost
// at a parity where no number of erasures that the reader tries leaves few enough errors.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>

#include "client/medium/frame.h"
#include "client/medium/mark.h"
#include "client/medium/sync_inner_code.h"
#include "codec/random.h"

namespace firn::medium {
namespace {

constexpr std::size_t kWordBytes = 255, kFramesPerGroup = 8, kParityMax = 128, kParityStep = 2;

struct Cell {
  InnerShape shape;
  double rate;
};

// lost[i]: frames that a parity of i * kParityStep bytes does not save.
struct Losses {
  std::vector<std::uint64_t> lost = std::vector<std::uint64_t>(kParityMax / kParityStep + 1);
  std::uint64_t frames = 0, unfound = 0, wrong_bytes = 0, bytes = 0;
};

// As FrameCode::read tries it.
bool is_saved(const std::vector<std::uint8_t>& order, const std::vector<bool>& wrong,
              std::size_t doubtful, std::size_t parity) {
  for (const std::size_t erased : FrameCode::erasure_counts(doubtful, parity)) {
    std::size_t errors = 0;
    for (std::size_t i = erased; i < order.size(); ++i) errors += wrong[order[i]] ? 1 : 0;
    if (2 * errors + erased <= parity) return true;
  }
  return false;
}

void count_word(const WordReading& reading, const std::vector<std::uint8_t>& sent, Losses& losses) {
  std::vector<bool> wrong(kWordBytes);
  for (std::size_t i = 0; i < kWordBytes; ++i) wrong[i] = reading.word[i] != sent[i];
  losses.bytes += kWordBytes;
  losses.wrong_bytes += static_cast<std::uint64_t>(std::count(wrong.begin(), wrong.end(), true));
  const auto order = FrameCode::weakest_first(reading.certainty);
  const std::size_t doubtful = FrameCode::doubtful(reading.certainty);
  for (std::size_t i = 0; i < losses.lost.size(); ++i)
    losses.lost[i] += is_saved(order, wrong, doubtful, i * kParityStep) ? 0 : 1;
}

void lose(std::size_t frames, Losses& losses) {
  losses.unfound += frames;
  for (auto& lost : losses.lost) lost += frames;
}

// One group through the channel, read from the mark that is found.
void measure_group(const InnerCode& inner, double rate, codec::CoefficientStream& random,
                   Losses& losses) {
  std::vector<std::vector<std::uint8_t>> words(kFramesPerGroup,
                                               std::vector<std::uint8_t>(kWordBytes));
  Bits bits = inner.mark();
  for (auto& word : words) {
    random.fill(word);
    const Bits more = inner.encode(word);
    bits.insert(bits.end(), more.begin(), more.end());
  }
  bits.insert(bits.end(), inner.mark().begin(), inner.mark().end());
  bits.resize(bits.size() + 200);
  const Bits received = codec::sync::transmit(bits, {rate, rate, 0}, random);
  losses.frames += kFramesPerGroup;
  MarkFinder finder(inner.mark());
  std::optional<FoundMark> mark;
  for (std::size_t i = 0; i < 2 * kMarkBits && !mark; ++i) mark = finder.next(received[i]);
  if (!mark) return lose(kFramesPerGroup, losses);
  Boundary boundary = mark->end;
  for (std::size_t f = 0; f < kFramesPerGroup; ++f) {
    const WordReading reading = inner.read({0, received}, boundary);
    if (!reading.found) return lose(kFramesPerGroup - f, losses);
    count_word(reading, words[f], losses);
    boundary = reading.end;
  }
}

Losses measure(const Cell& cell, std::uint64_t frames, unsigned threads) {
  const auto inner = SyncInnerCode::make(cell.shape, kWordBytes, {cell.rate, cell.rate, 0}).value();
  std::atomic<std::uint64_t> next{0};
  std::vector<Losses> parts(threads);
  std::vector<std::thread> workers;
  for (unsigned t = 0; t < threads; ++t)
    workers.emplace_back([&, t] {
      for (std::uint64_t g = next++; g * kFramesPerGroup < frames; g = next++) {
        codec::CoefficientStream random(2014, g);
        measure_group(*inner, cell.rate, random, parts[t]);
      }
    });
  for (auto& worker : workers) worker.join();
  Losses all;
  for (const Losses& part : parts) {
    for (std::size_t i = 0; i < all.lost.size(); ++i) all.lost[i] += part.lost[i];
    all.frames += part.frames;
    all.unfound += part.unfound;
    all.wrong_bytes += part.wrong_bytes;
    all.bytes += part.bytes;
  }
  return all;
}

// The largest losses are of no use, and behind the first parity that lost nothing nothing follows.
void print(const Cell& cell, const Losses& losses) {
  std::printf("    {{%u, %u, %u, 1}, %g, %llu, /* unfound %llu, wrong bytes %.2e */ {",
              cell.shape.codeword_bits, cell.shape.alphabet, cell.shape.distance, cell.rate,
              static_cast<unsigned long long>(losses.frames),
              static_cast<unsigned long long>(losses.unfound),
              static_cast<double>(losses.wrong_bytes) / static_cast<double>(losses.bytes));
  for (std::size_t i = 0; i < losses.lost.size(); ++i) {
    const std::uint64_t lost = losses.lost[i];
    if (lost * 2 > losses.frames) continue;
    std::printf("{%zu, %llu}, ", i * kParityStep, static_cast<unsigned long long>(lost));
    if (lost == losses.unfound) break;
  }
  std::printf("}},\n");
  std::fflush(stdout);
}

}  // namespace
}  // namespace firn::medium

int main(int argc, char** argv) {
  using namespace firn::medium;
  const std::uint64_t frames = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 800;
  const auto threads = static_cast<unsigned>(argc > 2 ? std::atoi(argv[2]) : 2);
  const std::string code = argc > 3 ? argv[3] : "";
  const double rate = argc > 4 ? std::atof(argv[4]) : 0;
  const std::vector<Cell> cells = {
      {{10, 64, 4, 1}, 1e-3}, {{10, 64, 4, 1}, 3e-3}, {{10, 64, 4, 1}, 1e-2}, {{8, 16, 4, 1}, 1e-3},
      {{8, 16, 4, 1}, 3e-3},  {{8, 16, 4, 1}, 1e-2},  {{8, 16, 4, 1}, 2e-2},  {{8, 16, 4, 1}, 3e-2},
      {{12, 16, 6, 1}, 1e-2}, {{12, 16, 6, 1}, 3e-2}, {{12, 16, 6, 1}, 5e-2}};
  for (const Cell& cell : cells) {
    const std::string name = std::to_string(cell.shape.codeword_bits) + "," +
                             std::to_string(cell.shape.alphabet) + "," +
                             std::to_string(cell.shape.distance);
    if ((!code.empty() && code != name) || (rate > 0 && rate != cell.rate)) continue;
    print(cell, measure(cell, frames, threads));
  }
  return 0;
}
