#include "tests/tracker/abuse/host.h"

#include <algorithm>

#include "tests/tracker/abuse/heap_count.h"

namespace firn::tracker::test::abuse {
namespace {

using namespace std::chrono_literals;

using proto::transport::Admission;

constexpr std::size_t kQueueMax = 512;
constexpr int kAcceptedBehind = 2;
constexpr std::int64_t kOverloadUs = 50'000, kHeldBackUs = 250'000;
constexpr Time kHandshake = 200ms, kHandshakeMax = 10s, kIdleMax = 150s;

}  // namespace

Host::Host(const HostOptions& options, std::uint64_t seed)
    : options_(options),
      registry_(options.limits),
      core_(registry_, options.core, seed),
      admission_(Admission::limits_for(options.places, true)) {}

Host::~Host() = default;

Host::Link Host::call(const PeerId& id, const std::string& ip, bool silent) {
  if (queue_.size() >= kQueueMax) return kNone;
  Connection& fresh = connections_[++last_];
  fresh.id = id;
  fresh.ip = ip;
  fresh.silent = silent;
  queue_.push_back(last_);
  return last_;
}

Host::State Host::state(Link link) const {
  const auto found = connections_.find(link);
  if (found == connections_.end()) return State::kClosed;
  return found->second.open ? State::kOpen : State::kWaiting;
}

void Host::hang_up(Link link) {
  const auto found = connections_.find(link);
  if (found == connections_.end()) return;
  const Counting counting;
  if (found->second.open) core_.disconnected(link);
  if (found->second.place) --held_;
  connections_.erase(found);
}

std::optional<proto::TrackerReply> Host::ask(Link link, const proto::TrackerRequest& request,
                                             bool patient) {
  if (lag_us_ >= kHeldBackUs && !patient) return std::nullopt;
  Connection& connection = connections_.at(link);
  lag_us_ += options_.request_us;
  connection.heard = now_;
  const Counting counting;
  connection.place->proven();
  core_.strain(strained());
  return core_.handle(link, request, now_);
}

void Host::step() {
  now_ += kStep;
  lag_us_ = std::max<std::int64_t>(0, lag_us_ - std::chrono::microseconds(kStep).count());
  {
    const Counting counting;
    core_.tick(now_);
  }
  accept_some();
  while (!opening_.empty() && opening_.front().first <= now_) {
    open(opening_.front().second);
    opening_.pop_front();
  }
  look_for_silent();
}

void Host::accept_some() {
  for (int accepted = 0; !queue_.empty(); queue_.pop_front()) {
    if (!connections_.contains(queue_.front())) continue;  // it has hung up
    if (lag_us_ >= kOverloadUs && accepted++ == kAcceptedBehind) return;
    if (!accept(queue_.front())) return;
  }
}

// False: callers wait.
bool Host::accept(Link link) {
  const bool full = held_ >= options_.places;
  if (full && !admission_.may_exchange(ms())) return false;
  Connection& connection = connections_.at(link);
  std::optional<Link> gives_way;
  bool entered = false;
  {
    const Counting counting;
    auto answer = admission_.enter(connection.ip, link, full, ms());
    gives_way = answer.gives_way;
    entered = answer.place.has_value();
    if (entered) connection.place.emplace(std::move(*answer.place));
  }
  if (entered) ++held_;
  if (gives_way) hang_up(*gives_way);
  if (!entered) {
    hang_up(link);
    return true;
  }
  if (!connection.silent) {
    lag_us_ += options_.handshake_us;
    opening_.emplace_back(now_ + kHandshake, link);
  }
  to_be_looked_at_.emplace_back(now_ + kHandshakeMax, link);
  return true;
}

void Host::open(Link link) {
  const auto found = connections_.find(link);
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  const Counting counting;
  connection.place->opened(ms());
  core_.connected(link, connection.id, connection.ip, now_);
  connection.open = true;
  connection.heard = now_;
}

void Host::look_for_silent() {
  while (!to_be_looked_at_.empty() && to_be_looked_at_.front().first <= now_) {
    const Link link = to_be_looked_at_.front().second;
    to_be_looked_at_.pop_front();
    const auto found = connections_.find(link);
    if (found == connections_.end()) continue;
    if (!found->second.open || now_ - found->second.heard >= kIdleMax) {
      hang_up(link);
    } else {
      to_be_looked_at_.emplace_back(now_ + kHandshakeMax, link);
    }
  }
}

Host::Fill Host::fill() {
  const Snapshot snapshot = core_.snapshot();
  Fill fill;
  fill.connections = held_;
  fill.clients = snapshot.connection_count;
  fill.swarms = snapshot.swarm_count;
  fill.peers = snapshot.complete_count + snapshot.incomplete_count;
  if (!snapshot.largest.empty())
    fill.largest_swarm = snapshot.largest.front().complete + snapshot.largest.front().incomplete;
  for (const Envelope& envelope : registry_.hosted_manifests()) {
    ++fill.manifests;
    fill.manifest_bytes += registry_.hosted(envelope)->bytes;
  }
  fill.core = core_.fill();
  return fill;
}

std::string Host::overfull(const Fill& has) const {
  const RegistryLimits& may = options_.limits;
  if (has.connections > options_.places) return "connections";
  if (has.clients > has.connections) return "clients of the core";
  if (has.swarms > may.content_count_max) return "contents";
  if (has.peers > may.peer_count_max) return "peers";
  if (has.largest_swarm > may.peers_per_content_max) return "peers of a content";
  if (has.manifests > may.manifest_count_max) return "manifests";
  if (has.manifest_bytes > may.manifest_bytes_total_max) return "bytes of manifests";
  if (has.core.upload_bytes > options_.core.upload_bytes_total_max) return "bytes of uploads";
  if (has.core.uploading_prefixes > has.connections) return "prefixes that upload";
  if (has.core.networks > options_.core.networks_max) return "networks with rates";
  if (has.core.prefixes > options_.core.networks_max) return "prefixes with rates";
  return {};
}

}  // namespace firn::tracker::test::abuse
