// What the MAP decoder must give, by enumeration: every message, and for each all that the channel
// may do first, next, and so on until the record is used up. It has nothing in common with the
// decoder but the channel's definition: no codewords, no corridor, no forward or backward sums. For
// frames of some ten bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "codec/sync/channel.h"
#include "codec/sync/tvb_code.h"

namespace firn::codec::sync {

// Pr{the channel makes `received` of `sent`}: the sum over what may happen first.
inline double event_probability(std::span<const std::uint8_t> sent,
                                std::span<const std::uint8_t> received, const Channel& channel) {
  if (sent.empty()) return received.empty() ? 1 : 0;
  double sum = 0;
  if (channel.deletion > 0) {
    sum += channel.deletion * event_probability(sent.subspan(1), received, channel);
  }
  if (!received.empty()) {
    if (channel.insertion > 0) {
      sum += channel.insertion / 2 * event_probability(sent, received.subspan(1), channel);
    }
    const double survives =
        sent[0] == received[0] ? 1 - channel.substitution : channel.substitution;
    if (survives > 0) {
      sum += (1 - channel.insertion - channel.deletion) * survives *
             event_probability(sent.subspan(1), received.subspan(1), channel);
    }
  }
  return sum;
}

// The same for long records: what the channel makes of the same rest of `sent` and `received` is
// found once. FIRN_TEST_SYNC_PLAIN=1 finds it every time (minutes).
class EventProbability {
 public:
  EventProbability(const Bits& sent, const Bits& received, const Channel& channel)
      : sent_(sent),
        received_(received),
        channel_(channel),
        known_((sent.size() + 1) * (received.size() + 1), -1) {}

  double of_rest(std::size_t t, std::size_t j) {
    double& known = known_[t * (received_.size() + 1) + j];
    if (known >= 0) return known;
    if (t == sent_.size()) return known = j == received_.size() ? 1 : 0;
    double sum = channel_.deletion * of_rest(t + 1, j);
    if (j < received_.size()) {
      sum += channel_.insertion / 2 * of_rest(t, j + 1);
      sum += (1 - channel_.insertion - channel_.deletion) *
             (sent_[t] == received_[j] ? 1 - channel_.substitution : channel_.substitution) *
             of_rest(t + 1, j + 1);
    }
    return known = sum;
  }

 private:
  const Bits& sent_;
  const Bits& received_;
  const Channel& channel_;
  std::vector<double> known_;
};

struct Enumerated {
  std::vector<double> posteriors;  // [N][q]
  double likelihood = 0;           // Pr{received}
};

// priors: [N][q]. The frame starts and ends with the record.
inline Enumerated enumerate(const TvbCode& code, const Channel& channel, const Bits& received,
                            std::span<const double> priors) {
  const std::size_t N = code.length(), q = code.alphabet();
  Enumerated result{std::vector<double>(N * q, 0), 0};
  std::vector<Symbol> message(N, 0);
  const bool plain = std::getenv("FIRN_TEST_SYNC_PLAIN") != nullptr;
  while (true) {
    double prior = 1;
    for (std::size_t i = 0; i < N; ++i) prior *= priors[i * q + message[i]];
    const Bits sent = code.encode(message);
    const double joint = prior * (plain ? event_probability(sent, received, channel)
                                        : EventProbability(sent, received, channel).of_rest(0, 0));
    result.likelihood += joint;
    for (std::size_t i = 0; i < N; ++i) result.posteriors[i * q + message[i]] += joint;
    std::size_t at = 0;  // the next message, as counting goes
    while (at < N && ++message[at] == q) message[at++] = 0;
    if (at == N) break;
  }
  for (double& value : result.posteriors) value /= result.likelihood;
  return result;
}

}  // namespace firn::codec::sync
