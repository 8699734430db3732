// Why no blocks go from one peer to another now: the answer of a sender's policy that has no block,
// shown to people for each neighbour. What each reason is called: client/app/session/peer_table.
#pragma once

#include <cstdint>

namespace firn::core {

// In the order in which they are looked at.
enum class WhyNot : std::uint8_t {
  // --- what the receiver says or lacks ---
  kNotHeard,       // it has not said what it holds
  kWantsNothing,   // it holds all that it wants
  kSuspended,      // suspended: it sent false rows, by check sums of peers that may lie
  kLastVersion,    // of the last version, and takes only blocks that this version cannot make
  kNoCredit,       // it has not granted more blocks
  kNothingHeld,    // the sender holds nothing that it lacks
  kNothingProven,  // it takes only proven, or only trusted rows, and the sender has none
  kOthersSend,     // it has divided its last rows among other neighbours
  kNotAskedFor,    // it fetches block by block, and asks for no block that the sender holds
  kNoNews,         // it holds what the sender has, or that is on its way
  kFront,          // at the front of the download the sender relays only first-hand rows
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
