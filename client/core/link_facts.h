// What is known of this host's link beside what each content sees of its own traffic.
//
// The driver owns it, keeps it up to date and hands it to each content's core (Options). One
// thread.
#pragma once

#include <cstdint>

namespace firn::core {

struct LinkFacts {
  // How many times as much may be on its way as where what is sent waits for this link alone: more
  // than 1 where it waits before links of the receivers (proto/transport/queue_trial.h).
  std::uint32_t times_on_way = 1;
  // This machine has an address in a private range (proto/base/address_kind.h).
  bool in_private_range = true;
};

}  // namespace firn::core
