#include "client/app/coding/kept_sums.h"

#include <utility>

namespace firn::app {

void KeptSums::make(const checks::SetKey& key, std::uint32_t generation, std::size_t tag_bytes,
                    Made made) {
  BatchCoder* const coder = content_->coder();
  // One that is kept has n blocks, as only such are encoded.
  if (coder == nullptr || !coder->useful() || !coder->keeps(content_->key_of(generation)))
    return made({});
  const Shape& shape = content_->shape();
  SumsOrder order{shape.generation_size, shape.block_bytes, tag_bytes, {}, {}};
  order.generations.push_back(
      {content_->key_of(generation), key.material(generation, shape.block_bytes, tag_bytes)});
  order.done = tasks_.unless_gone(
      [made = std::move(made)](const std::vector<SumsOrder::Generation>& answered) {
        made({answered[0].sums.begin(), answered[0].sums.end()});
      });
  coder->make_sums(std::move(order));
}

}  // namespace firn::app
