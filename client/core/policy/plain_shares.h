// Which source blocks a receiver asks which neighbour for, where it fetches all generations plainly
// (plain_mode.h) and its neighbours tell what they hold.
#pragma once

#include <cstdint>
#include <vector>

#include "client/core/neighbours.h"
#include "client/core/types.h"

namespace firn::core::policy {

// Of the blocks of g that are `lacked` those to ask neighbour n for, in order. A block that several
// hold is asked of one of them alone, another one each kPlainTurn, so that no two send the same and
// a neighbour that sends nothing holds it up for that time only. One of which no neighbour that is
// still fetching has told is asked of all: the first to get it passes it on before its State comes.
// Suspects are asked for a single block where others hold some.
std::vector<std::uint32_t> plain_share(const Neighbours& neighbours, const Neighbour& n,
                                       std::uint32_t g, const std::vector<std::uint32_t>& lacked,
                                       TimeUs now);

}  // namespace firn::core::policy
