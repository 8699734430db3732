// What a run in virtual time is given and what comes out of it, for any kind of swarm: the
// production core (lab.h) or a rival (rival.h). Bounds and reports are made from this alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "client/core/base/types.h"
#include "tests/hostile/deeds.h"

namespace firn::sim {

inline constexpr double kMbit = 1e6 / 8;  // bytes a second

using core::kNever;
using core::TimeUs;

// Who speaks for the content: nobody, somebody who takes no part, or the source.
enum class Authority { kNone, kAway, kThere };

struct LabLink {
  double up = 1e6;  // bytes a second
  double down = 0;  // 0: no limit
  TimeUs delay = 20'000;
  TimeUs queue = 100'000;  // what the buffer before the downlink holds of its rate
};

// From this share of a content to that one.
struct LabPart {
  double from = 0, to = 1;
  double size() const { return to - from; }
};

// A film that is watched while it comes: the content is the film.
struct LabFilm {
  double rate = 0;        // bytes a second; 0: nobody watches
  double from = 0;        // share of the content, where it begins
  bool hurries = true;    // the core is told what is read
  double ahead = 0;       // seconds of film that the player keeps at most; 0: all that has come
  TimeUs seeks = kNever;  // so long after it joined
  double seeks_to = 0;    // a share of the content
};

struct LabPeerSpec {
  LabLink link = {};
  bool source = false;
  bool origin = false;  // a source that is no peer but a web server:
  TimeUs dies = kNever, back_after = kNever;
  TimeUs origin_from = 0;  // a peer knows the origin so long after it joined
  bool listens = true;
  bool firewalled = false;        // it holds that it listens, but calls to it stay unanswered
  bool leaves_when_safe = false;  // a source: as firn share --leave-when-safe
  bool takes_only = false;        // receives, and sends next to nothing:
  double up_limit = 1;            // bytes a second
  std::uint64_t send_limit = 0;   // as Options::up_limit and down_limit
  std::uint64_t receive_limit = 0;
  hostile::Deeds deeds = {};  // it spoils the swarm
  std::string ip = {};        // empty: in a network of its own
  LabPart wants = {};
  LabPart wants_later = {};  // from changes_mind on
  TimeUs changes_mind = kNever;
  LabFilm film = {};
  // What it wants in the end.
  const LabPart& wish() const { return changes_mind == kNever ? wants : wants_later; }
  TimeUs joins = 0;
  TimeUs crashes = kNever;       // without a word
  TimeUs leaves_after = kNever;  // so long after it completed
  // It need not complete.
  bool hostile() const { return !deeds.none(); }
};

// What transport adds to frames. A whole share stands for TCP/IP headers and TLS records, as the
// links of the policy simulations had it; `alone_bytes` is what a frame of its own costs besides.
struct LabWire {
  double share = 1.05;
  // Besides, of who downloads: it sends about as much as it receives, and acknowledges that.
  double acknowledgements = 0;
  double alone_bytes = 110;  // of messages that are no blocks
};

// What somebody saw who watched a film. Microseconds; -1: never.
struct LabViewing {
  TimeUs start = -1;  // from joining to the first second of film
  TimeUs seek = -1;   // the same, after the seek
  std::uint32_t stalls = 0;
  TimeUs stalled = 0;                                  // all stalls together
  std::vector<std::pair<double, double>> buffer = {};  // seconds since the run began, of film
};

struct LabPeerResult {
  TimeUs completed = -1;
  TimeUs first_generation = -1;
  double bytes_sent = 0;     // on the wire
  double control_bytes = 0;  // of them: messages that are no blocks
  double busy_us = 0;        // its uplink was sending
  std::uint64_t blocks_sent = 0;
  std::uint64_t innovative = 0;
  std::uint64_t redundant = 0;
  std::uint64_t rows_max = 0;    // most rows of unfinished generations at a time
  TimeUs gone = -1;              // crashed or left
  std::uint32_t neighbours = 0;  // at the end
  std::uint64_t false_sent = 0;  // blocks; an honest peer may pass such a one on unknowingly
  std::uint64_t decoded_falsely = 0;
  std::uint32_t honest_banned = 0;  // peers that this one has banned in the end, though honest
  LabViewing viewing = {};
};

// All of a run. Peers stand in the order in which they were added, sources among them.
struct LabRun {
  double content_bytes = 0;
  std::uint64_t blocks_in_content = 0;
  TimeUs source_left = -1;  // -1: it did not
  std::vector<LabPeerSpec> specs;
  std::vector<LabPeerResult> results;
};

// Before a run as well as after it.
template <class Swarm>
LabRun run_of(const Swarm& swarm) {
  LabRun run{swarm.content_bytes(), swarm.blocks_in_content(), swarm.source_left(), {}, {}};
  for (std::size_t i = 0; i < swarm.size(); ++i) {
    run.specs.push_back(swarm.spec(i));
    run.results.push_back(swarm.result(i));
  }
  return run;
}

}  // namespace firn::sim
