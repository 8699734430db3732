#include "tracker/server.h"

#include <utility>

#include "tracker/request_text.h"

namespace firn::tracker {
namespace {

using proto::transport::Identity;
using proto::transport::PeerInfo;
using proto::transport::Transport;

// There is one reply at a time on each connection.
constexpr proto::transport::FrameTag kReply = 1;

Time steady_now() {
  return std::chrono::duration_cast<Time>(std::chrono::steady_clock::now().time_since_epoch());
}

ServerOptions with_clock(ServerOptions options) {
  if (!options.clock) options.clock = steady_now;
  return options;
}

}  // namespace

Server::Server(Registry& registry, ServerOptions options)
    : registry_(registry),
      options_(with_clock(std::move(options))),
      core_(registry, options_.core, options_.seed) {}

Result<std::unique_ptr<Server>> Server::start(const Identity& identity, Registry& registry,
                                              ServerOptions options) {
  std::unique_ptr<Server> server(new Server(registry, std::move(options)));
  auto transport = Transport::start(identity, *server, server->options_.transport);
  if (!transport) return transport.error();
  server->transport_owner_ = std::move(transport).value();
  server->transport_ = server->transport_owner_.get();
  server->thread_ = std::thread([raw = server.get()] { raw->run(); });
  return server;
}

Server::~Server() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
  transport_owner_.reset();
}

Result<Address> Server::listen(const Address& where) {
  return transport_->listen(where);
}

void Server::serve(ServedLists lists) {
  push(std::move(lists));
}

void Server::look(std::function<void(const Snapshot&)> take) {
  push(std::move(take));
}

// --- I/O threads ---

void Server::push(Input input) {
  const std::lock_guard lock(mutex_);
  inputs_.push_back(std::move(input));
  wake_.notify_one();
}

void Server::on_open(ConnectionId id, const PeerInfo& info) {
  push(Opened{id, info});
}

Status Server::on_frame(ConnectionId id, std::span<const std::uint8_t> frame) {
  auto request = proto::parse_tracker_request(frame);
  if (!request) {
    const proto::TrackerError error{proto::TrackerErrorCode::kMalformed, request.error().detail, 0};
    transport_->send(id, proto::serialize(proto::TrackerReply(error)));
    return request.error();
  }
  transport_->pause_reading(id, true);
  const std::lock_guard lock(mutex_);
  if (queued_bytes_ + frame.size() > options_.queue_bytes_max) {
    inputs_.push_back(Overloaded{id});
  } else {
    queued_bytes_ += frame.size();
    inputs_.push_back(Asked{id, frame.size(), std::move(request).value()});
  }
  wake_.notify_one();
  return Done{};
}

void Server::on_departed(ConnectionId id, proto::transport::FrameTag) {
  transport_->pause_reading(id, false);  // the reply has left: the next request may come
}

void Server::on_close(ConnectionId id, const Error&) {
  push(Closed{id});
}

// --- the core thread ---

void Server::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const Time now = options_.clock();
    if (inputs_.empty() && now < core_.wake_at()) {
      wake_.wait_for(lock, core_.wake_at() - now);
      continue;
    }
    if (inputs_.empty()) {
      lock.unlock();
      tick();
      lock.lock();
      continue;
    }
    const Input input = std::move(inputs_.front());
    inputs_.pop_front();
    if (const auto* asked = std::get_if<Asked>(&input)) queued_bytes_ -= asked->bytes;
    lock.unlock();
    std::visit([this](const auto& one) { take(one); }, input);
    if (options_.clock() >= core_.wake_at()) tick();
    lock.lock();
  }
  lock.unlock();
  tick();
}

void Server::take(const Opened& input) {
  core_.connected(input.id, input.info.id, input.info.ip, options_.clock());
}

void Server::take(const Asked& input) {
  const proto::TrackerReply answer = core_.handle(input.id, input.request, options_.clock());
  if (options_.log_requests)
    log(LogLevel::kDebug, core_.name_of(input.id) + ": " + text_of(input.request, answer));
  reply(input.id, answer);
}

void Server::take(const Overloaded& input) {
  reply(input.id, proto::TrackerError{proto::TrackerErrorCode::kSlowDown,
                                      "the tracker has too much to do", 1});
}

void Server::take(const Closed& input) {
  core_.disconnected(input.id);
}

void Server::take(const ServedLists& input) {
  core_.serve(input);
}

void Server::take(const Look& input) {
  input(core_.snapshot());
}

void Server::reply(ConnectionId id, const proto::TrackerReply& reply) {
  transport_->send(id, proto::serialize(reply), kReply);
}

void Server::tick() {
  core_.tick(options_.clock());
  const Status flushed = registry_.flush();
  if (!flushed && !flush_failed_)
    log(LogLevel::kWarning, flushed.error().message() + "; going on in memory, trying again");
  if (flushed && flush_failed_) log(LogLevel::kInfo, "the database can be written again");
  flush_failed_ = !flushed;
}

void Server::log(LogLevel level, const std::string& text) const {
  if (options_.log) options_.log(level, text);
}

}  // namespace firn::tracker
