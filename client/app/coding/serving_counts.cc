#include "client/app/coding/serving_counts.h"

namespace firn::app {

void ServingCounts::read(std::uint32_t generation) {
  const std::lock_guard lock(mutex_);
  if (generation >= read_before_.size()) read_before_.resize(generation + 1);
  ++reads_;
  reads_again_ += read_before_[generation];
  read_before_[generation] = true;
}

ServingCounts::Figures ServingCounts::figures() const {
  Figures figures;
  figures.encoded = encoded_;
  figures.recoded = recoded_;
  figures.stocked = stocked_;
  figures.thrown_away = thrown_away_;
  const std::lock_guard lock(mutex_);
  figures.generations_read = reads_;
  figures.generations_read_again = reads_again_;
  return figures;
}

}  // namespace firn::app
