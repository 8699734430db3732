#include "proto/idle_payloads.h"

#include <algorithm>
#include <new>

namespace firn::proto {
namespace {

// Of a cache line and of the widest vector register.
constexpr std::align_val_t kAlignment{64};

std::uint8_t* allocate(std::size_t bytes) {
  return static_cast<std::uint8_t*>(::operator new[](bytes, kAlignment));
}
void release(std::uint8_t* data) {
  ::operator delete[](data, kAlignment);
}

// Memory that is kept would hide from a sanitizer that it is used after its end.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kKeeps = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kKeeps = false;
#else
constexpr bool kKeeps = true;
#endif
#else
constexpr bool kKeeps = true;
#endif

}  // namespace

IdlePayloads::~IdlePayloads() {
  for (Shelf& shelf : shelves_) clear(shelf);
}

void IdlePayloads::clear(Shelf& shelf) {
  for (std::uint8_t* data : shelf.idle) release(data);
  idle_bytes_ -= shelf.idle.size() * shelf.bytes;
  shelf.idle.clear();
}

// The shelf of that size; null if others are in use.
IdlePayloads::Shelf* IdlePayloads::shelf_of(std::size_t bytes) {
  const auto found = std::ranges::find(shelves_, bytes, &Shelf::bytes);
  return found == shelves_.end() ? nullptr : &*found;
}

std::uint8_t* IdlePayloads::take(std::size_t bytes) {
  if (kKeeps && bytes >= kBytesMin) {
    const std::lock_guard lock(mutex_);
    Shelf* const shelf = shelf_of(bytes);
    if (shelf && !shelf->idle.empty()) {
      std::uint8_t* const data = shelf->idle.back();
      shelf->idle.pop_back();
      idle_bytes_ -= bytes;
      return data;
    }
  }
  return allocate(bytes);
}

void IdlePayloads::give_back(std::uint8_t* data, std::size_t bytes) {
  if (kKeeps && bytes >= kBytesMin && bytes <= kIdleMax) {
    const std::lock_guard lock(mutex_);
    Shelf* shelf = shelf_of(bytes);
    if (!shelf) {
      const auto empty =
          std::ranges::find_if(shelves_, [](const Shelf& one) { return one.idle.empty(); });
      shelf = empty != shelves_.end() ? &*empty : &shelves_.front();
      clear(*shelf);
      shelf->bytes = bytes;
    }
    if (idle_bytes_ + bytes <= kIdleMax) {
      shelf->idle.push_back(data);
      idle_bytes_ += bytes;
      return;
    }
  }
  release(data);
}

std::size_t IdlePayloads::idle_bytes() const {
  const std::lock_guard lock(mutex_);
  return idle_bytes_;
}

}  // namespace firn::proto
