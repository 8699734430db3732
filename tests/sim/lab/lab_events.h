// The kinds of events in a lab's queue, and how a value holds two numbers.
#pragma once

#include <cstdint>

namespace firn::sim {

enum LabEventKind : std::uint32_t {
  // Of links (links.h).
  kArrived,       // value: slot of the frame
  kBurst,         // at the downlink; value: slot and bytes, as of the next two
  kThrough,       // the downlink
  kLost,          // and its sender hears of it
  kAcknowledged,  // value: key and bytes
  kDeparted,      // value: key of the connection
  kClosing,       // the other end's last byte is at the downlink; value: key
  kOtherClosed,   // value: key
  // Of peers (lab.h).
  kStart,
  kCalled,         // value: attempt and caller
  kConnected,      // value: attempt and key
  kConnectFailed,  // value: attempt
  kAnnounced,      // value: addresses wanted
  kNoTracker,
  kDecoded,   // value: generation
  kFinished,  // the store has finished the content
  kWake,      // value: when it was armed for
  kWoken,     // it was told something while it acted
  kCrash,
  kLeave,
  kChangesMind,
  kSeeks,    // a viewer
  kRenamed,  // a hostile peer takes a fresh identity
  kFetched,  // from the origin; value: generation
  kNotFetched,
  kOriginOpen,  // value: 0 or 1
  // Of the origin (web_server.h).
  kAsked,   // value: the peer whose oldest request it is
  kServed,  // value: when it was armed for
  kDies,    // value: microseconds until it is back
};

inline bool is_of_links(std::uint32_t kind) {
  return kind < kStart;
}

inline std::uint64_t pair(std::uint64_t first, std::uint32_t second) {
  return first << 32 | second;
}

}  // namespace firn::sim
