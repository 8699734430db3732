// How likely frames, rows and files are lost: from measured frame losses (bench program
// measure_medium) to the chance that some generation of a content cannot be decoded.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "client/medium/label.h"
#include "client/medium/rows.h"

namespace firn::medium {

// Frames of 255 bytes lost of `frames`, by Reed-Solomon parity bytes; insertions and deletions have
// the same rate, nothing is flipped.
struct MeasuredLosses {
  InnerShape shape;
  double rate = 0;
  std::uint64_t frames = 0;
  std::vector<std::pair<unsigned, std::uint64_t>> lost;  // parity, frames; in order of parity
};

// The table of the repository, sorted by rate within a shape.
std::span<const MeasuredLosses> measured_losses();
// Its inner codes, each once.
std::vector<InnerShape> measured_shapes();

// One number for a channel that inserts, deletes and flips: the rate of insertions and of deletions
// at which symbols are wrong as often. A flipped bit counts 1.4 times: the specification's section
// 7 C has 2.9 % of wrong symbols for 1 % of each, as 2.3 % of insertions and deletions alone have.
double equivalent_rate(const Rates& rates);

// The share of frames lost. Its logarithm is a straight line between measured parities, and goes on
// so beyond the last one; between measured rates the parity for a share is a power of the rate.
// Nothing if the rate is above the measured ones, or the code is
// not in the table.
std::optional<double> frame_loss(const InnerShape& shape, double rate, unsigned parity);

// The probability that of `rows` rows of which each is lost with probability `loss` too few
// innovative ones are left for n source blocks.
double generation_loss(std::uint32_t n, std::uint32_t rows, double loss);

}  // namespace firn::medium
