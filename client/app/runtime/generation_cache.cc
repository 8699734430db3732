#include "client/app/runtime/generation_cache.h"

namespace firn::app {

SharedBuffer GenerationCache::find(std::uint32_t owner, std::uint32_t generation) {
  const auto found = by_key_.find(key_of(owner, generation));
  if (found == by_key_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->data;
}

void GenerationCache::insert(std::uint32_t owner, std::uint32_t generation, SharedBuffer data) {
  erase(owner, generation);
  const std::uint64_t key = key_of(owner, generation);
  bytes_ += data->bytes().size();
  entries_.push_front({key, std::move(data)});
  by_key_[key] = entries_.begin();
  while (bytes_ > bytes_max_ && entries_.size() > 1) {
    bytes_ -= entries_.back().data->bytes().size();
    by_key_.erase(entries_.back().key);
    entries_.pop_back();
  }
}

void GenerationCache::erase(std::uint32_t owner, std::uint32_t generation) {
  const auto found = by_key_.find(key_of(owner, generation));
  if (found == by_key_.end()) return;
  bytes_ -= found->second->data->bytes().size();
  entries_.erase(found->second);
  by_key_.erase(found);
}

}  // namespace firn::app
