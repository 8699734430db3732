#include "proto/idle_payloads.h"

#include <algorithm>
#include <new>

#include "proto/base/sanitized.h"

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

}  // namespace

bool IdlePayloads::keeps() {
  return !kSanitized;
}

IdlePayloads::~IdlePayloads() {
  for (Shelf& shelf : shelves_) clear(shelf);
}

void IdlePayloads::clear(Shelf& shelf) {
  for (std::uint8_t* data : shelf.idle) release(data);
  idle_bytes_ -= shelf.idle.size() * shelf.bytes;
  shelf.idle.clear();
}

// The shelf of that size; null if there is none.
IdlePayloads::Shelf* IdlePayloads::shelf_of(std::size_t bytes) {
  const auto found = std::ranges::find(shelves_, bytes, &Shelf::bytes);
  return found == shelves_.end() ? nullptr : &*found;
}

// The same, made in place of the one that was used longest ago.
IdlePayloads::Shelf& IdlePayloads::take_shelf(std::size_t bytes) {
  Shelf* shelf = shelf_of(bytes);
  if (!shelf) {
    shelf = &*std::ranges::min_element(shelves_, {}, &Shelf::used);
    clear(*shelf);
    shelf->bytes = bytes;
    shelf->idle.reserve(kIdleMax / bytes);  // payloads are given back where nothing may throw
  }
  return *shelf;
}

// What other sizes have left gives way, until one more of this size fits.
bool IdlePayloads::make_room(const Shelf& wanted) {
  while (idle_bytes_ + wanted.bytes > kIdleMax) {
    Shelf* oldest = nullptr;
    for (Shelf& shelf : shelves_) {
      if (&shelf == &wanted || shelf.idle.empty()) continue;
      if (!oldest || shelf.used < oldest->used) oldest = &shelf;
    }
    if (!oldest) return false;
    clear(*oldest);
  }
  return true;
}

std::uint8_t* IdlePayloads::take(std::size_t bytes) {
  if (keeps() && bytes >= kBytesMin && bytes <= kIdleMax) {
    const std::lock_guard lock(mutex_);
    Shelf& shelf = take_shelf(bytes);
    shelf.used = ++uses_;
    if (!shelf.idle.empty()) {
      std::uint8_t* const data = shelf.idle.back();
      shelf.idle.pop_back();
      idle_bytes_ -= bytes;
      return data;
    }
  }
  return allocate(bytes);
}

void IdlePayloads::give_back(std::uint8_t* data, std::size_t bytes) {
  if (keeps() && bytes >= kBytesMin && bytes <= kIdleMax) {
    const std::lock_guard lock(mutex_);
    Shelf* const shelf = shelf_of(bytes);
    if (shelf && make_room(*shelf)) {
      shelf->idle.push_back(data);  // there is room
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
