// What this peer holds of a content: which generations are verified, and the coding vectors of the
// rows of those under way. Payloads are elsewhere (the store); here is all that innovation,
// recoding and scheduling need to know.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "client/core/actions.h"
#include "client/core/generation_set.h"
#include "codec/random.h"
#include "codec/span_basis.h"
#include "proto/content/manifest.h"

namespace firn::core {

// A generation of which some rows are held and which is not verified.
struct OpenGeneration {
  explicit OpenGeneration(std::uint32_t n) : basis(n) {}

  // How many of the rows this peer has sent.
  std::uint32_t rows_from(const PeerId& sender) const {
    for (const auto& [id, count] : by_sender)
      if (id == sender) return count;
    return 0;
  }

  codec::SpanBasis basis;
  // By slot, up to the highest slot taken: what a generation costs grows with its rows, as a peer
  // that sends us one row of each can open them all. Null where a slot is free.
  std::vector<Vector> vectors;
  std::vector<PeerId> senders;
  std::vector<std::pair<PeerId, std::uint32_t>> by_sender;  // the same, counted
  // The same vectors one after the other: recoding goes through all of them, and
  // would miss the cache at each where they lie scattered.
  std::vector<std::uint8_t> rows_by_slot;
  std::uint32_t rows = 0;        // slots taken = rank
  std::uint32_t first_hand = 0;  // rows that came from holders of the whole generation
  TimeUs last_growth = 0;
  bool decoding = false;  // full, handed to decode
};

class Holdings {
 public:
  explicit Holdings(const Shape& shape);

  const Shape& shape() const { return shape_; }
  std::uint32_t generation_count() const { return verified_.size(); }
  // Rows that generation g needs: its source blocks.
  std::uint32_t blocks_in(std::uint32_t g) const { return shape_.blocks_in(g); }
  // The same of a full one, n: no generation needs more.
  std::uint32_t generation_size() const { return shape_.generation_size; }

  const GenerationSet& verified() const { return verified_; }
  // Verified once and lost since; not wanted any more, as what is on the disk is somebody else's.
  const GenerationSet& given_up() const { return given_up_; }
  // Nothing is left to fetch.
  bool complete() const { return verified_.count() + given_up_.count() == generation_count(); }
  std::uint32_t rank(std::uint32_t g) const;
  std::uint64_t total_rank() const { return total_rank_; }
  // Rows that are still to come until every generation that is wanted has full rank.
  std::uint64_t missing() const { return total_possible() - total_rank_ - given_up_blocks_; }
  std::uint64_t total_possible() const { return total_possible_; }
  std::uint64_t verified_bytes() const { return verified_bytes_; }
  // Highest generation with any row or verified, plus one: where the swarm's front is, as seen
  // here.
  std::uint32_t frontier() const { return frontier_; }
  // The lowest generation >= from of which any row is held; generation_count() if there is none.
  std::uint32_t next_held(std::uint32_t from) const;
  // Generations under way, ordered by number.
  const std::map<std::uint32_t, OpenGeneration>& open() const { return open_; }
  const OpenGeneration* find_open(std::uint32_t g) const;

  // Puts an innovative row into the lowest free slot, which it returns; nullopt if it is redundant
  // (or the generation verified, or under decode).
  std::optional<std::uint32_t> insert(std::uint32_t g, const Vector& vector, const PeerId& sender,
                                      bool first_hand, TimeUs now);
  // As insert, into a given slot (a row left by an earlier run). False if redundant or not free.
  bool restore(std::uint32_t g, std::uint32_t slot, const Vector& vector, const PeerId& sender);

  void set_decoding(std::uint32_t g);
  void set_verified(std::uint32_t g);
  // Back to rank 0: the rows were false or are gone, or a verified generation was lost.
  void reset(std::uint32_t g);
  // As reset, and takes no rows of it from now on, unless set_verified() says that it is back.
  void give_up(std::uint32_t g);

  // A fresh combination of all rows held of an open generation. Rank at least 1.
  struct Mix {
    std::vector<std::uint32_t> slots;
    std::vector<std::uint8_t> mix;
    std::vector<std::uint8_t> vector;
  };
  Mix recode(std::uint32_t g, codec::CoefficientStream& random) const;

 private:
  // Adds the vector to the generation's span, which it opens; nullptr if it is redundant.
  OpenGeneration* extend_span(std::uint32_t g, const Vector& vector);
  void place(OpenGeneration& open, std::uint32_t g, std::uint32_t slot, const Vector& vector,
             const PeerId& sender);

  Shape shape_;
  GenerationSet verified_;
  GenerationSet given_up_;
  std::map<std::uint32_t, OpenGeneration> open_;
  std::uint64_t total_possible_;
  std::uint64_t total_rank_ = 0;
  std::uint64_t given_up_blocks_ = 0;
  std::uint64_t verified_bytes_ = 0;
  std::uint32_t frontier_ = 0;
};

}  // namespace firn::core
