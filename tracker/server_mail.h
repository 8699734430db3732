// What one I/O thread of the tracker hands to another: requests for contents of the other's shard,
// and their answers. No locks: a sender puts a parcel on top of a pile, the receiver takes the
// pile.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "proto/messages.h"
#include "proto/transport/transport.h"

namespace firn::tracker {

// A request and its answer. Made by the thread of the connection, goes to that of the shard and
// comes back.
struct Parcel {
  enum class Kind { kRequest, kAnswer, kClosed };
  Kind kind = Kind::kRequest;
  proto::transport::ConnectionId connection = 0;
  std::size_t from = 0;  // thread
  PeerId peer;
  std::string ip;
  proto::TrackerRequest request;
  std::vector<std::uint8_t> answer;  // frames
  std::uint64_t place = 0;           // in the connection's line, the first has 0
  Parcel* next = nullptr;
};

// Of one receiver. Owns the parcels that lie in it.
class Mail {
 public:
  Mail() = default;
  Mail(const Mail&) = delete;
  Mail& operator=(const Mail&) = delete;
  ~Mail() {
    for (Parcel* parcel = take(); parcel != nullptr;) delete std::exchange(parcel, parcel->next);
  }

  // Any thread. True: it was empty, and the receiver is to be woken.
  bool put(Parcel* parcel) {
    Parcel* below = top_.load(std::memory_order_relaxed);
    do {
      parcel->next = below;
    } while (!top_.compare_exchange_weak(below, parcel, std::memory_order_release,
                                         std::memory_order_relaxed));
    return below == nullptr;  // the parcel is the receiver's now
  }

  // The receiver: all that has come, those of each sender in the order in which it put them.
  Parcel* take() {
    Parcel* pile = top_.exchange(nullptr, std::memory_order_acquire);
    Parcel* first = nullptr;
    while (pile != nullptr) {
      Parcel* const below = pile->next;
      pile->next = first;
      first = pile;
      pile = below;
    }
    return first;
  }

 private:
  std::atomic<Parcel*> top_{nullptr};
};

}  // namespace firn::tracker
