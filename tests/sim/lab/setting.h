// What the laboratory's programs have in common: which hosts a run has, drawn from options and a
// seed alone, so that every strategy meets the same ones; and its report.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "tests/sim/lab/arguments.h"
#include "tests/sim/lab/run.h"

namespace firn::sim {

struct Setting {
  std::uint32_t n = 0, k = 0, generations = 0;
  std::uint64_t seed = 0;
  LabWire wire;
  Authority authority = Authority::kThere;
  double source_copies = 0;        // 0: the source stays
  double honest_copies = 0;        // the same, of what has come to honest peers
  std::uint32_t neighbours = 0;    // 0: as the strategy says
  std::uint32_t mixture_rows = 0;  // likewise
  double limit = 0;                // a run ends after so many times the bound
  bool peers_out = false;          // the report names every peer
  std::vector<LabPeerSpec> peers;  // the source first
};

//   peers=12 seed_mbit=8 up=8[,16,...] (Mbit/s, in turn) down=0[,...] (the same; 0: no limit)
//   queue_ms=100 (buffer before a limited downlink) delay_ms=10-50 (drawn per peer)
//   mib=32 n=64 k=16384 seed=1 join_ms=0 (between two peers) limit=20 (times the bound)
//   source_copies=0 (leaves after it has sent so many) honest_copies=0 (once honest peers have so
//   many, and every row between them) leave_when_safe=0 (as firn share)
//   leave_s=-1 (after completing)
//   crash_s=0 crash_share=0.34 hidden=0 (share that accepts no connections) firewalled=0 (1: those
//   know it not, and calls to them stay unanswered) takers=0 taker_kib=0 (so much a second all the
//   same)
//   authority=1 (0: nobody speaks for the content, -1: who does is away)
//   hostile=4*sparse:10,2*silent (what the first of the peers do: tests/hostile/deeds.h), or
//   polluters=0 pollutes=1 (so many that falsify this share of their blocks)
//   without_hostile=0 (1: the same race without those)
//   hostile_at=apart (together: at one address; all are in networks of their own but for
//   lan: all peers are in one, each at an address of its own)
//   origin=0 (1: the source is no peer but a web server) origin_dies_s=0 origin_back_s=0 (so long
//   after it died; 0: never) origin_from_s=0 (peers know it so long after they joined)
//   share=1.05 acks=0 alone=110 (bytes, see LabWire) neighbours=0 mixture_rows=0 (0: the policy's)
//   wants=0-1[,0.5-1,...] (part of the content that a peer wants, in turn)
//   later=[0-1,...] later_s=0 (the same, from so many seconds on; 0: never)
//   film_mbit=0 (rate of the film that all watch) film_from=0[,0.5,...] (share where it begins, in
//   turn) hurries=1 (0: the core is not told what is read)
//   ahead_s=0 (film that a player keeps at most; 0: all) seek_peer=0 seek_s=0 seek_to=0.5
//   (the peer of this number, from 1, seeks there so long after it joined) peers_out=0
Setting setting_of(Arguments& arguments);

// {"options", "done", "result", "peers" if asked for, "cost"}; `seconds`: wall clock it took.
nlohmann::json report(const Arguments& arguments, const Setting& setting, const LabRun& run,
                      bool done, double seconds, std::uint64_t events);

}  // namespace firn::sim
