#include "tests/tracker/abuse/heap_count.h"

#include <cstdint>
#include <cstdlib>
#include <new>

namespace firn::tracker::test::abuse {
namespace {

// Before each piece of memory; as large as memory is aligned.
struct alignas(16) Head {
  std::size_t bytes;
  bool counted;
};
static_assert(sizeof(Head) == __STDCPP_DEFAULT_NEW_ALIGNMENT__);

thread_local bool counting = false;
thread_local std::size_t counted = 0;

void* take(std::size_t bytes) {
  void* memory = std::malloc(sizeof(Head) + bytes);
  if (memory == nullptr) throw std::bad_alloc();
  *static_cast<Head*>(memory) = {bytes, counting};
  if (counting) counted += bytes;
  return static_cast<Head*>(memory) + 1;
}

void give(void* memory) {
  if (memory == nullptr) return;
  Head* head = static_cast<Head*>(memory) - 1;
  if (head->counted) counted -= head->bytes;
  std::free(head);
}

}  // namespace

Counting::Counting() {
  counting = true;
}
Counting::~Counting() {
  counting = false;
}

std::size_t counted_bytes() {
  return counted;
}

}  // namespace firn::tracker::test::abuse

void* operator new(std::size_t bytes) {
  return firn::tracker::test::abuse::take(bytes);
}
void operator delete(void* memory) noexcept {
  firn::tracker::test::abuse::give(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  firn::tracker::test::abuse::give(memory);
}
