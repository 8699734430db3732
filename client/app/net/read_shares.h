// How far each connection is read: one peer's messages are to starve neither the main thread nor
// the other peers.
//
// Blocks are bounded by the credit that was granted for them. Nothing bounds the control messages
// (States, exchanges, requests): a connection may have `share_bytes` of them waiting for the main
// thread, and is read at kControlsPerSecond; past that it is not read for a while, and TCP holds
// its sender back. No honest peer comes near the rate: it sends a State every 2 ms at most.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "client/core/base/types.h"
#include "proto/base/token_bucket.h"
#include "proto/transport/transport.h"

namespace firn::app {

// Its user's thread, or behind its user's lock.
class ReadShares {
 public:
  using ConnectionId = proto::transport::ConnectionId;

  // Control messages read in a second; one of more than 1 KiB counts once for each KiB.
  static constexpr std::uint64_t kControlsPerSecond = 1000;
  // So many may come at once: after a pause, or where a peer tells all that it holds.
  static constexpr std::uint64_t kControlsAtOnce = 4000;
  // A connection that was over its rate is read again once this many may come, not at each.
  static constexpr std::uint64_t kControlsResumed = 100;

  // `share_bytes`: of control messages of one connection in the queue.
  explicit ReadShares(std::size_t share_bytes) : share_bytes_(share_bytes) {}

  // Whether a control message that takes `memory_bytes` fills the connection's share.
  bool fills(ConnectionId connection, std::size_t memory_bytes) const;
  // A control message has come, `frame_bytes` long. `paused`: its connection is read no further.
  void control_came(ConnectionId connection, std::size_t memory_bytes, std::size_t frame_bytes,
                    bool paused);
  // Any other message after which its connection is read no further.
  void paused(ConnectionId connection) { readers_[connection].paused = true; }
  void closed(ConnectionId connection) { readers_.erase(connection); }

  struct Change {
    ConnectionId connection;
    bool pause;  // else it is to be read again
  };
  // The main thread has taken all that waited.
  std::vector<Change> taken(core::TimeUs now);
  // When taken() has something to change though nothing has come; kNever: not before something
  // does.
  core::TimeUs next_due() const { return next_due_; }

 private:
  static constexpr std::uint64_t kControlBytes = 1024;  // charged for one, at least
  struct Reader {
    std::size_t waiting_bytes = 0;
    std::uint64_t spent = 0;  // bytes charged since taken()
    TokenBucket earned{kControlsPerSecond * kControlBytes, kControlsAtOnce* kControlBytes, 0};
    bool paused = false;
    bool overdrawn = false;  // paused until it has earned kControlsResumed
  };

  const std::size_t share_bytes_;
  std::unordered_map<ConnectionId, Reader> readers_;
  core::TimeUs next_due_ = core::kNever;
};

}  // namespace firn::app
