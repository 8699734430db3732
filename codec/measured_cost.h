// What a batch costs, by the number of its items, learnt from batches that were timed. Fixed costs
// (a launch, a transfer, an inversion that takes as long for one matrix as for a hundred) make time
// no multiple of the count; so times are kept for counts of each power of two, and looked up
// between them.
#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace firn::codec {

class MeasuredCost {
 public:
  bool known() const { return known_; }
  // A batch of `count` > 0 items took `seconds`. Later batches count for more than earlier ones.
  void add(std::size_t count, double seconds);
  // Expected time of a batch of `count` > 0; 0 if nothing is known. Between two measured counts on
  // the straight line through them; above the largest in proportion; below the smallest its time.
  double estimate(std::size_t count) const;
  // What is known, as counts and seconds; add() of these to a new object makes it know the same.
  std::vector<std::pair<std::size_t, double>> known_points() const;

 private:
  struct Sample {
    double count = 0, seconds = 0;
  };
  std::array<Sample, 24> samples_;  // of counts 2^i .. 2^(i+1) - 1
  bool known_ = false;
};

}  // namespace firn::codec
