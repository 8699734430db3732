// What surrounds a swarm core under fuzzing: a model of its driver that does what it is asked,
// answers when the input says so, and aborts when an action is not what client/core/base/actions.h
// promises.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "client/core/swarm.h"
#include "proto/base/limits.h"
#include "tests/fuzz/fuzz_bytes.h"
#include "tests/proto/wire_frames.h"
#include "tests/staged_manifests.h"

namespace firn::fuzz {

using core::PeerKey;
using core::TimeUs;

// What is to be made for neighbours, and the last request to one.
struct Speaking {
  std::vector<core::MakeCheck> checks;  // sums
  proto::CheckRequest asked;            // the last that the core has sent with a key
  std::vector<core::MakeLeaves> leaves;
};

struct Connection {
  PeerId id;
  std::uint32_t credit = 0;    // the most that any State said
  std::uint32_t granted = 0;   // by the core
  std::uint32_t sequence = 0;  // of the last block that we sent
  std::size_t queued = 0;      // blocks of the core that have not departed
};

// Rows that are to be judged: the slots of a generation.
struct Judgement {
  std::uint32_t generation = UINT32_MAX;
  std::vector<std::uint32_t> slots;
};

class World {
 public:
  World(const Manifest& manifest, const core::Options& options)
      : manifest_(manifest), shape_(manifest.info.shape), options_(options) {}

  void attach(core::SwarmCore& core) { core_ = &core; }
  bool started = false;
  bool stopped = false;
  TimeUs now = 0;
  std::map<PeerKey, Connection> connections;
  std::vector<std::uint64_t> attempts;  // calls under way
  std::vector<std::uint32_t> storing;   // generations of rows that are being stored
  std::vector<std::uint32_t> decoding;  // generations
  std::vector<Judgement> judging;
  Speaking speaking;
  std::vector<std::size_t> announcing;  // trackers
  struct {
    std::vector<std::size_t> trackers;
    test::StagedManifests staged;  // of neighbours
  } fetching;
  std::deque<std::uint32_t> asked_of_origin;
  bool origin_open = false;
  std::set<std::uint32_t> verified;
  std::set<std::uint32_t> given_up;  // lost for good
  bool arrived = false;              // the manifest
  bool completing = false;
  bool finished = false;  // every file has its final name

  // Drains the core and checks all it does; then lets it rest.
  void drain() {
    settle();
    for (int wakes = 0; core_->next_wake() <= now; ++wakes) {
      FIRN_CHECK(wakes < 100);  // it would keep a processor busy
      core_->wake(now);
      settle();
    }
    check_report();
  }
  const Shape& shape() const { return shape_; }

  void open_origin(bool open) {
    origin_open = open;
    core_->origin_open(open, now);
  }
  // The answer to the oldest question, also once no more are asked.
  void fetched(bool right) {
    if (asked_of_origin.empty()) return;
    const std::uint32_t g = asked_of_origin.front();
    asked_of_origin.pop_front();
    if (right && !stopped) verified.insert(g);
    core_->generation_fetched(g, right, now);
  }

