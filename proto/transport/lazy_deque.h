// A queue that takes no memory before something was put into it: a standard one takes 600 bytes,
// and most connections of a tracker never queue anything.
#pragma once

#include <deque>
#include <memory>
#include <utility>

namespace firn::proto::transport {

template <typename T>
class LazyDeque {
 public:
  bool empty() const { return !items_ || items_->empty(); }
  // Of one that is not empty.
  T& front() { return items_->front(); }
  const T& front() const { return items_->front(); }
  void pop_front() { items_->pop_front(); }
  void push_back(T item) {
    if (!items_) items_ = std::make_unique<std::deque<T>>();
    items_->push_back(std::move(item));
  }

 private:
  std::unique_ptr<std::deque<T>> items_;
};

}  // namespace firn::proto::transport
