#include "codec/secret_memory.h"

#include <cstring>

namespace firn::codec {

void wipe(void* memory, std::size_t bytes) {
  if (bytes == 0) return;
  std::memset(memory, 0, bytes);
  asm volatile("" : : "r"(memory) : "memory");  // as if somebody read it
}

}  // namespace firn::codec
