#include "tests/tracker/abuse/attack.h"

#include <algorithm>

namespace firn::tracker::test::abuse {
namespace {

using namespace std::chrono_literals;

using proto::Announce;
using proto::AnnounceEvent;

constexpr std::size_t kPartBytes = 64 << 10;
constexpr std::uint32_t kJunkGenerations = 200;  // about 6 KiB

}  // namespace

AttackCounts& AttackCounts::operator+=(const AttackCounts& other) {
  calls += other.calls;
  turned_away += other.turned_away;
  requests += other.requests;
  served += other.served;
  refused += other.refused;
  held_back += other.held_back;
  return *this;
}

std::vector<AttackSpec> all_attacks(double scale) {
  std::vector<AttackSpec> all = {
      {"flood of one address", Origin::kAddress, Deed::kAnnounce, 20, 20, 1500, 12min},
      {"flood of one prefix", Origin::kPrefix, Deed::kAnnounce, 20, 60, 4500, 6min},
      {"flood of 300 prefixes", Origin::kManyPrefixes, Deed::kAnnounce, 50, 400, 9000, 4min},
      {"silent connections, one prefix", Origin::kPrefix, Deed::kNothing, 100, 8000, 0, 12min},
      {"silent connections, 300 prefixes", Origin::kManyPrefixes, Deed::kNothing, 100, 8000, 0,
       12min},
      {"held connections, 8 addresses", Origin::kFewAddresses, Deed::kHold, 40, 5000, 50, 15min},
      {"held connections, 300 prefixes", Origin::kManyPrefixes, Deed::kHold, 40, 5000, 50, 15min},
      {"fresh identities", Origin::kManyPrefixes, Deed::kAnnounce, 100, 200, 0, 15min, true},
      {"a million swarms, one prefix", Origin::kPrefix, Deed::kOwnSwarm, 20, 60, 1700, 10min},
      {"a million swarms, 300 prefixes", Origin::kManyPrefixes, Deed::kOwnSwarm, 50, 300, 1700,
       10min},
      {"a swarm filled, one prefix", Origin::kPrefix, Deed::kFill, 300, 300, 0, 8min, true},
      {"a swarm filled, 300 prefixes", Origin::kManyPrefixes, Deed::kFill, 300, 300, 0, 8min, true},
      {"lies", Origin::kManyPrefixes, Deed::kLie, 50, 200, 400, 15min},
      {"half manifests", Origin::kManyPrefixes, Deed::kHalfManifest, 20, 400, 40, 15min},
      {"junk manifests", Origin::kManyPrefixes, Deed::kJunkManifest, 20, 50, 40, 15min},
      {"manifest reads", Origin::kPrefix, Deed::kReadManifest, 20, 50, 1000, 10min},
      {"200 peers wanted", Origin::kManyPrefixes, Deed::kWantMost, 20, 100, 500, 10min},
      {"early announces", Origin::kManyPrefixes, Deed::kEarly, 20, 200, 400, 15min},
  };
  for (AttackSpec& spec : all) {
    spec.calls_per_second *= scale;
    spec.requests_per_second *= scale;
    spec.connections = std::max<std::size_t>(
        8, static_cast<std::size_t>(static_cast<double>(spec.connections) * scale));
    spec.prefixes = static_cast<std::size_t>(static_cast<double>(spec.prefixes) * scale);
  }
  return all;
}

Attack::Attack(const AttackSpec& spec, const std::vector<Manifest>& honest, std::uint64_t seed,
               Host& host)
    : spec_(spec),
      honest_(honest),
      random_(seed),
      host_(host),
      born_(random_()),
      swarms_made_(random_()) {}

std::string Attack::ip_of(std::uint64_t number) const {
  const auto n = static_cast<std::uint32_t>(number);
  switch (spec_.origin) {
    case Origin::kAddress:
      return bad_prefix_ip(0);
    case Origin::kFewAddresses:
      return bad_prefix_ip(n % 8);
    case Origin::kPrefix:
      return bad_prefix_ip(n);
    case Origin::kManyPrefixes:
      break;
  }
  return many_prefixes_ip(number, spec_.prefixes);
}

bool Attack::due(double& saved, double per_second) {
  saved += per_second * std::chrono::duration<double>(Host::kStep).count();
  return saved >= 1;
}

void Attack::step() {
  // Where the tracker has closed one.
  std::erase_if(foes_, [this](const Foe& foe) {
    const bool gone = host_.state(foe.link) == Host::State::kClosed;
    counts_.turned_away += gone && spec_.deed != Deed::kNothing ? 1 : 0;
    return gone;
  });
  due(calls_saved_, spec_.calls_per_second);
  for (; calls_saved_ >= 1; --calls_saved_) call();
  if (spec_.deed == Deed::kNothing) return;
  if (spec_.requests_per_second == 0) {  // each connection asks once
    for (Foe& foe : foes_)
      if (foe.sent == 0 && host_.state(foe.link) == Host::State::kOpen) request(foe);
    return;
  }
  due(requests_saved_, spec_.requests_per_second);
  for (; requests_saved_ >= 1; --requests_saved_) {
    if (foes_.empty()) continue;
    Foe& foe = foes_[next_++ % foes_.size()];
    if (host_.state(foe.link) == Host::State::kOpen) request(foe);
  }
}

void Attack::call() {
  if (foes_.size() >= spec_.connections) {
    if (!spec_.renewing) return;
    host_.hang_up(foes_.front().link);
    foes_.erase(foes_.begin());
  }
  const std::uint64_t number = ++born_;
  ++counts_.calls;
  const auto link = host_.call(id_of<PeerId>(Kind::kHostile, number), ip_of(number),
                               spec_.deed == Deed::kNothing);
  if (link == Host::kNone) {
    ++counts_.turned_away;
  } else {
    foes_.push_back({link, number, 0});
  }
}

void Attack::request(Foe& foe) {
  ++counts_.requests;
  const auto reply = host_.ask(foe.link, deed(foe));
  if (!reply) {
    ++counts_.held_back;
    return;
  }
  ++foe.sent;
  (std::holds_alternative<proto::TrackerError>(*reply) ? counts_.refused : counts_.served)++;
}

proto::Announce Attack::announce_in(const ContentId& content, const Foe& foe) const {
  Announce announce{.content_id = content,
                    .listen_port = static_cast<std::uint16_t>(1 + spread(foe.number) % 65'535),
                    .peers_wanted = 0};
  if (foe.sent == 0) announce.event = AnnounceEvent::kStarted;
  return announce;
}

proto::TrackerRequest Attack::deed(Foe& foe) {
  switch (spec_.deed) {
    case Deed::kNothing:
    case Deed::kAnnounce:
      break;
    case Deed::kWantMost: {
      Announce announce = announce_in(honest_.front().id, foe);
      announce.peers_wanted = ~0u;
      return announce;
    }
    case Deed::kHold:
    case Deed::kEarly:
      return announce_in(honest_[foe.number % honest_.size()].id, foe);
    case Deed::kOwnSwarm:
      return announce_in(id_of<ContentId>(Kind::kHostile, ++swarms_made_), foe);
    case Deed::kFill:
      return announce_in(honest_.front().id, foe);
    case Deed::kLie: {
      Announce lie = announce_in(any_honest().id, foe);
      lie.listen_port = static_cast<std::uint16_t>(random_());
      lie.complete = random_() % 2 == 0;
      lie.event = static_cast<AnnounceEvent>(random_() % 4);
      return lie;
    }
    case Deed::kHalfManifest:
    case Deed::kJunkManifest:
      return manifest_deed(foe);
    case Deed::kReadManifest:
      return proto::TrackerManifestGet{any_honest().id, 0};
  }
  return announce_in(any_honest().id, foe);
}

// Each in a swarm of its own, as the tracker asks for; nine requests for half a manifest, two for a
// whole one.
proto::TrackerRequest Attack::manifest_deed(const Foe& foe) {
  if (spec_.deed == Deed::kHalfManifest) {
    const auto content = id_of<ContentId>(Kind::kHostile, foe.number);
    const std::uint64_t part = foe.sent % 9;
    if (part == 0) return announce_in(content, foe);
    return proto::TrackerManifestPut{content, 16 * kPartBytes, (part - 1) * kPartBytes,
                                     std::string(kPartBytes, 'j')};
  }
  const std::uint64_t number = foe.number * 1000 + foe.sent / 2;
  const Manifest junk = manifest(kJunkGenerations, "junk " + std::to_string(number));
  if (foe.sent % 2 == 0) return announce_in(junk.id, foe);
  return proto::TrackerManifestPut{junk.id, junk.file_bytes.size(), 0, junk.file_bytes};
}

void Attack::end() {
  for (std::size_t i = 0; i < foes_.size(); i += 2) host_.hang_up(foes_[i].link);
  foes_.clear();
}

}  // namespace firn::tracker::test::abuse
