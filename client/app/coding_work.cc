#include "client/app/coding_work.h"

#include <algorithm>

#include "codec/decode.h"
#include "proto/digest.h"
#include "proto/stage_times.h"

namespace firn::app {
namespace {

std::vector<const std::uint8_t*> source_rows(const CodingShape& shape,
                                             std::span<const std::uint8_t> generation) {
  std::vector<const std::uint8_t*> rows(shape.generation_size);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = generation.data() + i * shape.block_bytes;
  return rows;
}

// out[r] = sum_j matrix[r * in.size() + j] * in[j], one fresh payload for each row of the matrix.
std::vector<proto::Payload> multiply(const codec::Kernels& kernels, const CodingShape& shape,
                                     std::span<const std::uint8_t* const> in,
                                     std::span<const std::uint8_t> matrix, std::size_t rows) {
  const StageScope stage(Stage::kEncode);
  std::vector<proto::Payload> made(rows);
  std::vector<std::uint8_t*> out(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    made[r] = proto::Payload::allocate(shape.block_bytes);
    out[r] = made[r].writable().data();
  }
  kernels.combine_rows(out.data(), rows, in.data(), in.size(), matrix.data(), in.size(),
                       shape.block_bytes);
  return made;
}

bool read_back_row(const CodingShape& shape, const store::ContentStore& store,
                   std::uint32_t generation, RowRef& row) {
  if (row.payload) return true;
  const StageScope stage(Stage::kDiskRead);
  proto::Payload payload = proto::Payload::allocate(shape.block_bytes);
  if (!store.read_row(generation, row.slot, payload.writable()).ok()) return false;
  row.payload = std::move(payload);
  return true;
}

}  // namespace

std::vector<proto::Payload> make_source_blocks(const codec::Kernels& kernels,
                                               const CodingShape& shape,
                                               std::span<const std::uint8_t> generation,
                                               std::span<const BlockOrder> orders) {
  const StageScope stage(Stage::kEncode);
  std::vector<proto::Payload> blocks(orders.size());
  std::vector<std::size_t> dense;
  std::vector<std::uint8_t> matrix;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    if (orders[i].source_index) {
      blocks[i] = proto::Payload::copy_of(generation.subspan(
          std::size_t{*orders[i].source_index} * shape.block_bytes, shape.block_bytes));
    } else {
      FIRN_CHECK(orders[i].coefficients.size() == shape.generation_size);
      dense.push_back(i);
      matrix.insert(matrix.end(), orders[i].coefficients.begin(), orders[i].coefficients.end());
    }
  }
  if (dense.empty()) return blocks;
  const auto in = source_rows(shape, generation);
  auto made = multiply(kernels, shape, in, matrix, dense.size());
  for (std::size_t d = 0; d < dense.size(); ++d) blocks[dense[d]] = std::move(made[d]);
  return blocks;
}

std::vector<proto::Payload> make_recoded_blocks(
    const codec::Kernels& kernels, const CodingShape& shape, const store::ContentStore& store,
    std::uint32_t generation, std::vector<BlockOrder>& orders, std::vector<RowRef>& read_back) {
  // The rows that any order uses, each once; an order's coefficients are 0 for the others.
  constexpr std::uint32_t kNoColumn = ~std::uint32_t{0};
  std::vector<std::uint32_t> column_of_slot(shape.generation_size, kNoColumn);
  std::vector<RowRef> rows;
  for (BlockOrder& order : orders) {
    for (RowRef& row : order.rows) {
      std::uint32_t& column = column_of_slot.at(row.slot);
      if (column == kNoColumn) {
        column = static_cast<std::uint32_t>(rows.size());
        rows.push_back(row);
      } else if (!rows[column].payload) {
        // A later order may still have in memory what was evicted under an earlier one, or not.
        rows[column].payload = row.payload;
      }
    }
  }
  std::vector<bool> readable(rows.size(), true);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].payload) continue;
    readable[i] = read_back_row(shape, store, generation, rows[i]);
    if (readable[i]) read_back.push_back(rows[i]);
  }

  std::vector<proto::Payload> blocks(orders.size());
  std::vector<std::size_t> makeable;
  std::vector<std::uint8_t> matrix;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const BlockOrder& order = orders[i];
    FIRN_CHECK(order.coefficients.size() == order.rows.size());
    if (!std::all_of(order.rows.begin(), order.rows.end(),
                     [&](const RowRef& row) { return readable[column_of_slot.at(row.slot)]; }))
      continue;
    const std::size_t begin = matrix.size();
    matrix.resize(begin + rows.size());
    for (std::size_t j = 0; j < order.rows.size(); ++j)
      matrix[begin + column_of_slot.at(order.rows[j].slot)] = order.coefficients[j];
    makeable.push_back(i);
  }
  std::vector<const std::uint8_t*> in;
  // Unreadable rows have coefficient 0 in all that is made; any readable bytes may stand for them.
  const proto::Payload nothing =
      makeable.empty() ? proto::Payload() : proto::Payload::allocate(shape.block_bytes);
  for (const RowRef& row : rows)
    in.push_back(row.payload ? row.payload.bytes().data() : nothing.bytes().data());
  if (makeable.empty()) return blocks;
  auto made = multiply(kernels, shape, in, matrix, makeable.size());
  for (std::size_t m = 0; m < makeable.size(); ++m) blocks[makeable[m]] = std::move(made[m]);
  return blocks;
}

