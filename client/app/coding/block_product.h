// The arithmetic behind blocks to send: blocks of one generation that are asked for together are
// made with one matrix product. No state; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "client/app/coding/coded_content.h"
#include "client/app/coding/row_ref.h"
#include "codec/kernels.h"
#include "proto/messages.h"

namespace firn::app {

// One block to make. Of a verified generation (`rows` empty): source block `source_index`, or the
// combination of all source blocks with `coefficients`. Else the combination of `rows` with
// `coefficients`, one for each row.
struct BlockOrder {
  std::uint64_t ticket = 0;
  std::optional<std::uint32_t> source_index;
  std::vector<std::uint8_t> coefficients;
  std::vector<RowRef> rows;
  bool exchangeable = false;  // any other random vector would do: core::SendBlock
};

// Where the source blocks of a generation begin. `generation`: n * block_bytes bytes.
std::vector<const std::uint8_t*> source_blocks(std::span<const std::uint8_t> generation,
                                               std::size_t block_bytes);

// out[r] = sum_j matrix[r * in.size() + j] * in[j]: one fresh payload for each row of the matrix.
std::vector<proto::Payload> combine_blocks(const codec::Kernels& kernels,
                                           std::span<const std::uint8_t* const> in,
                                           std::span<const std::uint8_t> matrix,
                                           std::size_t block_bytes);

// Payloads of `orders`, in their order. `generation`: the n * k bytes of the verified generation.
std::vector<proto::Payload> make_from_source(const CodedContent& content,
                                             std::span<const std::uint8_t> generation,
                                             std::span<const BlockOrder> orders);

// Fetches rows that are in the spool, then as above with rows; rows that were read back are put
// into `read_back`. An empty payload where a row could not be read.
std::vector<proto::Payload> make_from_rows(const CodedContent& content, std::uint32_t generation,
                                           std::vector<BlockOrder>& orders,
                                           std::vector<RowRef>& read_back);

}  // namespace firn::app
