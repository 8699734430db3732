#include "client/app/coding/block_product.h"

#include <algorithm>
#include <utility>

#include "proto/base/stage_times.h"

namespace firn::app {
namespace {

// The rows that any of some orders uses, each once; an order's coefficients are 0 for the others.
class RowUnion {
 public:
  RowUnion(std::uint32_t slot_count, std::span<const BlockOrder> orders)
      : column_of_slot_(slot_count, kNoColumn) {
    for (const BlockOrder& order : orders)
      for (const RowRef& row : order.rows) add(row);
  }

  // Fetches rows that are in the spool; those that were fetched.
  std::vector<RowRef> read_back(const CodedContent& content, std::uint32_t generation) {
    std::vector<RowRef> fetched;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].payload) continue;
      readable_[i] = content.read_back(generation, rows_[i]);
      if (readable_[i]) fetched.push_back(rows_[i]);
    }
    return fetched;
  }

  bool readable(const BlockOrder& order) const {
    return std::all_of(order.rows.begin(), order.rows.end(),
                       [&](const RowRef& row) { return readable_[column_of_slot_.at(row.slot)]; });
  }

  // Whether one product for all of the orders costs less than one each. Mixtures of few rows share
  // few, and their product together is mostly zeros.
  bool shared_by(std::span<const BlockOrder> orders) const {
    std::size_t alone = 0;
    for (const BlockOrder& order : orders) alone += order.rows.size();
    return orders.size() == 1 || orders.size() * rows_.size() <= kTogetherGain * alone;
  }

  // Where the payloads of the order's rows are.
  std::vector<const std::uint8_t*> payloads(const BlockOrder& order) const {
    std::vector<const std::uint8_t*> in;
    for (const RowRef& row : order.rows)
      in.push_back(rows_[column_of_slot_.at(row.slot)].payload.bytes().data());
    return in;
  }

  // Appends the order's coefficients for all rows.
  void append(const BlockOrder& order, std::vector<std::uint8_t>& matrix) const {
    const std::size_t begin = matrix.size();
    matrix.resize(begin + rows_.size());
    for (std::size_t j = 0; j < order.rows.size(); ++j)
      matrix[begin + column_of_slot_.at(order.rows[j].slot)] = order.coefficients[j];
  }

  // Rows that cannot be read have coefficient 0 in all that is made: `nothing` stands for them.
  std::vector<const std::uint8_t*> payloads(const proto::Payload& nothing) const {
    std::vector<const std::uint8_t*> in;
    for (const RowRef& row : rows_)
      in.push_back(row.payload ? row.payload.bytes().data() : nothing.bytes().data());
    return in;
  }

 private:
  static constexpr std::uint32_t kNoColumn = ~std::uint32_t{0};
  // A product of 8 rows does 3 times the multiply-adds of a single row in the same time, with
  // AVX-512 and n of 64 and more (docs/benchmarks.md, "8 rows" and "1 row").
  static constexpr std::size_t kTogetherGain = 3;

  void add(const RowRef& row) {
    std::uint32_t& column = column_of_slot_.at(row.slot);
    if (column == kNoColumn) {
      column = static_cast<std::uint32_t>(rows_.size());
      rows_.push_back(row);
      readable_.push_back(true);
    } else if (!rows_[column].payload) {
      // A later order may still have in memory what was evicted under an earlier one, or not.
      rows_[column].payload = row.payload;
    }
  }

  std::vector<std::uint32_t> column_of_slot_;
  std::vector<RowRef> rows_;
  std::vector<bool> readable_;
};

}  // namespace

std::vector<const std::uint8_t*> source_blocks(std::span<const std::uint8_t> generation,
                                               std::size_t block_bytes) {
  std::vector<const std::uint8_t*> blocks(generation.size() / block_bytes);
  for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] = generation.data() + i * block_bytes;
  return blocks;
}

