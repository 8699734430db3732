// Heap memory that was taken while a Counting lives, wherever it is given back: so a simulation
// tells the tracker's memory from its own. The program's operator new and delete count it.
#pragma once

#include <cstddef>

namespace firn::tracker::test::abuse {

// One at a time. One thread.
class Counting {
 public:
  Counting();
  ~Counting();
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;
};

// Bytes, as they were asked for, that were taken while one lived and are not given back.
std::size_t counted_bytes();

}  // namespace firn::tracker::test::abuse
