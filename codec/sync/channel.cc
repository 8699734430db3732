#include "codec/sync/channel.h"

#include <cassert>

namespace firn::codec::sync {

bool Channel::valid() const {
  const auto probability = [](double p) { return p >= 0 && p <= 1; };
  return probability(insertion) && probability(deletion) && probability(substitution) &&
         insertion + deletion < 1;
}

double uniform(CoefficientStream& random) {
  return static_cast<double>(random.next_u64() >> 11) * 0x1p-53;
}

Bits transmit(std::span<const std::uint8_t> sent, const Channel& channel, CoefficientStream& random,
              std::vector<int>& drifts, std::vector<int>& peaks) {
  assert(channel.valid());
  Bits received;
  received.reserve(sent.size() + sent.size() / 8 + 64);
  drifts.assign(1, 0);
  peaks.clear();
  int drift = 0;
  for (std::size_t t = 0; t < sent.size();) {
    const double event = uniform(random);
    if (event < channel.insertion) {
      received.push_back(static_cast<std::uint8_t>(random.next_u64() & 1));
      ++drift;
      continue;
    }
    peaks.push_back(drift);
    if (event < channel.insertion + channel.deletion) {
      --drift;
    } else {
      const bool flipped = uniform(random) < channel.substitution;
      received.push_back(static_cast<std::uint8_t>(sent[t] ^ (flipped ? 1 : 0)));
    }
    drifts.push_back(drift);
    ++t;
  }
  return received;
}

Bits transmit(std::span<const std::uint8_t> sent, const Channel& channel,
              CoefficientStream& random) {
  std::vector<int> drifts, peaks;
  return transmit(sent, channel, random, drifts, peaks);
}

}  // namespace firn::codec::sync
