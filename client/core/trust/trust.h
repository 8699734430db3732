// Decides which rows are believed, and which peers are banned for what they sent.
//
// A false row that is mixed into others spoils each of them, and only a whole generation can be
// compared with the manifest. So rows are judged before: by who sent them (regime.h), by check sums
// (judging.h, peer_checks.h), or as source blocks against a list of leaves (plain_fetch.h).
//
// Trust is the only door to this folder. It sees what this peer holds and who its neighbours are,
// and changes neither: it is told what happens, and gives verdicts, which receiving.h carries out.
// After each call the verdicts must be taken. Each must be carried out before the next is asked
// for, as the next may depend on what has become of the rows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "client/core/neighbour/block_bits.h"
#include "client/core/trust/verdicts.h"
#include "proto/base/digest.h"
#include "proto/messages.h"

namespace firn::core::trust {

// What becomes of a block that has come.
struct Admission {
  enum class What {
    kTake,
    kUnwanted,  // its sender knew, or might have known
    kEarly,     // the same, but the sender may not have heard so yet
    kIgnore,    // from a neighbour that is suspended
    kFalse,
  };
  What what = What::kTake;
  Standing standing = Standing::kUnanswered;
  bool believed = false;  // Rows::kTrusted
};

// What a generation has come to.
enum class Outcome {
  kVerified,  // its rows were true
  kFetched,   // it came whole from elsewhere: nothing is known of its rows
  kFalse,
  kGivenUp,
};

// The terms on which this peer takes rows. Its States tell the neighbours the first two, and in
// large meshes whom it has convicted. Valid until the next call of a member of Trust that is not
// const.
struct Terms {
  bool proven_only = false;  // it takes only what its sender answers for
  bool trusted_only = false;
  // Neighbours on trial that came at this time or later are served last: in a large mesh that has
  // more polluters than can be found out one by one. kNever: none are.
  TimeUs trial_from = kNever;
  // The first bytes of the ids of peers that sent false blocks of late (PeerId::prefix).
  const std::vector<std::uint64_t>& convicted;
};

// What a State says of one generation.
struct Asks {
  bool nothing = false;   // no blocks of it are taken until its leaves have come
  bool tell_all = false;  // the other neighbours are to be told so as well
  BlockBits wanted = {};  // empty: any block is taken; else source blocks alone, and of the
                          // neighbour these
  BlockBits held = {};    // where neighbours tell what they hold: these; else empty
};

struct CheckStatement;

class Trust {
 public:
  // `authority_key`, `digests`: of the manifest; an empty key: nobody speaks for the content.
  // `met_before`: an earlier run left rows that are proven, so others may have some as well, and
  // answer for them.
  Trust(const World& world, std::string authority_key, std::vector<Digest> digests,
        bool met_before);
  ~Trust();

  // --- what happens ---
  // The neighbour's Hello has come; it leaves.
  void greeted(const Neighbour& n);
  void neighbour_left(const Neighbour& n);
  // admit: whether to take a block that fits the content's shape and what was granted. placed: the
  // row got this slot; its payload is still there. placed(), neighbour_left(), rows_gone() and
  // asks() ban nobody.
  Admission admit(const Neighbour& n, const proto::Block& block);
  void placed(const Neighbour& n, const proto::Block& block, std::uint32_t slot);
  // Rows of open generation g are not there any more. Null: none is, and it begins anew.
  void rows_gone(std::uint32_t g, const std::vector<std::uint32_t>* slots);
  void generation(std::uint32_t g, Outcome outcome);
  // A message of the neighbour. False: it breaks the protocol.
  using Message =
      std::variant<proto::CheckRequest, proto::CheckReply, proto::LeafRequest, proto::LeafReply>;
  bool message(const Neighbour& n, Message&& message);
  // The answers to JudgeRows, as SwarmCore::rows_judged, and to MakeCheck or MakeLeaves.
  void rows_judged(std::uint32_t g, const std::vector<std::uint32_t>& right,
                   const std::vector<std::uint32_t>& wrong, bool readable);
  void proof_made(PeerKey peer, std::variant<proto::CheckReply, proto::LeafReply>&& reply);
  // What became due, once in a step, and what is to be asked about rows.
  void step();
  TimeUs next_due() const;

  // The next verdict; nullopt: there is none.
  std::optional<Verdict> next();

  // --- what this peer goes by ---
  Terms terms() const;
  // Is told to the neighbour.
  Asks asks(const Neighbour& n, std::uint32_t g);
  // Of g source blocks alone are taken.
  bool plain(std::uint32_t g) const;

 private:
  struct Parts;  // the classes of this folder

  void leaves_came(const Neighbour& n, proto::LeafReply&& reply);
  void found_false(std::uint32_t g, const std::vector<std::uint32_t>& slots,
                   const CheckStatement& by);
  void reviewed(const proto::CheckReply& truth);
  void mark(std::uint32_t g, const std::vector<std::uint32_t>& slots, Rows as);
  void fetch_again(std::uint32_t g);
  void fetch_block_by_block(std::uint32_t g);
  // The peer has sent a false block of g, whatever check sums turn out to be worth.
  void convict(const PeerId& id, std::uint32_t g);
  void ban(const PeerId& id, std::uint32_t g);

  const std::unique_ptr<Parts> parts_;
};

}  // namespace firn::core::trust
