// What a peer that spoils a swarm does, in words: "sparse:10+reports" falsifies one block in ten
// and lies in its reports. The saboteur (saboteur.h) does it.
#pragma once

#include <cstdint>
#include <string>

#include "client/core/base/types.h"
#include "proto/base/result.h"

namespace firn::hostile {

struct Deeds {
  double falsifies = 0;          // share of its blocks whose payload is false
  bool noise = false;            // all bytes of it; else one
  core::TimeUs turn = 0;         // honest for so long, then false, and so on; 0: always false
  std::uint32_t rank = 0;        // sends mixtures of its first blocks of a generation alone; 0: no
  bool repeats = false;          // sends its first block of a generation again and again
  bool claims_rank = false;      // says that it holds all rows but one of what it has any of, and
                                 // every source block
  double serves = 1;             // share of its neighbours that it sends blocks to
  bool lies_in_reports = false;  // its friends gave much, nobody else gave anything
  bool false_sums = false;       // says that it holds everything, and makes false check sums
  std::uint32_t true_sums = 0;   // the first of them, for each neighbour
  bool colludes = false;         // believes whatever comes, so that friends pass on false blocks
  core::TimeUs renamed = 0;      // takes a fresh identity so often; 0: never

  // It needs no watching.
  bool none() const {
    return falsifies == 0 && rank == 0 && !repeats && !claims_rank && serves == 1 &&
           !lies_in_reports && !false_sums && !colludes && renamed == 0;
  }
};

// Words joined by +: noise, byte, sparse:N (one block in N), turns:S (honest for S seconds, then
// false for as long), low-rank:R, replay, rank-liar, silent, half, reports, false-sums:N (the
// first N for each neighbour are true; false-sums: none), colluding, fresh:S.
Result<Deeds> parse_deeds(const std::string& text);

}  // namespace firn::hostile
