#include "client/app/coding/stock_maker.h"

#include <algorithm>
#include <utility>

#include "client/app/coding/block_product.h"
#include "codec/encode.h"

namespace firn::app {
namespace {

class DeviceMaker final : public StockMaker {
 public:
  DeviceMaker(std::shared_ptr<const CodedContent> content, TaskLine& tasks)
      : content_(std::move(content)), tasks_(tasks), coder_(*content_->coder()) {}

  bool useful() const override { return coder_.useful(); }
  bool keeps_sources() const override { return true; }
  std::size_t ahead(std::uint64_t asked) const override {
    return device_stock(asked, content_->shape().generation_size);
  }
  std::size_t bytes_max() const override { return room_.bytes_max(); }
  void holding(std::size_t bytes) override { room_.hold(bytes); }
  bool keeps(std::uint32_t generation) const override {
    return coder_.keeps(content_->key_of(generation));
  }
  std::size_t generations_max() const override { return kGenerationsMax; }
  void make(std::uint32_t generation, SharedBuffer source, std::size_t rows, Made made) override {
    const Shape& shape = content_->shape();
    coder_.encode({content_->key_of(generation), shape.generation_size, shape.block_bytes,
                   std::move(source), rows, tasks_.unless_gone(std::move(made))});
  }

 private:
  static constexpr std::size_t kGenerationsMax = 1024;

  const std::shared_ptr<const CodedContent> content_;
  TaskLine& tasks_;
  BatchCoder& coder_;
  StockRoom::Share room_{coder_.stock_room()};
};

// Blocks that are never asked for are lost work, so that what is ready is a part of what was asked
// for before.
class WorkerMaker final : public StockMaker {
 public:
  WorkerMaker(std::shared_ptr<const CodedContent> content, TaskLine& tasks)
      : content_(std::move(content)), tasks_(tasks), random_(content_->seed(), 0x73746f636b) {}

  bool useful() const override { return true; }
  bool keeps_sources() const override { return false; }
  std::size_t ahead(std::uint64_t asked) const override {
    const std::uint64_t part = asked / kAskedForEach;
    return part < kAheadMin ? 0 : std::min<std::size_t>(part, kAheadMax);
  }
  std::size_t bytes_max() const override { return content_->stock_bytes(); }
  void holding(std::size_t) override {}
  bool keeps(std::uint32_t) const override { return false; }
  std::size_t generations_max() const override { return kGenerationsMax; }
  void make(std::uint32_t generation, SharedBuffer source, std::size_t rows, Made made) override {
    if (!source) return made({});
    tasks_.submit(
        content_->key_of(generation),
        [content = content_, source = std::move(source), rows, made = std::move(made),
         random = codec::CoefficientStream(
             random_.next_u64(), random_.next_u64())]() mutable -> WorkerPool::Completion {
          auto blocks = blocks_of(*content, source->bytes(), rows, random);
          return [blocks = std::move(blocks), made = std::move(made)]() mutable {
            made(std::move(blocks));
          };
        });
  }

 private:
  static constexpr std::uint64_t kAskedForEach = 12;  // a twelfth of what is made may be left over
  static constexpr std::uint64_t kAheadMin = 4;
  static constexpr std::size_t kAheadMax = 16;
  static constexpr std::size_t kGenerationsMax = 1024;

  static std::vector<CodedPayload> blocks_of(const CodedContent& content,
                                             std::span<const std::uint8_t> source, std::size_t rows,
                                             codec::CoefficientStream& random) {
    const Shape& shape = content.shape();
    std::vector<CodedPayload> blocks(rows);
    std::vector<std::uint8_t> matrix;
    for (CodedPayload& block : blocks) {
      block.vector = codec::random_vector(shape.generation_size, random);
      matrix.insert(matrix.end(), block.vector.begin(), block.vector.end());
    }
    auto payloads = combine_blocks(content.kernels(), source_blocks(source, shape.block_bytes),
                                   matrix, shape.block_bytes);
    for (std::size_t i = 0; i < rows; ++i) blocks[i].payload = std::move(payloads[i]);
    return blocks;
  }

  const std::shared_ptr<const CodedContent> content_;
  TaskLine& tasks_;
  codec::CoefficientStream random_;
};

}  // namespace

std::size_t device_stock(std::uint64_t asked, std::size_t n) {
  constexpr std::uint64_t kAskedForEach = 16, kAskedLatelyForEach = 4, kMax = 64;
  const std::uint64_t part = asked / kAskedForEach;
  const std::uint64_t ahead = asked < n ? std::min(kStockBlocksAtFirst + part, n - asked)
                                        : std::min(part, (asked - n) / kAskedLatelyForEach);
  return static_cast<std::size_t>(std::min(ahead, kMax));
}

std::unique_ptr<StockMaker> stock_maker(std::shared_ptr<const CodedContent> content,
                                        TaskLine& tasks) {
  if (content->coder() != nullptr) return std::make_unique<DeviceMaker>(std::move(content), tasks);
  return std::make_unique<WorkerMaker>(std::move(content), tasks);
}

}  // namespace firn::app
