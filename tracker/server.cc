#include "tracker/server.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace firn::tracker {
namespace {

using proto::transport::Identity;
using proto::transport::PeerInfo;
using proto::transport::Transport;

constexpr std::chrono::minutes kProxyWarningEvery{1};
// Behind by that much, new connections wait; by twice that, announces that come too early do.
constexpr std::chrono::milliseconds kOverloadLag{50};
constexpr std::uint64_t kCheckedAtOnceMax = 64 << 10;  // bytes of a manifest: 4 ms
constexpr std::chrono::milliseconds kTick{250};  // how often it is looked whether time is over

Time steady_now() {
  return std::chrono::duration_cast<Time>(std::chrono::steady_clock::now().time_since_epoch());
}

ServerOptions completed(ServerOptions options, std::size_t shards) {
  if (!options.clock) options.clock = steady_now;
  options.transport.io_threads = static_cast<int>(shards);
  options.transport.threads_by_prefix = true;  // rates of networks are kept by the thread
  options.transport.tick = kTick;
  options.transport.overload_lag = kOverloadLag;
  options.core.ledger = std::make_shared<PublisherLedger>();
  options.core.checked_at_once_max = kCheckedAtOnceMax;
  options.core.upload_room = std::make_shared<UploadRoom>(options.core.upload_bytes_total_max,
                                                          shards, options.core.manifest_bytes_max);
  return options;
}

}  // namespace

Server::Server(ServerOptions options)
    : options_(std::move(options)), desk_options_{options_.core,         options_.seed,
                                                  options_.clock,        options_.log,
                                                  options_.log_requests, &worker_} {}

Result<std::unique_ptr<Server>> Server::start(const Identity& identity,
                                              const std::vector<Registry*>& shards,
                                              ServerOptions options) {
  FIRN_CHECK(!shards.empty());
  std::unique_ptr<Server> server(new Server(completed(std::move(options), shards.size())));
  for (Registry* registry : shards)
    server->desks_.push_back(std::make_unique<Desk>(*registry, server->desk_options_,
                                                    server->desks_.size(), server->desks_));
  server->rules_taken_.resize(shards.size());
  server->looks_.resize(shards.size());
  server->turned_away_.resize(shards.size());
  auto transport = Transport::start(identity, *server, server->options_.transport);
  if (!transport) return transport.error();
  server->transport_owner_ = std::move(transport).value();
  // Nothing is asked before it listens.
  for (const auto& desk : server->desks_) desk->use(*server->transport_owner_);
  server->transport_ = server->transport_owner_.get();
  return server;
}

Server::~Server() {
  worker_.stop();            // it uses the desks and the transport
  transport_owner_.reset();  // no request is answered any more
  if (transport_ == nullptr) return;
  for (const auto& desk : desks_) desk->flush();
}

Result<Address> Server::listen(const Address& where) {
  return transport_owner_->listen(where);
}

void Server::change(DeskRules rules) {
  const std::lock_guard lock(rules_mutex_);
  rules_ = std::move(rules);
  rules_number_.fetch_add(1);
}

void Server::look(std::function<void(const Snapshot&)> take) {
  const std::lock_guard lock(looks_mutex_);
  looks_.front().push_back({{}, std::move(take)});
  transport_.load()->wake(0);
}

// --- the I/O threads ---

void Server::pass_looks(std::size_t thread) {
  std::unique_lock lock(looks_mutex_);
  std::vector<Look> looks = std::exchange(looks_[thread], {});
  lock.unlock();
  for (Look& look : looks) {
    look.sum.add(desks_[thread]->snapshot());
    look.sum.lag = std::max(look.sum.lag, lag_of(thread));
    if (thread + 1 == desks_.size()) {
      look.take(look.sum);
      continue;
    }
    lock.lock();
    looks_[thread + 1].push_back(std::move(look));
    lock.unlock();
    transport_.load()->wake(thread + 1);
  }
}

std::chrono::microseconds Server::lag_of(std::size_t thread) const {
  return options_.lag ? options_.lag(thread) : transport_.load()->lag_of(thread);
}

Desk& Server::desk_of(ConnectionId id) {
  return *desks_[transport_.load()->thread_of(id)];
}

void Server::take_rules(std::size_t thread) {
  if (rules_taken_[thread] == rules_number_.load()) return;
  const std::lock_guard lock(rules_mutex_);
  rules_taken_[thread] = rules_number_.load();
  desks_[thread]->change(rules_);
}

void Server::on_open(ConnectionId id, const PeerInfo& info) {
  if (!draining_.load(std::memory_order_relaxed)) return desk_of(id).opened(id, info);
  turned_away_[transport_.load()->thread_of(id)].insert(id);
  transport_.load()->close(id);
}

void Server::on_close(ConnectionId id, const Error&) {
  if (turned_away_[transport_.load()->thread_of(id)].erase(id) > 0) return;
  desk_of(id).closed(id);
}

// The transport asks on_request().
Status Server::on_frame(ConnectionId, std::span<const std::uint8_t>) {
  return Done{};
}

Status Server::on_request(ConnectionId id, std::span<const std::uint8_t> frame, Replies& replies) {
  const std::size_t thread = transport_.load()->thread_of(id);
  take_rules(thread);
  desks_[thread]->strain(lag_of(thread) >= 2 * kOverloadLag);
  if (turned_away_[thread].contains(id))
    return Error{ErrorCode::kCancelled, "answer a request", "this tracker is stopping"};
  return desk_of(id).requested(id, frame, replies);
}

void Server::on_woken(std::size_t thread) {
  take_rules(thread);
  desks_[thread]->strain(lag_of(thread) >= 2 * kOverloadLag);
  desks_[thread]->woken();
  pass_looks(thread);
}

void Server::on_tick(std::size_t thread) {
  if (transport_.load() == nullptr) return;  // it starts
  take_rules(thread);
  desks_[thread]->look_at_time();
}

void Server::on_proxy_refused(const Error& error) {
  const Time now = options_.clock();
  if (!options_.log || (proxy_refused_ && now - *proxy_refused_ < kProxyWarningEvery)) return;
  proxy_refused_ = now;
  options_.log(LogLevel::kWarning,
               error.message() + "; the proxy must send version 2 before each connection");
}

}  // namespace firn::tracker
