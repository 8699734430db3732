// The one of many items that comes before all others, in memory of one number for each: a binary
// heap whose items know their places.
#pragma once

#include <cstdint>

namespace firn::tracker {

// One thread. Slots: an array of numbers (number_list.h, chunked_array.h). An Order says which of
// two comes before the other, and keeps an item's place:
//   bool before(std::uint32_t a, std::uint32_t b);
//   std::uint32_t& place(std::uint32_t number);
template <class Slots>
class NumberHeap {
 public:
  std::uint32_t size() const { return slots_.size(); }
  std::uint32_t top() const { return slots_[0]; }

  template <class Order>
  void push(std::uint32_t number, const Order& order) {
    slots_.push_back(number);
    rise(slots_.size() - 1, number, order);
  }
  template <class Order>
  void remove(std::uint32_t number, const Order& order) {
    const std::uint32_t place = order.place(number), last = slots_[slots_.size() - 1];
    slots_.pop_back();
    if (last == number) return;
    put(place, last, order);
    update(last, order);
  }
  // After what orders it has changed.
  template <class Order>
  void update(std::uint32_t number, const Order& order) {
    const std::uint32_t place = order.place(number);
    if (place > 0 && order.before(number, slots_[(place - 1) / 2])) {
      rise(place, number, order);
    } else {
      sink(place, number, order);
    }
  }
  // `to` stands in the order as `number` does.
  template <class Order>
  void replace(std::uint32_t number, std::uint32_t to, const Order& order) {
    put(order.place(number), to, order);
  }

 private:
  template <class Order>
  void put(std::uint32_t place, std::uint32_t number, const Order& order) {
    slots_[place] = number;
    order.place(number) = place;
  }
  template <class Order>
  void rise(std::uint32_t place, std::uint32_t number, const Order& order) {
    while (place > 0 && order.before(number, slots_[(place - 1) / 2])) {
      put(place, slots_[(place - 1) / 2], order);
      place = (place - 1) / 2;
    }
    put(place, number, order);
  }
  template <class Order>
  void sink(std::uint32_t place, std::uint32_t number, const Order& order) {
    for (;;) {
      std::uint32_t child = 2 * place + 1;
      if (child >= slots_.size()) break;
      if (child + 1 < slots_.size() && order.before(slots_[child + 1], slots_[child])) ++child;
      if (!order.before(slots_[child], number)) break;
      put(place, slots_[child], order);
      place = child;
    }
    put(place, number, order);
  }

  Slots slots_;
};

}  // namespace firn::tracker
