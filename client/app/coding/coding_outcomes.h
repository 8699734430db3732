// What the data plane of a content tells the content's session.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/core/swarm.h"
#include "proto/base/ids.h"
#include "proto/base/result.h"
#include "proto/messages.h"

namespace firn::app {

// Which of the judged rows are combinations of source blocks.
struct RowVerdict {
  std::vector<std::uint32_t> right, wrong;  // slots
  bool readable = false;                    // else a row could not be read back, and both are empty
};

// Called on the owner thread, from within the data plane's members and its tasks' completions.
class CodingOutcomes {
 public:
  virtual ~CodingOutcomes() = default;
  virtual void row_stored(std::uint32_t generation, std::uint32_t slot) = 0;
  virtual void generation_decoded(std::uint32_t generation, core::DecodeOutcome outcome) = 0;
  // Of one that an origin sent.
  virtual void generation_fetched(std::uint32_t generation, core::DecodeOutcome outcome) = 0;
  virtual void rows_judged(std::uint32_t generation, const RowVerdict& verdict) = 0;
  virtual void check_made(core::PeerKey peer, proto::CheckReply reply) = 0;
  virtual void leaves_made(core::PeerKey peer, proto::LeafReply reply) = 0;
  // An empty payload: the block could not be made.
  virtual void block_made(std::uint64_t ticket, proto::Payload payload) = 0;
  // The same, with another coding vector than the one in the order, which allowed it.
  virtual void exchanged_block_made(std::uint64_t ticket, std::vector<std::uint8_t> vector,
                                    proto::Payload payload) = 0;
  // `fetch_again`: it is to be fetched and decoded once more; else its files are left as they are.
  virtual void generation_lost(std::uint32_t generation, const Error& error, bool fetch_again) = 0;
  // One that was lost and left alone can be read again, and is right.
  virtual void generation_regained(std::uint32_t generation) = 0;
  virtual void store_warning(const std::string& text) = 0;
  virtual void store_paused(const Error& error) = 0;
  virtual void store_resumed() = 0;
  virtual void store_finished() = 0;
  // Instead: everything is done but for files that were changed under their final names.
  virtual void store_spoiled(const Error& error) = 0;
};

}  // namespace firn::app
