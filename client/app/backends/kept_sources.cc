#include "client/app/backends/kept_sources.h"

namespace firn::app {

void KeptSources::use(std::uint64_t generation_key, std::size_t bytes, std::size_t bytes_max) {
  forget(generation_key);
  kept_.push_front({generation_key, bytes});
  by_key_[generation_key] = kept_.begin();
  bytes_ += bytes;
  while (bytes_ > bytes_max) forget(kept_.back().key);
}

void KeptSources::forget(std::uint64_t generation_key) {
  const auto found = by_key_.find(generation_key);
  if (found == by_key_.end()) return;
  bytes_ -= found->second->bytes;
  kept_.erase(found->second);
  by_key_.erase(found);
}

}  // namespace firn::app
