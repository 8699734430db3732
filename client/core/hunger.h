// Whether this peer starves among its neighbours: it needs something, and nothing useful has come
// for a while. Then it calls more addresses than it would, those that it has not tried yet, and
// parts with neighbours that do nothing, so that a few silent identities cannot shut it off from
// the others. It ends when all addresses have been tried: peers that wait together for a source do
// not change neighbours for ever.
#pragma once

#include "client/core/context.h"
#include "client/core/life.h"
#include "client/core/peer_book.h"
#include "client/core/types.h"

namespace firn::core {

class Hunger {
 public:
  Hunger(const Context& context, const Life& life, const PeerBook& book)
      : context_(context), life_(life), book_(book) {}

  // Looks whether that is so, where a look is due. True: it has looked.
  bool review();
  // As of the last look.
  bool calls_more() const { return calls_more_; }
  // Nothing useful has come for a while.
  bool starves() const { return context_.now >= starves_at(); }
  TimeUs next_due() const;

 private:
  TimeUs starves_at() const;

  const Context& context_;
  const Life& life_;
  const PeerBook& book_;
  bool calls_more_ = false;
  TimeUs look_at_ = 0;
};

}  // namespace firn::core
