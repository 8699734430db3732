#include "tracker/server_mail.h"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace firn::tracker {
namespace {

TEST_CASE("mail comes in the order of each sender, and says when the receiver is to be woken") {
  Mail mail;
  std::vector<std::unique_ptr<Parcel>> parcels;
  for (std::size_t i = 0; i < 5; ++i) {
    parcels.push_back(std::make_unique<Parcel>());
    parcels.back()->connection = i;
    CHECK(mail.put(parcels.back().get()) == (i == 0));
  }
  std::size_t count = 0;
  for (Parcel* parcel = mail.take(); parcel != nullptr; parcel = parcel->next)
    CHECK(parcel->connection == count++);
  CHECK(count == 5);
  CHECK(mail.take() == nullptr);
  CHECK(mail.put(parcels[0].get()));
  (void)mail.take();
}

TEST_CASE("senders on several threads lose nothing, and always wake a receiver that has all") {
  constexpr std::size_t kSenders = 3, kParcels = 20'000;
  Mail mail;
  std::atomic<std::size_t> wakes{0};
  std::vector<std::thread> senders;
  for (std::size_t sender = 0; sender < kSenders; ++sender) {
    senders.emplace_back([&, sender] {
      for (std::size_t i = 0; i < kParcels; ++i) {
        auto parcel = std::make_unique<Parcel>();
        parcel->from = sender;
        parcel->connection = i;
        if (mail.put(parcel.release())) {
          ++wakes;
          wakes.notify_one();
        }
      }
    });
  }
  // Looks only when it is woken, as the tracker does.
  std::vector<std::size_t> next(kSenders);
  std::size_t received = 0;
  for (std::size_t woken = 0; received < kSenders * kParcels;) {
    wakes.wait(woken);
    woken = wakes;
    for (Parcel* parcel = mail.take(); parcel != nullptr;) {
      const std::unique_ptr<Parcel> owned(std::exchange(parcel, parcel->next));
      REQUIRE(owned->connection == next[owned->from]++);
      ++received;
    }
  }
  for (std::thread& sender : senders) sender.join();
  CHECK(mail.take() == nullptr);
}

}  // namespace
}  // namespace firn::tracker
