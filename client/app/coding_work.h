// What workers compute for coding_jobs: making blocks, decoding, finding false rows. No state of
// their own; every function may run on any thread, under coding_jobs' order per generation.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "client/app/buffer_pool.h"
#include "client/core/actions.h"
#include "client/core/swarm.h"
#include "client/store/content_store.h"
#include "codec/kernels.h"
#include "proto/ids.h"
#include "proto/messages.h"

namespace firn::app {

// A row of a generation: in memory, or (payload empty) in the store's spool.
struct RowRef {
  std::uint32_t slot = 0;
  proto::Payload payload;
};

// One block to make. Of a verified generation (`rows` empty): source block `source_index`, or the
// combination of all source blocks with `coefficients`. Else the combination of `rows` with
// `coefficients`, one for each row.
struct BlockOrder {
  std::uint64_t ticket = 0;
  std::optional<std::uint32_t> source_index;
  std::vector<std::uint8_t> coefficients;
  std::vector<RowRef> rows;
};

// What a job needs to know of its generation.
struct CodingShape {
  std::uint32_t generation_size = 0;  // source blocks of this generation (Shape::blocks_in)
  std::uint32_t block_bytes = 0;
  std::size_t generation_bytes() const { return std::size_t{generation_size} * block_bytes; }
};

// Payloads of `orders` in their order, made with one matrix product. `generation`: n * k bytes.
std::vector<proto::Payload> make_source_blocks(const codec::Kernels& kernels,
                                               const CodingShape& shape,
                                               std::span<const std::uint8_t> generation,
                                               std::span<const BlockOrder> orders);

// Fetches what is in the spool, then as above with rows; the payloads that were read back are put
// into `read_back`. An empty payload where a row could not be read.
std::vector<proto::Payload> make_recoded_blocks(
    const codec::Kernels& kernels, const CodingShape& shape, const store::ContentStore& store,
    std::uint32_t generation, std::vector<BlockOrder>& orders, std::vector<RowRef>& read_back);

// Fetches what is in the spool; false if a row could not be read.
bool read_back_rows(const CodingShape& shape, const store::ContentStore& store,
                    std::uint32_t generation, std::vector<RowRef>& rows);

// The decoded generation in `out`, not yet compared with its digest; false if a row could not be
// read back, or the vectors lack rank.
bool decode_rows(const codec::Kernels& kernels, const CodingShape& shape,
                 const store::ContentStore& store, std::uint32_t generation,
                 const std::vector<core::Vector>& vectors, std::vector<RowRef> rows,
                 std::span<std::uint8_t> out);

// kVerified or kCorrupt.
core::DecodeOutcome check_decoded(const CodingShape& shape, const Digest& digest,
                                  std::span<const std::uint8_t> generation);

// What is kept of a row that may be false: enough to compare it with what it should have been.
struct EvidenceRow {
  core::Vector vector;
  PeerId sender;
  Digest payload_digest;  // SHA-256
};
using Evidence = std::vector<EvidenceRow>;

// Rows that cannot be read back any more are left out.
Evidence gather_evidence(const CodingShape& shape, const store::ContentStore& store,
                         const core::KeepEvidence& kept, const std::vector<RowRef>& rows);

// Senders of rows that are not the combination of source blocks that their vector promises, each
// once. `generation`: n * k bytes, verified.
std::vector<PeerId> find_guilty(const codec::Kernels& kernels, const CodingShape& shape,
                                std::span<const std::uint8_t> generation, const Evidence& evidence);

}  // namespace firn::app
