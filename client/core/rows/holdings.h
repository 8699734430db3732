// What this peer holds of a content: which generations are verified, and the coding vectors of the
// rows of open ones. That is all that innovation, recoding and scheduling need; the store has the
// payloads.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "client/core/base/actions.h"
#include "client/core/base/types.h"
#include "client/core/rows/generation_set.h"
#include "client/core/rows/recent_changes.h"
#include "codec/random.h"
#include "codec/span_basis.h"
#include "proto/content/shape.h"

namespace firn::core {

// Of a row whose vector is no unit vector, in place of the number of its source block.
inline constexpr std::uint32_t kCoded = UINT32_MAX;

// Which rows may go into what is sent.
enum class Rows {
  kAll,
  kTrusted,  // proven, or believed: found true by the word of a peer that may lie
  kProven,
};

struct RowCounts {
  std::uint32_t rows = 0;
  std::uint32_t trusted = 0, proven = 0;  // of them
  std::uint32_t count(Rows which) const {
    return which == Rows::kAll ? rows : which == Rows::kTrusted ? trusted : proven;
  }
};

// A generation of which some rows are held and which is not verified. Its `rows` are the slots
// taken, and its rank.
struct OpenGeneration : RowCounts {
  explicit OpenGeneration(std::uint32_t n) : basis(n) {}

  struct Share : RowCounts {
    PeerId sender;
  };
  // How many of those rows this peer has sent.
  std::uint32_t rows_from(const PeerId& sender, Rows which) const {
    for (const Share& share : by_sender)
      if (share.sender == sender) return share.count(which);
    return 0;
  }
  bool has(std::uint32_t slot, Rows which) const {
    return vectors[slot] && (which == Rows::kAll || standing[slot] == Standing::kProven ||
                             (which == Rows::kTrusted && believed[slot]));
  }
  // The slots that are taken by rows which are not proven.
  std::vector<std::uint32_t> unproven() const;
  // Where the rows decoded to false data: the sender of all that are not proven, if it answers for
  // each of them.
  std::optional<PeerId> guilty() const;
  // Where source block i lies as it is, if its sender sent it so.
  std::optional<std::uint32_t> slot_of(std::uint32_t i) const;
  // Adds a slot that is taken to the sums below; all that are.
  void count_slot(std::uint32_t slot);
  void count_anew();
  // Whether some combination of those rows is not orthogonal to z (n coefficients).
  bool reaches(const std::vector<std::uint8_t>& z, Rows which) const;

  codec::SpanBasis basis;
  // By slot, up to the highest slot taken: what a generation costs grows with its rows, as a peer
  // that sends us one row of each can open them all. Null where a slot is free.
  std::vector<Vector> vectors;
  std::vector<PeerId> senders;
  std::vector<Standing> standing;
  std::vector<std::uint32_t> source_block;  // or kCoded
  std::vector<TimeUs> arrived;
  std::vector<bool> from_whole;  // its sender held the whole generation
  std::vector<bool> believed;    // Rows::kTrusted
  std::vector<Share> by_sender;  // the senders, counted
  // The same vectors one after the other: recoding goes through all of them, and
  // would miss the cache at each where they lie scattered.
  std::vector<std::uint8_t> rows_by_slot;
  RowCounts first_hand;  // came from holders of the whole generation
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
  // Verified once and lost since, as what is on the disk is somebody else's.
  const GenerationSet& given_up() const { return given_up_; }
  // Generations of which nothing is asked for or taken: verified ones, those given up, and those
  // that the user does not want.
  const GenerationSet& settled() const { return settled_; }
  bool wants(std::uint32_t g) const { return !settled_.contains(g); }
  // Nothing is left to fetch.
  bool done() const { return settled_.full(); }
  // Everything is verified, wanted or not.
  bool whole() const { return verified_.full(); }
  // Of those rows alone: the dimension of what they can be recoded to.
  std::uint32_t rank(std::uint32_t g, Rows which = Rows::kAll) const;
  std::uint64_t total_rank() const { return total_rank_; }
  // Of the generations that the user wants.
  struct Wanted {
    std::uint64_t blocks = 0;   // rows that they need
    std::uint64_t rank = 0;     // rows of them that are held
    std::uint64_t missing = 0;  // rows that are still to come; none of those given up
    std::uint64_t bytes = 0;    // of content, as in all of these
    std::uint64_t verified_bytes = 0;
    bool operator==(const Wanted&) const = default;
  };
  const Wanted& wanted() const { return sums_; }
  std::uint64_t missing() const { return sums_.missing; }
  // Highest generation with any row or verified, plus one: where the swarm's front is, as seen
  // here.
  std::uint32_t frontier() const { return frontier_; }
  // The same of rows that a peer sent which holds everything: it sends a lost row now and then, so
  // two in sequence tell. And when the last of these came.
  std::uint32_t source_frontier() const { return source_frontier_; }
  TimeUs source_row_at() const { return source_row_at_; }
  // Generations of which any row is held.
  const GenerationSet& held() const { return held_; }
  // Generations of which other rows are held than before, or the same ones proven or doubted.
  const RecentChanges& changes() const { return changes_; }
  // Generations under way, ordered by number.
  const std::map<std::uint32_t, OpenGeneration>& open() const { return open_; }
  const OpenGeneration* find_open(std::uint32_t g) const;
  // All rows of g are there, and are being decoded.
  bool decoding(std::uint32_t g) const {
    const OpenGeneration* open = find_open(g);
    return open && open->decoding;
  }