 private:
  void settle() {
    // Some are answered at once, with more actions.
    for (auto actions = core_->take_actions(); !actions.empty(); actions = core_->take_actions())
      for (core::Action& action : actions) std::visit([this](auto& a) { on(a); }, action);
  }
  void on(core::Connect& a) {
    FIRN_CHECK(!stopped && a.address.port != 0 && attempt_last_ < a.attempt);
    attempt_last_ = a.attempt;
    attempts.push_back(a.attempt);
  }
  void on(core::Close& a) { FIRN_CHECK(connections.erase(a.peer) == 1); }
  void on(core::Send& a) {
    FIRN_CHECK(connections.contains(a.peer));
    FIRN_CHECK(!std::holds_alternative<proto::Block>(a.message));
    const auto frame = proto::serialize(a.message);
    FIRN_CHECK(frame.bytes() == proto::wire_bytes(a.message));
    const std::string bytes = test::message_in(frame);
    FIRN_CHECK(proto::parse_peer_message(test::bytes_of(bytes)).ok());
    if (const auto* state = std::get_if<proto::State>(&a.message)) tells(a.peer, *state);
    if (const auto* request = std::get_if<proto::CheckRequest>(&a.message)) {
      if (!request->key.empty()) speaking.asked = *request;
    }
  }
  void tells(PeerKey peer, const proto::State& state) {
    Connection& c = connections.at(peer);
    FIRN_CHECK(state.credit >= c.granted && state.acknowledged <= state.credit);
    c.granted = state.credit;
    for (const proto::Span& span : state.complete) {
      for (std::uint32_t g = span.first; g < span.first + span.count; ++g) {
        FIRN_CHECK(verified.contains(g));
      }
    }
    for (const auto& entry : state.generations) {
      FIRN_CHECK(entry.rank == rank(entry.generation));
      const std::uint32_t n = shape_.blocks_in(entry.generation);
      FIRN_CHECK(entry.null_vector.empty() || entry.null_vector.size() == n);
      FIRN_CHECK(entry.wanted_blocks.empty() || entry.wanted_blocks.size() == (n + 7) / 8);
    }
  }
  void on(core::SendBlock& a) {
    FIRN_CHECK(!stopped && connections.contains(a.peer));
    Connection& c = connections.at(a.peer);
    const std::uint32_t g = a.block.generation;
    FIRN_CHECK(g < shape_.generation_count() && a.block.sequence >= 1);
    const std::uint32_t n = shape_.blocks_in(g);
    FIRN_CHECK(a.block.sequence <= c.credit);
    FIRN_CHECK(a.block.source_index ? *a.block.source_index < n : a.block.coefficients.size() == n);
    FIRN_CHECK(a.slots.size() == a.mix.size() && a.block.recoded == !a.slots.empty());
    FIRN_CHECK(!a.slots.empty() || verified.contains(g));
    for (const std::uint32_t slot : a.slots) FIRN_CHECK(rows_.contains({g, slot}));
    ++c.queued;
    if (a.block.state) tells(a.peer, *a.block.state);
  }
  void on(core::StoreRow& a) {
    FIRN_CHECK(!stopped && a.generation < shape_.generation_count());
    FIRN_CHECK(a.slot < shape_.blocks_in(a.generation) && !verified.contains(a.generation));
    FIRN_CHECK(!given_up.contains(a.generation));
    FIRN_CHECK(a.vector->size() == shape_.blocks_in(a.generation));
    FIRN_CHECK(a.payload.size() == shape_.block_bytes);
    FIRN_CHECK(rows_.emplace(std::pair{a.generation, a.slot}, a.vector).second);
    storing.push_back(a.generation);
  }
  void on(core::MarkProven& a) {
    FIRN_CHECK(!a.slots.empty());
    for (const std::uint32_t slot : a.slots) FIRN_CHECK(rows_.contains({a.generation, slot}));
  }
  void on(core::DoubtRows&) { FIRN_CHECK(!stopped); }
  void on(core::Decode& a) {
    FIRN_CHECK(!stopped && a.vectors.size() == shape_.blocks_in(a.generation));
    for (std::uint32_t slot = 0; slot < a.vectors.size(); ++slot) {
      const auto row = rows_.find({a.generation, slot});
      FIRN_CHECK(row != rows_.end() && a.vectors[slot]);
      // A row that an earlier run left is known by its bytes alone.
      FIRN_CHECK(!row->second || *row->second == *a.vectors[slot]);
    }
    decoding.push_back(a.generation);
  }
  void on(core::FetchFromOrigin& a) {
    FIRN_CHECK(!stopped && origin_open && a.count > 0);
    FIRN_CHECK(a.first + a.count <= shape_.generation_count());
    for (std::uint32_t g = a.first; g < a.first + a.count; ++g) {
      FIRN_CHECK(!verified.contains(g));
      for (const std::uint32_t other : asked_of_origin) FIRN_CHECK(other != g);
      asked_of_origin.push_back(g);
    }
  }
  void on(core::DropRows& a) { drop(a.generation); }
  void on(core::DropSlots& a) {
    FIRN_CHECK(!a.slots.empty());
    for (const std::uint32_t slot : a.slots) FIRN_CHECK(rows_.erase({a.generation, slot}) == 1);
  }
  void on(core::JudgeRows& a) {
    FIRN_CHECK(!stopped && !a.slots.empty() && a.slots.size() == a.vectors.size());
    FIRN_CHECK(a.key.size() == limits::kCheckKeyBytes);
    const std::uint32_t n = shape_.blocks_in(a.generation);
    FIRN_CHECK(!a.sums.empty() && a.sums.size() % n == 0);
    for (std::size_t i = 0; i < a.slots.size(); ++i) {
      const auto row = rows_.find({a.generation, a.slots[i]});
      FIRN_CHECK(row != rows_.end() && (!row->second || *row->second == *a.vectors[i]));
    }
    for (const Judgement& other : judging) FIRN_CHECK(other.generation != a.generation);
    judging.push_back({a.generation, a.slots});
  }
  void on(core::MakeCheck& a) {
    FIRN_CHECK(!stopped && verified.contains(a.generation));
    FIRN_CHECK(a.key.empty() || a.key.size() == limits::kCheckKeyBytes);
    if (a.peer == core::kNoPeer) {  // for this peer, which looks who has lied
      FIRN_CHECK(!a.key.empty());
    } else {
      FIRN_CHECK(connections.contains(a.peer));
      FIRN_CHECK(!options_.certificate.empty() || !a.key.empty());
    }
    speaking.checks.push_back(a);
  }
  void on(core::MakeLeaves& a) {
    FIRN_CHECK(!stopped && connections.contains(a.peer) && verified.contains(a.generation));
    speaking.leaves.push_back(a);
  }
  void on(core::AnnounceTo& a) {
    FIRN_CHECK(a.tracker < options_.trackers.size());
    if (a.announce.event == proto::AnnounceEvent::kStopped) return;
    FIRN_CHECK(std::find(announcing.begin(), announcing.end(), a.tracker) == announcing.end());
    announcing.push_back(a.tracker);
  }
  void on(core::FetchManifestFrom& a) {
    FIRN_CHECK(a.tracker < options_.trackers.size() && !started && fetching.trackers.empty());
    fetching.trackers.push_back(a.tracker);
  }
  void on(core::KeepManifestPart& a) {
    FIRN_CHECK(!stopped);
    if (const auto whole = fetching.staged.keep(a))
      core_->manifest_read(a.peer, 0, test::proven(*whole, manifest_.id), now);
  }
  void on(core::ManifestArrived& a) {
    FIRN_CHECK(!started && !arrived && a.manifest.file_bytes == manifest_.file_bytes);
    arrived = true;
  }
  void on(core::ContentComplete&) {
    FIRN_CHECK(!completed_ && verified.size() + given_up.size() == shape_.generation_count());
    completed_ = completing = true;
  }
  void on(core::Finished&) {
    FIRN_CHECK(!stopped && connections.empty());
    stopped = true;
  }
  void on(core::Notice& a) { FIRN_CHECK(!stopped && !a.text.empty()); }

