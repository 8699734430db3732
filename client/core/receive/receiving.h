// Takes blocks that arrive, and leads each generation through its life: filling, decoding,
// verified, or found false.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/core/base/actions.h"
#include "client/core/mesh/membership.h"
#include "client/core/receive/store_pressure.h"
#include "client/core/rows/generations.h"
#include "client/core/trust/trust.h"
#include "proto/base/result.h"
#include "proto/messages.h"

namespace firn::core {

// Blocks that came.
struct BlockCounts {
  std::uint64_t innovative = 0;
  std::uint64_t redundant = 0;
  std::uint64_t recoded = 0;  // either; their sender had recoded them
  std::uint64_t refused = 0;  // false, or dropped as their sender was not believed any more
};

class Receiving final : public MeshPart {
 public:
  Receiving(const MeshPart& mesh, StorePressure& pressure, trust::Trust& trust,
            Generations& generations)
      : MeshPart(mesh), pressure_(pressure), trust_(trust), generations_(generations) {}

  // All rows of g are there: has it decoded.
  void start_decode(std::uint32_t g);

  // Whether a block fits the content's shape and the promises made; its sender is punished if not.
  bool fits(Neighbour& n, const proto::Block& block);
  // Takes a block that fits. Its sender may be dropped.
  void take(Neighbour& n, proto::Block&& block);

  // The answer to Decode.
  void decoded(std::uint32_t g, DecodeOutcome outcome);
  // It came from an origin, and is right and written. False: it was verified already.
  bool fetched(std::uint32_t g);
  // The disk is full: gives up the rows of the open generation that has the fewest, to be fetched
  // again. False if there is none to give up.
  bool make_room(const Error& full);
  // As SwarmCore::generation_lost and generation_regained.
  void generation_lost(std::uint32_t g, const Error& error, bool fetch_again);
  void generation_regained(std::uint32_t g);
  // SwarmCore::want and hurry.
  void want(GenerationSet wanted);
  void hurry(Urgent urgent);
  // Why the first generation was lost that is not fetched again, since none was.
  const std::string& first_loss() const { return first_loss_; }

  // Has trust do what is due.
  void step() override;
  TimeUs next_due() override { return trust_.next_due(); }
  // Carries out what trust wants done. Neighbours may be dropped for it.
  void apply_verdicts();

  void neighbour_left(const Neighbour& n) override { trust_.neighbour_left(n); }
  // What else came from that peer is not trusted either.
  void banned(const PeerId& id) override;

  const BlockCounts& counts() const { return counts_; }

 private:
  void innovative(Neighbour& n, std::uint32_t g, std::uint32_t slot, const Vector& vector,
                  proto::Payload payload);
  void redundant(Neighbour& n, std::uint32_t g);
  void verified(std::uint32_t g, trust::Outcome outcome);
  void remove(std::uint32_t g, const std::vector<std::uint32_t>& slots);
  void fetch_again(std::uint32_t g, const std::vector<std::uint32_t>& slots);
  void report_lost(std::uint32_t g);
  void lose(std::uint32_t g);
  void report_unwanted(const std::vector<std::uint32_t>& fresh);
  void ask_again(Neighbour& n);

  StorePressure& pressure_;
  trust::Trust& trust_;
  Generations& generations_;
  BlockCounts counts_;
  std::string first_loss_;
  bool told_of_room_ = false;
};

}  // namespace firn::core