  // Puts an innovative row into the lowest free slot, which it returns; nullopt if it is redundant
  // (or the generation verified, or under decode).
  struct Origin {
    PeerId sender;
    bool first_hand = false;  // it held the whole generation
    Standing standing = Standing::kAnswered;
    std::uint32_t source_block = kCoded;
    bool believed = false;     // Rows::kTrusted, by the word of a peer that may lie
    bool from_source = false;  // it holds everything
  };
  std::optional<std::uint32_t> insert(std::uint32_t g, const Vector& vector, const Origin& origin,
                                      TimeUs now);
  // As insert, into a given slot (a row left by an earlier run). False if redundant or not free.
  bool restore(std::uint32_t g, std::uint32_t slot, const Vector& vector, const Origin& origin,
               TimeUs now);
  // These slots of open generation g hold what is true: for certain (kProven), or by the word of a
  // peer that may lie (kTrusted).
  void mark(std::uint32_t g, const std::vector<std::uint32_t>& slots, Rows as);
  // Rows of this sender are not believed any more.
  void doubt(const PeerId& sender);
  // No row is believed any more. `proven_too`: proven rows become kUnanswered.
  void doubt_all(bool proven_too);
  // Frees these slots of open generation g, which is not under decode after that.
  void remove(std::uint32_t g, const std::vector<std::uint32_t>& slots);
  void set_decoding(std::uint32_t g);
  void set_verified(std::uint32_t g);
  // Back to rank 0: the rows were false or are gone, or a verified generation was lost.
  void reset(std::uint32_t g);
  // As reset, and takes no rows of it from now on, unless set_verified() says that it is back.
  void give_up(std::uint32_t g);
  // What the user wants; at first everything. Rows of other generations are kept, and served.
  void want(GenerationSet wanted);

  // A fresh combination of the rows in these slots of an open generation: one at least.
  struct Mix {
    std::vector<std::uint32_t> slots;
    std::vector<std::uint8_t> mix;
    std::vector<std::uint8_t> vector;
  };
  Mix recode(std::uint32_t g, std::vector<std::uint32_t> slots,
             codec::CoefficientStream& random) const;

 private:
  // Rows that come while a relay serves other neighbours, between two looks at the same one.
  static constexpr std::size_t kChangesKept = 1024;

  // Adds the vector to the generation's span, which it opens; nullptr if it is redundant.
  OpenGeneration* extend_span(std::uint32_t g, const Vector& vector);
  void place(OpenGeneration& open, std::uint32_t g, std::uint32_t slot, const Vector& vector,
             const Origin& origin, TimeUs now);
  void close(std::uint32_t g);
  // g's part of sums_.
  Wanted sums_of(std::uint32_t g) const;
  // g has changed: brings settled_ and sums_ up to date. `before`: sums_of(g) as it was.
  void settle(std::uint32_t g, const Wanted& before);

  Shape shape_;
  GenerationSet wanted_;  // by the user
  GenerationSet verified_;
  GenerationSet given_up_;
  GenerationSet settled_;
  GenerationSet held_;  // verified_, and open_
  RecentChanges changes_{kChangesKept};
  std::map<std::uint32_t, OpenGeneration> open_;
  std::uint64_t total_rank_ = 0;
  Wanted sums_;
  std::uint32_t frontier_ = 0;
  std::uint32_t source_frontier_ = 0, last_from_source_ = 0;
  TimeUs source_row_at_ = 0;
};

}  // namespace firn::core
