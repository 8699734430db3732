#include "tests/tracker/abuse/crowd.h"

#include <algorithm>
#include <cmath>

namespace firn::tracker::test::abuse {
namespace {

using namespace std::chrono_literals;

using proto::AnnounceEvent;
using proto::AnnounceReply;
using proto::TrackerError;

constexpr Time kStay = 2h, kAbsence = 10min, kDownload = 20min;  // means
constexpr Time kRetryFirst = 5s, kRetryMax = 300s, kLonely = 10s, kPatience = 15s;
constexpr Time kNever = Time::max();

}  // namespace

Honesty& Honesty::operator+=(const Honesty& other) {
  kept += other.kept;
  no_connection += other.no_connection;
  slowed += other.slowed;
  refused += other.refused;
  slowed_early += other.slowed_early;
  with_others += other.with_others;
  with_honest += other.with_honest;
  named += other.named;
  named_honest += other.named_honest;
  return *this;
}

Honesty Honesty::operator-(const Honesty& other) const {
  return {kept - other.kept,
          no_connection - other.no_connection,
          slowed - other.slowed,
          refused - other.refused,
          slowed_early - other.slowed_early,
          with_others - other.with_others,
          with_honest - other.with_honest,
          named - other.named,
          named_honest - other.named_honest};
}

Crowd::Crowd(const CrowdOptions& options, std::uint64_t seed, Host& host)
    : host_(host), random_(seed), known_(options.swarms) {
  double sum = 0;
  for (std::size_t swarm = 0; swarm < options.swarms; ++swarm) {
    contents_.push_back(manifest(4, "honest " + std::to_string(swarm)));
    popularity_.push_back(sum += 1 / static_cast<double>(swarm + 1));
  }
  const auto add = [&](std::string ip, bool neighbour) {
    Member member;
    member.ip = std::move(ip);
    member.neighbour = neighbour;
    member.leaves = host_.now() + random_time(kAbsence);
    turns_.emplace(member.leaves, members_.size());
    members_.push_back(std::move(member));
  };
  for (std::uint32_t i = 0; i < options.homes; ++i) add(home_ip(i), false);
  for (std::uint32_t i = 0; i < options.offices * options.per_office; ++i)
    add(office_ip(i % options.offices), false);
  for (std::uint32_t i = 0; i < options.neighbours; ++i) add(neighbour_ip(i), true);
}

Time Crowd::random_time(Time mean) {
  const double factor = std::exponential_distribution<>()(random_);
  return std::chrono::duration_cast<Time>(std::clamp(factor, 0.05, 5.0) * mean);
}

void Crowd::step() {
  while (!turns_.empty() && turns_.top().first <= host_.now()) {
    const std::uint32_t number = turns_.top().second;
    turns_.pop();
    act(number);
    turns_.emplace(std::max(next_time(members_[number]), host_.now() + Host::kStep), number);
  }
}

Time Crowd::next_time(const Member& member) const {
  if (!member.here) return member.leaves;
  if (member.calling) return host_.now() + Host::kStep;
  const bool early = member.lonely && member.started && !member.failing && !member.complete;
  const Time due = early ? std::min(member.due, member.last + kLonely) : member.due;
  return std::min({due, member.complete ? kNever : member.completes, member.leaves});
}

void Crowd::act(std::uint32_t number) {
  Member& member = members_[number];
  const Time now = host_.now();
  if (!member.here) return now >= member.leaves ? arrive(member) : void();
  if (now >= member.leaves) return leave(member);
  if (!member.complete && now >= member.completes) {
    member.complete = true;
    member.tells_complete = member.started || member.calling;
    if (!member.failing) member.due = now;
  }
  if (!member.calling) {
    member.calling = true;
    member.began = member.last = now;
    member.calls_at = now;
  }
  try_announce(member);
}

// As a fresh peer at the same address.
void Crowd::arrive(Member& member) {
  const Time now = host_.now();
  Member fresh;
  fresh.ip = member.ip;
  fresh.neighbour = member.neighbour;
  fresh.id = id_of<PeerId>(Kind::kHonest, ++born_);
  const double drawn = std::uniform_real_distribution(0.0, popularity_.back())(random_);
  fresh.swarm = static_cast<std::uint32_t>(
      std::lower_bound(popularity_.begin(), popularity_.end(), drawn) - popularity_.begin());
  fresh.port = static_cast<std::uint16_t>(1024 + random_() % 60'000);
  fresh.here = true;
  fresh.complete = random_() % 4 == 0;
  fresh.has_manifest = fresh.complete;
  fresh.due = now;
  fresh.completes = now + random_time(kDownload);
  fresh.leaves = now + random_time(kStay);
  member = std::move(fresh);
}

// Three of ten say nothing.
void Crowd::leave(Member& member) {
  if (host_.state(member.link) == Host::State::kOpen && random_() % 10 >= 3) {
    (void)host_.ask(member.link,
                    proto::Announce{.content_id = contents_[member.swarm].id,
                                    .event = AnnounceEvent::kStopped,
                                    .listen_port = member.port},
                    true);
  }
  host_.hang_up(member.link);
  member.link = Host::kNone;
  count_as(member, kNot);
  member.here = member.calling = false;
  member.leaves = host_.now() + random_time(kAbsence);
}

// A call that finds the kernel's queue full is repeated as TCP does: after 1, 3, 7 s.
void Crowd::try_announce(Member& member) {
  const Time now = host_.now();
  const auto lost = [&] {
    ++count_of(member).no_connection;
    host_.hang_up(member.link);
    member.link = Host::kNone;
    failed(member, 0);
  };
  if (now - member.began >= kPatience) return lost();
  if (member.link != Host::kNone) {
    const Host::State state = host_.state(member.link);
    if (state == Host::State::kOpen) return announce(member);
    if (state == Host::State::kWaiting) return;
    // A kept connection that was closed meanwhile is no failure; one that was just begun is.
    const bool kept = member.calls_at == member.began;
    member.link = Host::kNone;
    if (!kept) return lost();
  }
  if (now < member.calls_at) return;
  member.link = host_.call(member.id, member.ip);
  const Time waited = now - member.began;
  member.calls_at =
      member.link == Host::kNone ? now + std::max<Time>(waited + 1s, 1s) : member.began + kPatience;
}

void Crowd::announce(Member& member) {
  const Time now = host_.now();
  proto::Announce request{.content_id = contents_[member.swarm].id,
                          .listen_port = member.port,
                          .complete = member.complete,
                          .peers_wanted = member.lonely && member.started ? 200u : 50u};
  if (!member.started) {
    request.event = AnnounceEvent::kStarted;
  } else if (member.tells_complete) {
    request.event = AnnounceEvent::kCompleted;
  }
  const bool early = member.started && now < member.due;
  const auto reply = host_.ask(member.link, request, true);
  member.calling = false;
  if (const auto* fine = std::get_if<AnnounceReply>(&*reply)) return answered(member, *fine);
  refused(member, std::get<TrackerError>(*reply), early);
}

void Crowd::answered(Member& member, const AnnounceReply& reply) {
  Honesty& count = count_of(member);
  const bool listed = host_.registry().has_peer(contents_[member.swarm].id, member.id);
  if (listed) {
    ++count.kept;
    count_as(member, member.complete ? 1 : 0);
    look_at_peers(member, reply);
  } else {
    ++count.refused;
  }
  member.started = true;
  member.failing = member.tells_complete = false;
  member.failures = 0;
  member.due = host_.now() + std::clamp<Time>(std::chrono::seconds(reply.interval_seconds), 1s, 1h);
  if (member.complete && !reply.has_manifest) put_manifest(member);
  if (!member.has_manifest && reply.has_manifest) get_manifest(member);
}

void Crowd::refused(Member& member, const TrackerError& error, bool early) {
  Honesty& count = count_of(member);
  if (error.code == proto::TrackerErrorCode::kSlowDown) {
    ++count.slowed;
    count.slowed_early += early ? 1 : 0;
  } else {
    ++count.refused;
  }
  failed(member, error.retry_seconds);
}

void Crowd::failed(Member& member, std::uint32_t retry_seconds) {
  const Time backoff = std::min(kRetryFirst * (1 << std::min(member.failures, 10u)), kRetryMax);
  ++member.failures;
  member.calling = false;
  member.failing = true;
  member.due =
      host_.now() + std::clamp<Time>(std::chrono::seconds(retry_seconds), backoff, Time(1h));
}

// The attackers' neighbours are not counted: others need not be told of them.
void Crowd::count_as(Member& member, int kind) {
  if (member.neighbour) return;
  auto& known = known_[member.swarm];
  if (member.counted != kNot) --known[static_cast<std::size_t>(member.counted)];
  member.counted = kind;
  if (kind != kNot) ++known[static_cast<std::size_t>(kind)];
}

void Crowd::look_at_peers(Member& member, const AnnounceReply& reply) {
  std::uint64_t honest = 0;
  for (const auto& peer : reply.peers) honest += is_hostile(peer.id) ? 0 : 1;
  member.lonely = honest == 0;
  const auto& [incomplete, complete] = known_[member.swarm];
  const std::uint32_t fit = member.complete ? incomplete : incomplete + complete;
  const bool itself = member.counted == 0 || (member.counted == 1 && !member.complete);
  if (fit <= (itself ? 1 : 0)) return;
  Honesty& count = count_of(member);
  ++count.with_others;
  count.with_honest += honest > 0 ? 1 : 0;
  count.named += reply.peers.size();
  count.named_honest += honest;
}

void Crowd::get_manifest(Member& member) {
  const auto reply =
      host_.ask(member.link, proto::TrackerManifestGet{contents_[member.swarm].id, 0}, true);
  ++manifests_.reads;
  const auto* part = std::get_if<proto::ManifestPart>(&*reply);
  member.has_manifest = part != nullptr && part->data == contents_[member.swarm].file_bytes;
  manifests_.read += member.has_manifest ? 1 : 0;
}

void Crowd::put_manifest(Member& member) {
  const Manifest& own = contents_[member.swarm];
  const auto reply =
      host_.ask(member.link,
                proto::TrackerManifestPut{own.id, own.file_bytes.size(), 0, own.file_bytes}, true);
  ++manifests_.puts;
  manifests_.put += std::holds_alternative<proto::TrackerManifestPutReply>(*reply) ? 1 : 0;
}

}  // namespace firn::tracker::test::abuse
