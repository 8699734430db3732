// What lab.cc (peers: their lives, cores and meetings) and lab_links.cc (frames on links) share.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "tests/sim/lab/lab.h"

namespace firn::sim {

enum Kind : std::uint32_t {
  kStart,
  kArrived,        // value: slot of frames_
  kBurst,          // at the downlink; value: slot and bytes, as of the next two
  kThrough,        // the downlink
  kLost,           // so its sender hears
  kAcknowledged,   // value: key and bytes
  kDeparted,       // value: key of the connection
  kClosing,        // the other end's last byte is at the downlink; value: key
  kOtherClosed,    // value: key
  kCalled,         // value: attempt and caller
  kConnected,      // value: attempt and key
  kConnectFailed,  // value: attempt
  kAnnounced,      // value: addresses wanted
  kNoTracker,
  kDecoded,   // value: generation
  kFinished,  // the store has finished the content
  kWake,      // value: when it was armed for
  kCrash,
  kLeave,
};

// Of an event's value.
inline std::uint64_t pair(std::uint64_t first, std::uint32_t second) {
  return first << 32 | second;
}

struct Lab::Peer {
  std::uint32_t index = 0;
  LabPeerSpec spec;
  PeerId id;
  std::uint64_t life = 0;
  std::unique_ptr<core::SwarmCore> core;
  TimeUs armed = kNever;
  bool acting = false;
  bool transmitting = false;
  Slot sending = 0;         // the frame, while transmitting
  std::uint32_t burst = 0;  // of it, where that is not all
  Downlink downlink;
  std::deque<core::PeerKey> turns;  // connections with queued frames, the next one first
  std::vector<std::uint32_t> rows;  // of generations under way
  std::uint64_t rows_held = 0;
  LabPeerResult result;
};

}  // namespace firn::sim
