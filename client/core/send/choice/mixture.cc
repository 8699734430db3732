#include "client/core/send/choice/mixture.h"

#include <algorithm>
#include <utility>

#include "proto/base/result.h"

namespace firn::core::policy {

namespace {

class Chooser {
 public:
  Chooser(const OpenGeneration& open, const MixtureFor& wanted) : open_(open), wanted_(wanted) {
    const std::uint32_t all = open.count(wanted.which);
    const std::uint32_t own = open.rows_from(wanted.receiver, wanted.which);
    receivers_too_ = own == all;
    eligible_count_ = receivers_too_ ? all : all - own;
    rows_max_ = wanted.rows_max == 0 ? eligible_count_ : std::min(wanted.rows_max, eligible_count_);
    chosen_.reserve(rows_max_);
  }

  // Where all are to be mixed nothing has to be chosen.
  bool takes_all() const { return rows_max_ == eligible_count_; }
  void take_all() {
    for (std::uint32_t slot = 0; slot < slot_count(); ++slot) {
      if (eligible(slot)) chosen_.push_back(slot);
    }
  }

  void take_fresh() {
    std::vector<std::uint32_t> second_hand;
    for (std::uint32_t slot = 0; slot < slot_count() && !full(); ++slot) {
      if (wanted_.mixed && wanted_.mixed->contains(slot)) continue;
      if (eligible(slot)) (open_.from_whole[slot] ? chosen_ : second_hand).push_back(slot);
    }
    const std::size_t some = std::min(second_hand.size(), rows_max_ - chosen_.size());
    chosen_.insert(chosen_.end(), second_hand.begin(),
                   second_hand.begin() + static_cast<std::ptrdiff_t>(some));
  }

  // A few tries for each row; where few are eligible the rest is taken in order from a place that
  // chance names.
  void take_by_chance(codec::CoefficientStream& random) {
    for (std::size_t tries = kTries * (rows_max_ - chosen_.size()); tries > 0 && !full(); --tries)
      take(random.below(slot_count()));
    const std::uint32_t from = full() ? 0 : random.below(slot_count());
    for (std::uint32_t i = 0; i < slot_count() && !full(); ++i) take((from + i) % slot_count());
  }

  std::vector<std::uint32_t> take_chosen() {
    std::sort(chosen_.begin(), chosen_.end());
    return std::move(chosen_);
  }

 private:
  static constexpr std::size_t kTries = 4;

  bool full() const { return chosen_.size() == rows_max_; }
  std::uint32_t slot_count() const { return static_cast<std::uint32_t>(open_.vectors.size()); }
  bool eligible(std::uint32_t slot) const {
    return open_.has(slot, wanted_.which) &&
           (receivers_too_ || open_.senders[slot] != wanted_.receiver);
  }
  void take(std::uint32_t slot) {
    const bool taken = std::find(chosen_.begin(), chosen_.end(), slot) != chosen_.end();
    if (!taken && eligible(slot)) chosen_.push_back(slot);
  }

  const OpenGeneration& open_;
  const MixtureFor& wanted_;
  bool receivers_too_ = false;
  std::size_t eligible_count_ = 0;
  std::size_t rows_max_ = 0;
  std::vector<std::uint32_t> chosen_;
};

}  // namespace

std::vector<std::uint32_t> choose_mixture(const OpenGeneration& open, const MixtureFor& wanted,
                                          codec::CoefficientStream& random) {
  FIRN_CHECK(open.count(wanted.which) > 0);
  Chooser chooser(open, wanted);
  if (chooser.takes_all()) {
    chooser.take_all();
  } else {
    chooser.take_fresh();
    chooser.take_by_chance(random);
  }
  return chooser.take_chosen();
}

}  // namespace firn::core::policy
