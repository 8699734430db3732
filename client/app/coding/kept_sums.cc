#include "client/app/coding/kept_sums.h"

#include <utility>

namespace firn::app {

void KeptSums::make(const checks::SetKey& key, std::span<const std::uint32_t> generations,
                    std::size_t tag_bytes, Made made) {
  BatchCoder* const coder = content_->coder();
  const Shape& shape = content_->shape();
  SumsOrder order{shape.generation_size, shape.block_bytes, tag_bytes, {}, {}};
  std::vector<std::size_t> asked;  // which of `generations`
  for (std::size_t i = 0; i < generations.size(); ++i) {
    const std::uint32_t g = generations[i];  // kept: so it has n blocks, as only such are encoded
    if (coder == nullptr || !coder->useful() || !coder->keeps(content_->key_of(g))) continue;
    order.generations.push_back(
        {content_->key_of(g), key.material(g, shape.block_bytes, tag_bytes)});
    asked.push_back(i);
  }
  if (asked.empty()) return made(std::vector<std::vector<std::uint8_t>>(generations.size()));
  order.done = tasks_.unless_gone(
      [asked = std::move(asked), count = generations.size(),
       made = std::move(made)](const std::vector<SumsOrder::Generation>& answered) {
        std::vector<std::vector<std::uint8_t>> sums(count);
        for (std::size_t i = 0; i < asked.size(); ++i)
          sums[asked[i]].assign(answered[i].sums.begin(), answered[i].sums.end());
        made(std::move(sums));
      });
  coder->make_sums(std::move(order));
}

}  // namespace firn::app
