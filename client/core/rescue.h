// A generation that decoded to false data: from which peers it is filled again, and which peer is
// to blame. Blame needs evidence:
//   - all its rows came from one peer: that peer sent a false row, for certain;
//   - otherwise its rows are kept aside, the generation is fetched again, and once it is verified
//     each old row is compared with the truth (CheckEvidence).
// The second try takes rows from one holder of the whole generation alone (so that a second failure
// convicts it); without such a holder from all but one contributor, another one each time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "client/core/types.h"

namespace firn::core {

class Rescue {
 public:
  // Peers that hold all of generation g now, in order of preference.
  using Holders = std::function<std::vector<PeerId>(std::uint32_t g)>;

  struct Verdict {
    std::optional<PeerId> guilty;  // the only contributor
    bool keep_evidence = false;
  };

  // Evidence is kept for at most `evidence_max` generations at a time: it lies in memory.
  explicit Rescue(std::size_t evidence_max) : evidence_max_(evidence_max) {}

  // Generation g decoded falsely from rows of these senders (by slot).
  Verdict failed(std::uint32_t g, const std::vector<PeerId>& senders, const Holders& holders,
                 TimeUs now);
  // Rows of g prove themselves from now on: all peers may send them.
  void lift(std::uint32_t g);
  // It has been verified: true if evidence waits to be checked.
  bool verified(std::uint32_t g);

  // Whether rows of g from this peer are wanted. True for generations without a case.
  bool accepts(std::uint32_t g, const PeerId& sender) const;

  // A row of g was innovative.
  void progressed(std::uint32_t g, TimeUs now);
  // Looks for another holder where the chosen one is gone or brings nothing; says which generations
  // changed (their quotas must be told anew).
  std::vector<std::uint32_t> review(const Holders& holders, TimeUs now);
  // When review has something to do; kNever without cases.
  TimeUs next_review() const;

  bool empty() const { return cases_.empty(); }

 private:
  struct Case {
    std::set<PeerId> tried;            // holders used alone
    std::optional<PeerId> only;        // the holder in use
    std::optional<PeerId> excluded;    // or the contributor left out
    std::vector<PeerId> contributors;  // most rows first
    std::size_t attempt = 0;
    bool has_evidence = false;
    bool lifted = false;
    TimeUs last_progress = 0;
  };
  static void choose(Case& c, std::uint32_t g, const Holders& holders, TimeUs now);

  std::size_t evidence_max_;
  std::size_t evidence_ = 0;  // cases that have some
  std::map<std::uint32_t, Case> cases_;
};

}  // namespace firn::core
