// `firn push` at work: the peer that serves the content, and an ssh for each host. Starts the
// logins, takes the hosts' steps, shows how far they are, and ends them all.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/app/console/console.h"
#include "client/app/console/exit_codes.h"
#include "client/app/driver/peer_driver.h"
#include "client/app/push/host_list.h"
#include "client/app/push/host_push.h"
#include "client/app/push/host_table.h"
#include "client/app/push/ssh_child.h"
#include "client/app/push/ssh_line.h"
#include "client/app/push/tunnel.h"

namespace firn::app {

struct PushSetup {
  std::vector<PushHost> hosts;
  SshOptions ssh;
  std::string constant;         // what ssh runs (remote_start.h)
  std::size_t logins_max = 32;  // at a time
  PushPlan plan;
  std::function<bool()> stop_requested;  // by a signal before the loop runs
};

// Main thread.
class Pushing {
 public:
  // All outlive this. `session` serves the content.
  Pushing(PeerDriver& driver, ContentSession& session, Console& console, const PushSetup& setup);

  // Until all hosts are done and their ssh has ended, or it was interrupted. kNetwork: not all
  // hosts have the content.
  ExitCode run();
  std::vector<HostRow> rows() const;

 private:
  struct Host {
    explicit Host(const PushPlan& plan, const PushHost& host) : push(plan, host) {}

    HostPush push;
    std::unique_ptr<SshChild> child;
    std::unique_ptr<Tunnel> tunnel;
    std::string tunnel_endpoint;  // of its side, as the core sees it; empty: there was none
    std::size_t unwritten = 0;    // at the last tick
    HostState told = HostState::kWaiting;
  };

  core::TimeUs turn(core::TimeUs now);
  void start_logins(core::TimeUs now);
  void start(Host& host, core::TimeUs now);
  void tick(core::TimeUs now);
  void look_for_connections();
  void show(core::TimeUs now);
  void end_all(core::TimeUs now);
  bool all_ended() const;

  void perform(Host& host, core::TimeUs now);
  void on(Host& host, WriteInput& step);
  void on(Host& host, TellOthers& step);
  void on(Host& host, CallPeer& step);
  void on(Host& host, OpenTunnel& step);
  void on(Host& host, GiveTunnel& step);
  void on(Host& host, EndSsh& step);
  void balance(Host& host);
  void call(const proto::PeerEndpoint& endpoint);

  PeerDriver& driver_;
  ContentSession& session_;
  Console& console_;
  const PushSetup& setup_;
  const bool in_private_range_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::size_t next_ = 0;            // of hosts_, to be logged in to
  std::vector<std::string> known_;  // "ID@IP:PORT" of the hosts that came last
  HostChanges changes_;
  core::TimeUs began_at_ = 0;
  core::TimeUs tick_at_ = 0;
  bool ending_ = false;
  bool interrupted_ = false;
};

}  // namespace firn::app
