// Honest peers of a tracker: they come, announce themselves on the interval that they are told, get
// and put manifests, become complete, and go, with a word or without. As the client does
// (client/core/mesh/trackers.h): 10 s apart while a peer knows no other; after a failure 5 s, twice
// as long after each further one, or as long as the tracker says; 15 s for an answer.
#pragma once

#include <array>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "tests/tracker/abuse/host.h"
#include "tests/tracker/abuse/people.h"

namespace firn::tracker::test::abuse {

struct CrowdOptions {
  std::size_t homes = 2000;  // each in a prefix of its own
  std::size_t offices = 40, per_office = 12;
  std::size_t neighbours = 20;  // in the attackers' prefix: counted apart
  std::size_t swarms = 300;     // sizes by Zipf
};

// Each attempt of a peer counts, also one that repeats another that failed.
struct Honesty {
  std::uint64_t kept = 0;           // answered OK, and listed afterwards
  std::uint64_t no_connection = 0;  // turned away, closed, or none within 15 s
  std::uint64_t slowed = 0, refused = 0;
  std::uint64_t slowed_early =
      0;  // of `slowed`: a peer without neighbours that asked ahead of time
  // Of those kept: answers to peers in whose swarm another honest one is to be handed out.
  std::uint64_t with_others = 0, with_honest = 0;
  std::uint64_t named = 0, named_honest = 0;  // peers in these answers

  std::uint64_t attempts() const { return kept + no_connection + slowed + refused; }
  double rate() const {
    return attempts() == 0 ? 1 : static_cast<double>(kept) / static_cast<double>(attempts());
  }
  // Without those that were told to wait as they came ahead of time: they are listed.
  double rate_in_time() const {
    const std::uint64_t in_time = attempts() - slowed_early;
    return in_time == 0 ? 1 : static_cast<double>(kept) / static_cast<double>(in_time);
  }
  Honesty& operator+=(const Honesty& other);
  Honesty operator-(const Honesty& other) const;
};

struct ManifestService {
  std::uint64_t reads = 0, read = 0;  // of hosted ones
  std::uint64_t puts = 0, put = 0;
};

class Crowd {
 public:
  Crowd(const CrowdOptions& options, std::uint64_t seed, Host& host);

  // All that is due.
  void step();

  // Of all but the attackers' neighbours.
  const Honesty& honesty() const { return honesty_; }
  const Honesty& of_neighbours() const { return neighbours_; }
  const ManifestService& manifests() const { return manifests_; }
  // The honest contents, most popular first.
  const std::vector<Manifest>& contents() const { return contents_; }
  std::size_t size() const { return members_.size(); }

 private:
  static constexpr int kNot = -1;
  struct Member {
    PeerId id;
    std::string ip;
    bool neighbour = false;
    std::uint32_t swarm = 0;
    std::uint16_t port = 0;
    bool here = false;
    bool started = false, failing = false, complete = false, tells_complete = false;
    bool lonely = true, has_manifest = false;
    int counted = kNot;  // in known_
    std::uint32_t failures = 0;
    Time due{}, completes{}, leaves{}, last{};
    // The announce under way.
    bool calling = false;
    Time began{}, calls_at{};
    Host::Link link = Host::kNone;
  };

  void act(std::uint32_t number);
  Time next_time(const Member& member) const;
  void arrive(Member& member);
  void leave(Member& member);
  void try_announce(Member& member);
  void announce(Member& member);
  void answered(Member& member, const proto::AnnounceReply& reply);
  void refused(Member& member, const proto::TrackerError& error, bool early);
  void failed(Member& member, std::uint32_t retry_seconds);
  void get_manifest(Member& member);
  void put_manifest(Member& member);
  void count_as(Member& member, int kind);
  void look_at_peers(Member& member, const proto::AnnounceReply& reply);
  Time random_time(Time mean);
  Honesty& count_of(const Member& member) { return member.neighbour ? neighbours_ : honesty_; }

  Host& host_;
  std::mt19937_64 random_;
  std::vector<Manifest> contents_;
  std::vector<double> popularity_;  // sums
  std::vector<Member> members_;
  // By swarm: honest peers that the tracker has answered, incomplete ones and complete ones.
  std::vector<std::array<std::uint32_t, 2>> known_;
  using Turn = std::pair<Time, std::uint32_t>;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns_;
  std::uint64_t born_ = 0;
  Honesty honesty_, neighbours_;
  ManifestService manifests_;
};

}  // namespace firn::tracker::test::abuse