std::vector<proto::Payload> combine_blocks(const codec::Kernels& kernels,
                                           std::span<const std::uint8_t* const> in,
                                           std::span<const std::uint8_t> matrix,
                                           std::size_t block_bytes) {
  const StageScope stage(Stage::kEncode);
  const std::size_t rows = matrix.size() / in.size();
  std::vector<proto::Payload> made(rows);
  std::vector<std::uint8_t*> out(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    made[r] = proto::Payload::allocate(block_bytes);
    out[r] = made[r].writable().data();
  }
  kernels.combine_rows(out.data(), rows, in.data(), in.size(), matrix.data(), in.size(),
                       block_bytes);
  return made;
}

std::vector<proto::Payload> make_from_source(const CodedContent& content,
                                             std::span<const std::uint8_t> generation,
                                             std::span<const BlockOrder> orders) {
  const StageScope stage(Stage::kEncode);
  const std::size_t block_bytes = content.shape().block_bytes;
  std::vector<proto::Payload> blocks(orders.size());
  std::vector<std::size_t> dense;
  std::vector<std::uint8_t> matrix;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const BlockOrder& order = orders[i];
    if (order.source_index) {
      blocks[i] = proto::Payload::copy_of(
          generation.subspan(std::size_t{*order.source_index} * block_bytes, block_bytes));
    } else {
      FIRN_CHECK(order.coefficients.size() * block_bytes == generation.size());
      dense.push_back(i);
      matrix.insert(matrix.end(), order.coefficients.begin(), order.coefficients.end());
    }
  }
  content.counts().encoded(dense.size());
  if (dense.empty()) return blocks;
  auto made = combine_blocks(content.kernels(), source_blocks(generation, block_bytes), matrix,
                             block_bytes);
  for (std::size_t d = 0; d < dense.size(); ++d) blocks[dense[d]] = std::move(made[d]);
  return blocks;
}

namespace {

// With a product for each of `makeable` alone.
void make_each(const CodedContent& content, const RowUnion& rows,
               std::span<const BlockOrder> orders, std::span<const std::size_t> makeable,
               std::vector<proto::Payload>& blocks) {
  for (const std::size_t i : makeable)
    blocks[i] = std::move(combine_blocks(content.kernels(), rows.payloads(orders[i]),
                                         orders[i].coefficients, content.shape().block_bytes)[0]);
}

// With one product.
void make_together(const CodedContent& content, const RowUnion& rows,
                   std::span<const BlockOrder> orders, std::span<const std::size_t> makeable,
                   std::vector<proto::Payload>& blocks) {
  std::vector<std::uint8_t> matrix;
  for (const std::size_t i : makeable) rows.append(orders[i], matrix);
  const std::size_t block_bytes = content.shape().block_bytes;
  const proto::Payload nothing = proto::Payload::allocate(block_bytes);
  auto made = combine_blocks(content.kernels(), rows.payloads(nothing), matrix, block_bytes);
  for (std::size_t m = 0; m < makeable.size(); ++m) blocks[makeable[m]] = std::move(made[m]);
}

}  // namespace

std::vector<proto::Payload> make_from_rows(const CodedContent& content, std::uint32_t generation,
                                           std::vector<BlockOrder>& orders,
                                           std::vector<RowRef>& read_back) {
  RowUnion rows(content.shape().blocks_in(generation), orders);
  read_back = rows.read_back(content, generation);
  std::vector<proto::Payload> blocks(orders.size());
  std::vector<std::size_t> makeable;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    FIRN_CHECK(orders[i].coefficients.size() == orders[i].rows.size());
    if (rows.readable(orders[i])) makeable.push_back(i);
  }
  if (makeable.empty()) return blocks;
  content.counts().recoded(makeable.size());
  if (rows.shared_by(orders)) {
    make_together(content, rows, orders, makeable, blocks);
  } else {
    make_each(content, rows, orders, makeable, blocks);
  }
  return blocks;
}

}  // namespace firn::app