  std::uint32_t rank(std::uint32_t g) const {
    if (verified.contains(g)) return shape_.blocks_in(g);
    return static_cast<std::uint32_t>(
        std::distance(rows_.lower_bound({g, 0}), rows_.lower_bound({g + 1, 0})));
  }
  void drop(std::uint32_t g) {
    rows_.erase(rows_.lower_bound({g, 0}), rows_.lower_bound({g + 1, 0}));
  }
  void check_report() const {
    const core::Report report = core_->report();
    FIRN_CHECK(report.peers == connections.size() && report.peers <= 26);
    FIRN_CHECK(report.neighbours.size() <= 1100);
    if (!started) return;
    FIRN_CHECK(report.generations_verified == verified.size());
    std::uint64_t held = rows_.size();
    for (const std::uint32_t g : verified) held += shape_.blocks_in(g);
    FIRN_CHECK(report.rank == held);
    FIRN_CHECK(report.rank <= report.rank_total && report.bytes_verified <= shape_.content_bytes);
  }

  friend class Session;
  const Manifest& manifest_;
  const Shape shape_;
  const core::Options& options_;
  core::SwarmCore* core_ = nullptr;
  std::uint64_t attempt_last_ = 0;
  bool completed_ = false;
  std::map<std::pair<std::uint32_t, std::uint32_t>, core::Vector> rows_;
};

}  // namespace firn::fuzz
