// A light receiver: what it says to a seed and makes of what comes, as docs/protocol.md has it,
// without a socket or a clock. It keeps no data: like a player it wants a few generations at a
// time, in order, at a given rate, and goes round where the content ends. One that samples keeps
// the rows of those generations, decodes each, and compares it with its digest in the manifest; the
// others take each block for innovative.
//
//   hello() -> take(Hello) -> state() -> take(Block)... -> state() ...
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "proto/content/manifest.h"
#include "proto/messages.h"
#include "tests/load/row_check.h"
#include "tests/load/seconds.h"

namespace firn::load {

// What all receivers of a run have in common.
struct Diet {
  Manifest manifest;
  double rate = 96'000;                 // bytes of payload a second that each takes
  TimeUs state_interval = kSecond / 4;  // of its States
  std::uint32_t generations = 2;        // wanted at a time
  int receive_buffer_bytes = 0;         // above 0: paced by reading a socket with so little room
  Measurement measurement;

  // Else credit is ample, and the rate is that at which the socket is read.
  bool paced_by_credit() const { return receive_buffer_bytes == 0; }
  static constexpr std::uint32_t kAmpleCredit = 64;  // blocks
  // Bytes of the stream that a receiver takes a second: with the blocks' vectors and frames.
  double stream_rate() const {
    const Shape& shape = manifest.info.shape;
    return rate * (shape.block_bytes + shape.generation_size + 32.0) / shape.block_bytes;
  }
};

class Receiver {
 public:
  // `first`: the generation that it begins with. `samples`: it checks what it decodes.
  Receiver(const Diet& diet, std::uint32_t first, bool samples);

  proto::PeerMessage hello() const;
  // Errors: kProtocol (the seed broke a rule, or parted), kCorrupt (a generation is false).
  Status take(const proto::PeerMessage& message, TimeUs now);
  // The State that is due; nullopt: none is.
  std::optional<proto::State> state(TimeUs now);
  // When the next one is due; nullopt: the seed has not greeted.
  std::optional<TimeUs> next_due() const { return due_; }

  const Seconds& seconds() const { return seconds_; }
  std::uint64_t blocks() const { return blocks_; }
  std::uint64_t redundant() const { return redundant_; }
  std::uint32_t generations_checked() const { return checked_; }

 private:
  struct Wanted {
    std::uint32_t generation = 0;
    std::uint32_t rank = 0;
    bool changed = true;              // since the last State
    std::unique_ptr<RowCheck> check;  // of one that samples
  };
  void want_next();
  Wanted* find(std::uint32_t generation);
  Status take_block(const proto::Block& block, TimeUs now);
  Status count(Wanted& wanted, const proto::Block& block);
  std::uint32_t credit(TimeUs now) const;
  void first_state(proto::State& state) const;

  const Diet& diet_;
  const bool samples_;
  Seconds seconds_;
  std::deque<Wanted> wanted_;
  std::vector<std::uint32_t> complete_;  // since the last State
  std::uint32_t next_;                   // generation to be wanted next
  std::uint32_t granted_ = 0;
  std::uint32_t last_sequence_ = 0;
  std::uint64_t blocks_ = 0, redundant_ = 0;
  std::uint32_t checked_ = 0;
  std::optional<TimeUs> began_;  // the first State
  std::optional<TimeUs> due_;
};

}  // namespace firn::load
