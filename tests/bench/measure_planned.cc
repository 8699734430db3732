// How many frames of media are lost, beside what the plan reckons with, as JSON (scripts/medium
// planned). Unlike measure_medium, from which the plan's table is, this is the product's way:
// frames with place, check and parity are written in groups, pass the channel, are found by their
// mark and read as `firn medium read` reads them, another seed's bits.
//
//   measure_planned FRAMES THREADS TARGET n,q,distance,rate...
//
// Of each code and rate the parity is taken whose planned loss is nearest to TARGET.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "client/medium/groups.h"
#include "client/medium/loss_model.h"
#include "client/medium/mark.h"
#include "client/medium/sync_inner_code.h"
#include "codec/random.h"

namespace firn::medium {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kSeed = 2026;  // measure_medium has 2014
constexpr unsigned kParityMax = 160;
constexpr std::uint64_t kGroup = 1;  // no label stands before it
constexpr std::size_t kBitsBehind = 200;

struct Cell {
  InnerShape shape;
  double rate = 0;
};

struct Chosen {
  unsigned parity = 0;
  double planned = 0;
};

struct Losses {
  std::uint64_t frames = 0, lost = 0;
  std::uint64_t untried = 0;     // of these, behind two frames in succession that did not decode
  std::uint64_t unmarked = 0;    // of these, in groups whose mark was not found
  std::uint64_t groups_hit = 0;  // groups with a lost frame
};

std::optional<Chosen> nearest_parity(const Cell& cell, double target) {
  std::optional<Chosen> best;
  for (unsigned parity = 2; parity <= kParityMax; parity += 2) {
    const auto loss = frame_loss(cell.shape, cell.rate, parity);
    if (!loss || *loss <= 0) continue;
    const auto distance = [&](double one) { return std::abs(std::log(one / target)); };
    if (!best || distance(*loss) < distance(best->planned)) best = Chosen{parity, *loss};
  }
  return best;
}

Label label_for(const Cell& cell, unsigned parity) {
  Label label;
  label.inner = cell.shape;
  label.planned = {cell.rate, cell.rate, 0};
  label.data_bytes = static_cast<std::uint8_t>(label.word_bytes - parity);
  label.block_bytes = label.payload_bytes();
  label.place_count = std::uint64_t{2} * label.frames_per_group * (kGroup + 1);
  return label;
}

// Writes groups and reads them. Any thread, at once.
class Medium {
 public:
  Medium(const Label& label, std::shared_ptr<const InnerCode> inner)
      : label_(label),
        inner_(inner),
        writer_(label, inner, std::make_shared<LabelCode>()),
        reader_(label, inner) {}

  void pass_group(codec::CoefficientStream& random, Losses& losses) const {
    Bits bits = writer_.group(kGroup, [&](std::uint64_t) {
      std::vector<std::uint8_t> payload(label_.payload_bytes());
      random.fill(payload);
      return payload;
    });
    bits.insert(bits.end(), inner_->mark().begin(), inner_->mark().end());
    for (std::size_t i = 0; i < kBitsBehind; ++i)
      bits.push_back(static_cast<std::uint8_t>(random.below(2)));
    const Rates& rates = label_.planned;
    const Bits received =
        codec::sync::transmit(bits, {rates.insertion, rates.deletion, rates.substitution}, random);
    count(received, losses);
  }

 private:
  void count(const Bits& received, Losses& losses) const {
    const std::uint64_t frames = label_.frames_per_group;
    losses.frames += frames;
    MarkFinder finder(inner_->mark());
    std::optional<FoundMark> mark;
    for (std::size_t i = 0; i < 2 * kMarkBits && !mark; ++i) mark = finder.next(received[i]);
    if (!mark) {
      losses.lost += frames;
      losses.unmarked += frames;
      ++losses.groups_hit;
      return;
    }
    const GroupReading group = reader_.read({0, received}, mark->end);
    const std::uint64_t lost = frames - group.frames.size();
    losses.lost += lost;
    losses.untried += lost - std::min<std::uint64_t>(group.lost, lost);
    losses.groups_hit += lost > 0 ? 1 : 0;
  }

  Label label_;
  std::shared_ptr<const InnerCode> inner_;
  GroupWriter writer_;
  GroupReader reader_;
};

Losses measure(const Medium& medium, std::uint64_t groups, unsigned threads) {
  std::atomic<std::uint64_t> next{0};
  std::vector<Losses> parts(threads);
  std::vector<std::thread> workers;
  for (unsigned t = 0; t < threads; ++t)
    workers.emplace_back([&, t] {
      for (std::uint64_t g = next++; g < groups; g = next++) {
        codec::CoefficientStream random(kSeed, g);
        medium.pass_group(random, parts[t]);
      }
    });
  for (auto& worker : workers) worker.join();
  Losses all;
  for (const Losses& part : parts) {
    all.frames += part.frames;
    all.lost += part.lost;
    all.untried += part.untried;
    all.unmarked += part.unmarked;
    all.groups_hit += part.groups_hit;
  }
  return all;
}

std::optional<Cell> cell_of(const char* text) {
  Cell cell;
  unsigned n = 0, q = 0, distance = 0;
  if (std::sscanf(text, "%u,%u,%u,%lf", &n, &q, &distance, &cell.rate) != 4) return std::nullopt;
  cell.shape = {static_cast<std::uint8_t>(n), static_cast<std::uint16_t>(q),
                static_cast<std::uint8_t>(distance), 1};
  return cell;
}

Json measure_cell(const Cell& cell, double target, std::uint64_t frames, unsigned threads) {
  const auto chosen = nearest_parity(cell, target);
  if (!chosen) {
    std::fprintf(stderr, "measure_planned: no plan for this code and rate\n");
    std::exit(2);
  }
  const Label label = label_for(cell, chosen->parity);
  const Medium medium(label,
                      SyncInnerCode::make(cell.shape, label.word_bytes, label.planned).value());
  const Losses losses =
      measure(medium, (frames + label.frames_per_group - 1) / label.frames_per_group, threads);
  return {{"n", cell.shape.codeword_bits},   {"q", cell.shape.alphabet},
          {"distance", cell.shape.distance}, {"rate", cell.rate},
          {"parity", chosen->parity},        {"planned", chosen->planned},
          {"frames", losses.frames},         {"lost", losses.lost},
          {"untried", losses.untried},       {"unmarked", losses.unmarked},
          {"groups_hit", losses.groups_hit}};
}

}  // namespace
}  // namespace firn::medium

int main(int argc, char** argv) {
  using namespace firn::medium;
  if (argc < 5) {
    std::fprintf(stderr, "usage: measure_planned FRAMES THREADS TARGET n,q,distance,rate...\n");
    return 2;
  }
  const std::uint64_t frames = std::strtoull(argv[1], nullptr, 10);
  const auto threads = static_cast<unsigned>(std::max(1, std::atoi(argv[2])));
  const double target = std::atof(argv[3]);
  Json rows = Json::array();
  for (int i = 4; i < argc; ++i) {
    const auto cell = cell_of(argv[i]);
    if (!cell || !(target > 0)) return 2;
    rows.push_back(measure_cell(*cell, target, frames, threads));
    std::fprintf(stderr, "%s\n", rows.back().dump().c_str());
  }
  std::printf("%s\n", rows.dump().c_str());
  return 0;
}
