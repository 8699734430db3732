// The host's side of `firn push`, as `firn receive`: takes the order from standard input, tells on
// standard output how far the download is, and ends when it is told to or its standard input ends.
// What it says and hears: host_push.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "client/app/console/exit_codes.h"
#include "client/app/driver/peer_driver.h"
#include "client/app/push/byte_stream.h"
#include "client/app/push/frames.h"
#include "client/app/push/order.h"
#include "client/app/push/tunnel.h"

namespace firn::app {

// How the user's machine and this one see each other, as sshd says in SSH_CONNECTION. Empty: not
// known.
struct SshAddresses {
  std::string client, server;

  static SshAddresses of_environment();
};

// Waits for the order on `descriptor`; what comes behind it stays in `reader`. Errors: kBadInput (a
// terminal, or the end), kProtocol.
Result<PushOrder> read_order(int descriptor, PushFrameReader& reader);

// Main thread.
class Receiving {
 public:
  // `session`, of `driver`, downloads. `reader`: of read_order(). All outlive this.
  Receiving(PeerDriver& driver, ContentSession& session, PushFrameReader reader,
            const SshAddresses& addresses);

  // As PeerDriver::run(). Errors: kBadInput (standard input or output is no pipe).
  Result<ExitCode> run();

 private:
  core::TimeUs turn(core::TimeUs now);
  void heard(std::string_view bytes);
  void take_frames();
  void obey(const PushFrame& frame);
  void tell_ready();
  void tell_progress();
  void send(PushFrameKind kind, std::string_view payload);
  void balance();

  PeerDriver& driver_;
  ContentSession& session_;
  PushFrameReader reader_;
  const SshAddresses addresses_;
  std::unique_ptr<ByteStream> in_, out_;
  std::unique_ptr<Tunnel> tunnel_;
  core::TimeUs tell_at_ = 0;
  bool told_complete_ = false;
};

}  // namespace firn::app