bool read_back_rows(const CodingShape& shape, const store::ContentStore& store,
                    std::uint32_t generation, std::vector<RowRef>& rows) {
  return std::all_of(rows.begin(), rows.end(),
                     [&](RowRef& row) { return read_back_row(shape, store, generation, row); });
}

bool decode_rows(const codec::Kernels& kernels, const CodingShape& shape,
                 const store::ContentStore& store, std::uint32_t generation,
                 const std::vector<core::Vector>& vectors, std::vector<RowRef> rows,
                 std::span<std::uint8_t> out) {
  const StageScope stage(Stage::kDecode);
  const std::size_t n = shape.generation_size;
  FIRN_CHECK(vectors.size() == n && rows.size() == n);
  if (!read_back_rows(shape, store, generation, rows)) return false;
  std::vector<const std::uint8_t*> vector_rows(n), payload_rows(n);
  for (std::size_t i = 0; i < n; ++i) {
    vector_rows[i] = vectors[rows[i].slot]->data();
    payload_rows[i] = rows[i].payload.bytes().data();
  }
  return codec::decode_generation(kernels, n, shape.block_bytes, vector_rows, payload_rows, out);
}

core::DecodeOutcome check_decoded(const CodingShape& shape, const Digest& digest,
                                  std::span<const std::uint8_t> generation) {
  return generation_digest(generation, shape.block_bytes) == digest ? core::DecodeOutcome::kVerified
                                                                    : core::DecodeOutcome::kCorrupt;
}

Evidence gather_evidence(const CodingShape& shape, const store::ContentStore& store,
                         const core::KeepEvidence& kept, const std::vector<RowRef>& rows) {
  Evidence evidence;
  for (RowRef row : rows) {
    if (!read_back_row(shape, store, kept.generation, row)) continue;
    evidence.push_back(
        {kept.vectors[row.slot], kept.senders[row.slot], sha256(row.payload.bytes())});
  }
  return evidence;
}

std::vector<PeerId> find_guilty(const codec::Kernels& kernels, const CodingShape& shape,
                                std::span<const std::uint8_t> generation,
                                const Evidence& evidence) {
  constexpr std::size_t kRowsAtOnce = 16;
  const auto in = source_rows(shape, generation);
  std::vector<PeerId> guilty;
  for (std::size_t first = 0; first < evidence.size(); first += kRowsAtOnce) {
    const std::size_t rows = std::min(kRowsAtOnce, evidence.size() - first);
    std::vector<std::uint8_t> matrix;
    for (std::size_t r = 0; r < rows; ++r) {
      const auto& vector = *evidence[first + r].vector;
      matrix.insert(matrix.end(), vector.begin(), vector.end());
    }
    const auto truth = multiply(kernels, shape, in, matrix, rows);
    for (std::size_t r = 0; r < rows; ++r) {
      const EvidenceRow& row = evidence[first + r];
      if (sha256(truth[r].bytes()) == row.payload_digest) continue;
      if (std::find(guilty.begin(), guilty.end(), row.sender) == guilty.end())
        guilty.push_back(row.sender);
    }
  }
  return guilty;
}

}  // namespace firn::app
