// Orders from any thread to one I/O thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <variant>
#include <vector>

#include "proto/base/address.h"
#include "proto/messages.h"
#include "proto/transport/admission.h"
#include "proto/transport/sockets.h"
#include "proto/transport/transport.h"
#include "proto/transport/wakeup.h"

namespace firn::proto::transport {

struct ConnectOrder {
  ConnectionId id;
  Address where;
};
struct AdoptOrder {  // a socket that another thread's listener accepted
  ConnectionId id;
  Socket socket;
  SocketAddress remote;
  Admission::Place place;
};
struct ListenOrder {
  Socket socket;
};
struct SendOrder {
  ConnectionId id;
  std::variant<OutgoingFrame, std::vector<Block>> what;
  FrameTag tag;  // of several blocks: the last one's; the others have none
};
struct OverflowOrder {  // more was sent than the queue may hold
  ConnectionId id;
};
struct CloseOrder {
  ConnectionId id;
};
struct PauseOrder {
  ConnectionId id;
  bool paused;
};
struct GiveWayOrder {  // its place was given to a newcomer (admission.h)
  ConnectionId id;
};
struct StopOrder {};

using Order = std::variant<ConnectOrder, AdoptOrder, ListenOrder, SendOrder, OverflowOrder,
                           CloseOrder, PauseOrder, GiveWayOrder, StopOrder>;

// Orders keep their order. Bound: the frames of one connection that wait here never exceed
// `send_bytes_max`; the first that would is dropped and becomes an OverflowOrder, later ones are
// dropped.
class Mailbox {
 public:
  explicit Mailbox(std::size_t send_bytes_max) : send_bytes_max_(send_bytes_max) {}

  // `wake` is signalled when the mailbox stops being empty, until close(). It must live as long as
  // a thread may post.
  void open(Wakeup* wake);
  void close();

  // Any thread. False: closed, the order is gone.
  bool post(Order order);
  bool post_send(ConnectionId id, OutgoingFrame frame, FrameTag tag);
  bool post_run(ConnectionId id, std::vector<Block> blocks, std::size_t frame_bytes, FrameTag tag);

  // The I/O thread: takes all that waits, in place of what is in `orders`, whose memory the next
  // orders get.
  void take(std::vector<Order>& orders);
  // Bytes of `id`'s frames that wait here.
  std::size_t waiting_bytes(ConnectionId id) const;

 private:
  bool post_frames(ConnectionId id, std::size_t bytes, Order order);
  bool post_and_unlock(Order order, std::unique_lock<std::mutex>& lock);

  const std::size_t send_bytes_max_;
  mutable std::mutex mutex_;
  Wakeup* wake_ = nullptr;  // null: closed
  std::vector<Order> orders_;
  // Of the frames that wait here, by connection. What take() took stays, out of date: a busy
  // connection's next frame needs no memory then. Nothing is kept of many that have gone quiet.
  struct Waiting {
    std::size_t bytes = 0;
    std::uint64_t round = 0;  // of take(): of another one, nothing waits
  };
  static constexpr std::size_t kWaitingKept = 32'768;
  std::uint64_t round_ = 0;
  std::unordered_map<ConnectionId, Waiting> waiting_;
};

}  // namespace firn::proto::transport
