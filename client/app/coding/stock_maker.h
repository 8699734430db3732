// Makes the blocks of a stock (stock.h), several of one generation at a time: on devices, or on the
// workers, where a product of many rows takes a third of the time that the same rows take one by
// one (docs/benchmarks.md, "8 rows" and "1 row").
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "client/app/backends/batch_coder.h"
#include "client/app/coding/coded_content.h"
#include "client/app/coding/task_line.h"
#include "codec/random.h"

namespace firn::app {

// Owner thread.
class StockMaker {
 public:
  using Made = std::function<void(std::vector<CodedPayload> blocks)>;

  virtual ~StockMaker() = default;
  // False: nothing is made any more.
  virtual bool useful() const = 0;
  // Whether it keeps source blocks for itself. Then all orders are to come here, also those for
  // which nothing is made ahead.
  virtual bool keeps_sources() const = 0;
  // Blocks to have ready of a generation of which `asked` blocks were asked for; 0: none, as yet.
  virtual std::size_t ahead(std::uint64_t asked) const = 0;
  // In all stocks of a content, which hold so much now. What a device makes has one room for all
  // contents.
  virtual std::size_t bytes_max() const = 0;
  virtual void holding(std::size_t bytes) = 0;
  // It is likely to have the generation's source blocks.
  virtual bool keeps(std::uint32_t generation) const = 0;
  virtual std::size_t generations_max() const = 0;
  // `source`: the generation's bytes, null if they are not in memory. Answered by `made`, with no
  // blocks if they cannot be made.
  virtual void make(std::uint32_t generation, SharedBuffer source, std::size_t rows, Made made) = 0;
};

// What a device has ready of a generation of n blocks: a few at first, and more as more are asked
// for. Up to the n-th, all are likely to be: a receiver needs n, and a source gives as many to all
// receivers together before it goes on to the next generation. After that only what was asked for
// lately says how many will be. At most kStockBlocksAtFirst blocks and a sixteenth of what was
// asked for are left over, whenever that ends.
std::size_t device_stock(std::uint64_t asked, std::size_t n);
inline constexpr std::size_t kStockBlocksAtFirst = 4;

// The batch coder's devices where the process has one, else the workers.
std::unique_ptr<StockMaker> stock_maker(std::shared_ptr<const CodedContent> content,
                                        TaskLine& tasks);

}  // namespace firn::app
