// One host of `firn push`, from the start of its ssh to its end: what the remote says goes in, with
// the time, and steps for its owner come out. No I/O and no clock.
//
//   ssh starts            kConnecting   what a login shell says is passed over, up to the answer of
//                                       remote_start.h
//   the remote answers    kStarting     it starts its own firn, or gets one
//   `firn receive` runs   kReceiving    frames both ways (frames.h): the order, then
//     from the remote:  {"ready":PORT,"peer":ID,"address":IP}    it listens
//                       {"progress":{"done":N,"total":N,"rate":X,"reason":TEXT}}
//                         with "checks":true in it while the remote reads what is there
//                       {"complete":true}
//     to it:            {"peers":["ID@IP:PORT",...]}   others that have the content, or get it
//                       {"tunnel":true}                a connection may come through ssh
//                       {"end":true}
//
// Whatever a remote says is bounded and may cost that host its place, never another one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "client/app/console/events.h"
#include "client/app/push/frames.h"
#include "client/app/push/host_list.h"
#include "client/app/push/host_row.h"
#include "client/app/push/order.h"
#include "client/app/push/recent_lines.h"
#include "client/core/base/types.h"
#include "proto/base/result.h"
#include "proto/messages.h"

namespace firn::app {

// A firn that is copied to hosts.
struct PushProgram {
  std::string digest;
  std::shared_ptr<const std::string> archive;
  // Why it does not run on such a machine with such a glibc; empty: it does.
  std::function<std::string(const std::string& machine, const std::string& glibc)> fault;
};

// What all hosts of a push have in common.
struct PushPlan {
  PushOrder order;                               // each host has its own `dir`
  core::TimeUs login_time = 30 * core::kSecond;  // a login that gets no further has failed
  core::TimeUs timeout = core::kNever;           // as has a download without progress
  std::optional<PushProgram> program;            // for hosts that have no firn of this version
  std::string version;                           // of this program
};

// Steps of its owner.
struct WriteInput {  // to the remote's standard input
  std::shared_ptr<const std::string> bytes;
};
struct TellOthers {  // its firn listens there, so it says; no ip: it names none
  proto::PeerEndpoint endpoint;
};
struct CallPeer {
  proto::PeerEndpoint endpoint;
};
struct OpenTunnel {  // the connection is to go through the session
  PeerId peer;
};
struct GiveTunnel {  // a frame for the tunnel
  PushFrame frame;
};
struct EndSsh {
  bool at_once = false;  // it has been asked to end
};
using PushStep = std::variant<WriteInput, TellOthers, CallPeer, OpenTunnel, GiveTunnel, EndSsh>;

class HostPush {
 public:
  // How long a host that is ready may call before it is called. Where it is not connected and gets
  // nothing for kTunnelAfter, there is a tunnel.
  static constexpr core::TimeUs kCallAfter = 1 * core::kSecond;
  static constexpr core::TimeUs kTunnelAfter = 5 * core::kSecond;
  // How long it may take to end when it is asked to.
  static constexpr core::TimeUs kEndTime = 10 * core::kSecond;

  // `plan` outlives this.
  HostPush(const PushPlan& plan, PushHost host);

  // --- inputs ---
  // Its ssh runs.
  void started(core::TimeUs now);
  // It could not be started. `why`: for people.
  void not_started(const std::string& why);
  void output(std::string_view bytes, core::TimeUs now);
  void errors(std::string_view bytes) { lines_.feed(bytes); }
  // Ssh has taken bytes that were waiting.
  void took_input(core::TimeUs now) { progressed_at_ = now; }
  // Its peer is connected to the pusher's, or was. `endpoint`: "IP:PORT" of its side of the
  // connection; `tunnel`: as it would be of one through the session.
  void connected(std::string_view endpoint, std::string_view tunnel);
  void ended(int code, int signal, core::TimeUs now);
  // Others that it may call, "ID@IP:PORT".
  void tell_peers(const std::vector<std::string>& peers);
  // A frame of the tunnel is for the remote.
  void send_tunnel(PushFrameKind kind, std::string_view bytes);
  // It has failed, unless it is done; its ssh runs on.
  void give_up(std::string reason, core::TimeUs now);
  // All hosts are done: it is to end.
  void end(core::TimeUs now);
  void wake(core::TimeUs now);

  // --- what follows ---
  std::vector<PushStep> take_steps();
  core::TimeUs next_wake() const;

  const HostRow& row() const { return row_; }
  // Bytes that it has got, time since it began.
  void show(core::TimeUs now);
  bool begun() const { return row_.state != HostState::kWaiting; }
  // Its login is under way.
  bool logs_in() const { return begun() && !done() && !peer_; }
  // It has all or has failed.
  bool done() const { return row_.state >= HostState::kComplete; }
  // Its ssh runs.
  bool running() const { return running_; }
  // Its peer, once it is ready.
  const std::optional<PeerId>& peer() const { return peer_; }

 private:
  enum class Speech { kNoise, kOrders, kFrames };

  void line(std::string_view text, core::TimeUs now);
  void answered(std::string_view words, core::TimeUs now);
  void start_program(core::TimeUs now);
  void install(core::TimeUs now);
  void begin_frames(core::TimeUs now);
  void frame(PushFrame frame, core::TimeUs now);
  void ready(const Json& said, core::TimeUs now);
  void progress(const Json& said, core::TimeUs now);
  void complete(core::TimeUs now);
  void break_off(std::string reason, core::TimeUs now);
  void no_firn_speaks(core::TimeUs now);
  void write(std::string bytes);
  void send(const Json& message);
  core::TimeUs patience_ends() const;
  void connect(core::TimeUs now);

  const PushPlan& plan_;
  HostRow row_;
  Speech speech_ = Speech::kNoise;
  std::string line_;  // unfinished
  std::size_t noise_bytes_ = 0;
  std::string other_version_;  // of the host's own firn; empty: it is ours
  PushFrameReader reader_;
  RecentLines lines_;
  std::optional<PeerId> peer_;
  bool running_ = false;
  bool broken_off_ = false;  // nothing that it says matters any more
  bool called_ = false;
  bool tunnel_ = false;  // it was opened
  core::TimeUs began_at_ = 0;
  core::TimeUs progressed_at_ = 0;
  core::TimeUs ready_at_ = 0;
  std::string port_;                             // that it listens at, ":PORT"
  std::optional<proto::PeerEndpoint> endpoint_;  // while it is not connected
  core::TimeUs end_by_ = core::kNever;
  std::vector<PushStep> steps_;
};

}  // namespace firn::app
