// One party of the load: a socket of its own that announces, again and again, under one protocol.
// Its thread (crowd.h) tells it when the socket is ready, and when it may ask.
#pragma once

#include <deque>
#include <memory>

#include "proto/base/result.h"
#include "proto/transport/sockets.h"
#include "tests/tracker_load/tally.h"
#include "tests/tracker_load/workload.h"

namespace firn::tracker_load {

struct PartyOptions {
  std::size_t in_flight = 1;     // announces that wait for their replies, at most
  bool fresh = false;            // a connection for each announce
  bool asks_by_itself = true;    // the next announce follows a reply; else ask() says when
  std::size_t check_every = 64;  // of this number of replies one is parsed in full
};

// One thread.
class Party {
 public:
  virtual ~Party() = default;

  // Opens a socket and begins to connect.
  virtual Status begin(TimeUs now) = 0;
  // The socket is ready. An error ends the party; Without a socket it wants begin() again.
  virtual Status go_on(TimeUs now) = 0;
  // One more announce that was due at `due`. False: as many are in flight as may be.
  virtual bool ask(TimeUs due) = 0;
  // After ask(): carries out what was asked.
  virtual Status send_asked(TimeUs now) = 0;
  // Now and then: what was lost on the way is asked again.
  virtual void look(TimeUs) {}

  int fd() const { return socket_.fd(); }
  bool wants_to_write() const { return wants_to_write_; }
  bool open() const { return open_; }

 protected:
  proto::transport::Socket socket_;
  bool wants_to_write_ = false;
  bool open_ = false;
};

// Non-blocking, bound to the party's own address, connecting to `where`. `stream`: TCP, else UDP.
Result<proto::transport::Socket> connect_from(const std::string& ip,
                                              const proto::transport::SocketAddress& where,
                                              bool stream);

}  // namespace firn::tracker_load
