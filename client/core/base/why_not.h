// Why no blocks go from one peer to another now: what a sender's choice answers where it has no
// block, and what people are told of each neighbour.
#pragma once

#include <cstdint>

namespace firn::core {

// In the order in which they are looked at.
enum class WhyNot : std::uint8_t {
  // --- what the receiver says or lacks ---
  kNotHeard,       // it has not said what it holds
  kWantsNothing,   // it holds all that it wants
  kSuspended,      // it is suspended: it sent false rows, by the word of others
  kLastVersion,    // it is of the last version, and takes nothing but what this version cannot make
  kNoCredit,       // it has not granted more blocks
  kNothingHeld,    // the sender holds nothing that it lacks
  kNothingProven,  // nothing of that kind of rows which it takes alone: proven or trusted ones
  kOthersSend,     // it shares its last rows out among its neighbours, and others are to send these
  kNotAskedFor,    // it fetches block by block, and asks for no block that the sender holds
  kNoNews,         // it holds what the sender has, as far as that is known, or it is on its way
  kFront,          // the sender relays what is at the front of the download only as it first came
  // --- at the sender ---
  kSocketFull,   // what was sent before waits in the receiver's socket
  kUplinkBusy,   // as many blocks as the uplink carries wait, for others
  kRateLimit,    // a limit of the rate
  kOthersFirst,  // it comes last: it brings too little for what it gets, or has proved nothing yet
  // --- at a receiver that grants nothing ---
  kDiskPaused,  // the disk takes nothing
  kMemoryFull,  // as much is granted as memory holds
  kOwesBlocks,  // nothing stands against it, and nothing comes
};

}  // namespace firn::core
