#include "tracker/content_table.h"

#include <cstring>

namespace firn::tracker {

std::uint64_t ContentTable::hash(const ContentId& id) const {
  std::array<std::uint64_t, 4> words{};
  std::memcpy(words.data(), id.bytes.data(), id.bytes.size());
  return hash_(words);
}

std::uint32_t ContentTable::find(const ContentId& id) const {
  return index_.find(hash(id), Chain<const ContentTable>{*this},
                     [&](std::uint32_t number) { return records_[number].id == id; });
}

std::uint32_t ContentTable::add(const ContentId& id) {
  const std::uint32_t number = records_.take();
  records_[number].id = id;
  index_.insert(number, Chain<ContentTable>{*this});
  return number;
}

void ContentTable::remove(std::uint32_t number) {
  index_.remove(number, Chain<ContentTable>{*this});
  records_.give(number);
}

}  // namespace firn::tracker
