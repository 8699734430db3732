#include "client/app/push/pushing.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "client/app/net/interface_addresses.h"
#include "client/app/push/push_events.h"
#include "client/app/push/ssh_faults.h"
#include "proto/base/address_kind.h"

namespace firn::app {
namespace {

using core::TimeUs;

constexpr TimeUs kTick = core::kSecond;
constexpr std::size_t kPeersTold = 32;  // to a newcomer; it hears of others from these

}  // namespace

Pushing::Pushing(PeerDriver& driver, ContentSession& session, Console& console,
                 const PushSetup& setup)
    : driver_(driver),
      session_(session),
      console_(console),
      setup_(setup),
      in_private_range_(in_private_range(interface_addresses())) {
  for (const PushHost& host : setup.hosts)
    hosts_.push_back(std::make_unique<Host>(setup.plan, host));
}

std::vector<HostRow> Pushing::rows() const {
  std::vector<HostRow> rows;
  for (const auto& host : hosts_) rows.push_back(host->push.row());
  return rows;
}

ExitCode Pushing::run() {
  EventLoop& loop = driver_.loop();
  began_at_ = loop.now();
  driver_.on_turn([this](TimeUs now) { return turn(now); });
  (void)driver_.run();
  // The peer has left the swarm; the hosts may still be ending.
  loop.on_turn([this, &loop] {
    const TimeUs next = turn(loop.now());
    all_ended() ? loop.stop() : loop.wake_at(next);
  });
  loop.wake();
  loop.run();
  tick(loop.now());
  console_.clear_progress();
  for (const HostRow& row : rows()) console_.event(push_host_event(row));
  const bool all = std::ranges::all_of(
      hosts_, [](const auto& host) { return host->push.row().state == HostState::kComplete; });
  console_.event(push_end_event(rows(), 1e-6 * static_cast<double>(loop.now() - began_at_)));
  return interrupted_ ? ExitCode::kInterrupted : all ? ExitCode::kOk : ExitCode::kNetwork;
}

// --- turns ---

TimeUs Pushing::turn(TimeUs now) {
  if (setup_.stop_requested()) driver_.stop();  // it came before the loop took signals
  if (driver_.stopping() && !ending_) {
    interrupted_ = true;
    console_.info("stopping; once more to stop at once");
    for (const auto& host : hosts_) host->push.give_up("interrupted", now);
    end_all(now);
  }
  if (!ending_) start_logins(now);
  if (now >= tick_at_) tick(now);
  TimeUs next = tick_at_;
  bool all_done = true;
  for (const auto& host : hosts_) {
    if (now >= host->push.next_wake()) host->push.wake(now);
    perform(*host, now);
    next = std::min(next, host->push.next_wake());
    all_done &= host->push.done();
  }
  if (all_done && !ending_) {
    look_for_connections();
    end_all(now);
    driver_.stop();
    for (const auto& host : hosts_) perform(*host, now);
  }
  return next;
}

void Pushing::start_logins(TimeUs now) {
  auto under_way = static_cast<std::size_t>(
      std::ranges::count_if(hosts_, [](const auto& host) { return host->push.logs_in(); }));
  for (; next_ < hosts_.size() && under_way < setup_.logins_max; ++under_way)
    start(*hosts_[next_++], now);
}

void Pushing::start(Host& host, TimeUs now) {
  const HostRow& row = host.push.row();
  const bool alone = hosts_.size() == 1;
  const auto words = ssh_arguments(setup_.ssh, {row.host, row.dir}, alone, setup_.constant);
  EventLoop& loop = driver_.loop();
  SshChild::Events events;
  events.output = [&host, &loop](std::string_view bytes) {
    host.push.output(bytes, loop.now());
    loop.wake();
  };
  events.errors = [&host](std::string_view bytes) { host.push.errors(bytes); };
  events.written = [this, &host] { balance(host); };
  events.ended = [&host, &loop](int code, int signal) {
    host.push.ended(code, signal, loop.now());
    loop.wake();
  };
  auto child = SshChild::start(loop, words, alone, std::move(events));
  if (!child.ok()) return host.push.not_started(no_ssh_fault(words[0], child.error().detail));
  host.child = *std::move(child);
  host.push.started(now);
}

void Pushing::tick(TimeUs now) {
  tick_at_ = now + kTick;
  look_for_connections();
  for (const auto& host : hosts_) {
    host->push.show(now);
    if (!host->child) continue;
    const std::size_t unwritten = host->child->input().unwritten();
    if (unwritten < host->unwritten) host->push.took_input(now);
    host->unwritten = unwritten;
  }
  show(now);
}

void Pushing::look_for_connections() {
  if (!session_.core().made()) return;
  std::map<PeerId, std::string> endpoints;
  for (core::NeighbourReport& peer : session_.core().facts().report().neighbours)
    endpoints[peer.id] = std::move(peer.endpoint);
  for (const auto& host : hosts_) {
    if (!host->push.peer()) continue;
    const auto found = endpoints.find(*host->push.peer());
    if (found != endpoints.end()) host->push.connected(found->second, host->tunnel_endpoint);
  }
}

void Pushing::show(TimeUs now) {
  const std::vector<HostRow> all = rows();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (std::exchange(hosts_[i]->told, all[i].state) != all[i].state)
      console_.event(push_host_event(all[i]));
  console_.event(push_progress_event(all, 1e-6 * static_cast<double>(now - began_at_)));
  for (const std::string& line : changes_.take(all)) console_.progress_change(line);
  const Console::Room room = console_.table_room();
  console_.progress(host_table(all, room.columns, room.lines), hosts_summary(all));
}

void Pushing::end_all(TimeUs now) {
  ending_ = true;
  for (const auto& host : hosts_) host->push.end(now);
}

bool Pushing::all_ended() const {
  return std::ranges::none_of(hosts_, [](const auto& host) { return host->push.running(); });
}

// --- steps of a host ---

void Pushing::perform(Host& host, TimeUs) {
  for (PushStep& step : host.push.take_steps()) std::visit([&](auto& one) { on(host, one); }, step);
  if (host.child && !host.push.running()) {
    host.tunnel.reset();
    host.child.reset();
  }
}

void Pushing::on(Host& host, WriteInput& step) {
  if (!host.child || !host.push.running()) return;
  host.child->input().write(std::move(step.bytes));
  balance(host);
}

void Pushing::on(Host& host, TellOthers& step) {
  if (!session_.plan().core.peer_exchange) return;
  host.push.tell_peers(known_);
  const proto::PeerEndpoint& at = step.endpoint;
  if (at.ip.empty() || !may_be_named_by("", at.ip, true)) return;
  known_.push_back(to_text(Address{at.id, at.ip, at.port}));
  if (known_.size() > kPeersTold) known_.erase(known_.begin());
}

void Pushing::on(Host& host, CallPeer& step) {
  look_for_connections();  // the last look may be a second old
  if (!host.push.row().way.empty()) return;
  if (may_be_named_by("", step.endpoint.ip, in_private_range_)) call(step.endpoint);
}

void Pushing::call(const proto::PeerEndpoint& endpoint) {
  if (session_.running())
    session_.core().feed(&core::SwarmCore::peers_named, std::vector{endpoint});
}

void Pushing::on(Host& host, OpenTunnel& step) {
  EventLoop& loop = driver_.loop();
  auto tunnel = Tunnel::listen(loop, [&host, &loop](PushFrameKind kind, std::string_view bytes) {
    host.push.send_tunnel(kind, bytes);
    loop.wake();
  });
  if (!tunnel.ok()) return console_.warning(tunnel.error().message());
  host.tunnel = *std::move(tunnel);
  host.tunnel->on_written([this, &host] { balance(host); });
  const proto::PeerEndpoint end{step.peer, "127.0.0.1", host.tunnel->port()};
  host.tunnel_endpoint = to_text(Address{{}, end.ip, end.port});
  call(end);
}

void Pushing::on(Host& host, GiveTunnel& step) {
  if (!host.tunnel) return;
  host.tunnel->take(step.frame);
  balance(host);
}

void Pushing::on(Host& host, EndSsh& step) {
  if (host.child) host.child->end(step.at_once);
}

// Backpressure between the session and the tunnel.
void Pushing::balance(Host& host) {
  if (!host.child || !host.tunnel) return;
  host.tunnel->pause(host.child->input().unwritten() > kTunnelBytesWaiting);
  host.child->pause_output(host.tunnel->unwritten() > kTunnelBytesWaiting);
}

}  // namespace firn::app
