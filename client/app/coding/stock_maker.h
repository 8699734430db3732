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
  // Blocks to have ready of a generation of which `asked` blocks were asked for; 0: none, as yet.
  virtual std::size_t ahead(std::uint64_t asked) const = 0;
  // Blocks to make at once, where `ahead` are to be ready and orders wait.
  virtual std::size_t rows(std::size_t ahead, std::size_t waiting) const = 0;
  // In all stocks of a content.
  virtual std::size_t bytes_max() const = 0;
  virtual std::size_t generations_max() const = 0;
  // `source`: the generation's bytes, null if they are not in memory. Answered by `made`, with no
  // blocks if they cannot be made.
  virtual void make(std::uint32_t generation, SharedBuffer source, std::size_t rows, Made made) = 0;
};

// The batch coder's devices where the process has one, else the workers.
std::unique_ptr<StockMaker> stock_maker(std::shared_ptr<const CodedContent> content,
                                        TaskLine& tasks);

}  // namespace firn::app
