// Sends blocks: has them chosen as late as possible (late_binding.h), and draws their coding
// vectors.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "client/core/base/uplink.h"
#include "client/core/mesh/membership.h"
#include "client/core/receive/granting.h"
#include "client/core/rows/holdings.h"
#include "client/core/send/choice/relay_policy.h"
#include "client/core/send/seeding.h"
#include "client/core/send/socket_line.h"
#include "client/core/send/source/contributions.h"
#include "client/core/send/source/source_policy.h"
#include "client/core/send/source/spread.h"
#include "client/core/trust/trust.h"
#include "codec/random.h"

namespace firn::core {

class Sending final : public MeshPart {
 public:
  Sending(const MeshPart& mesh, Uplink& uplink, const Holdings& holdings, Granting& granting,
          Seeding& seeding, const trust::Trust& trust, Spread& spread,
          Contributions& contributions);

  // This peer had everything from the start, or is complete and has more neighbours than a choice
  // can look at (kFewToLookAt): from now on SourcePolicy chooses.
  void begin_as_source();

  // The neighbour's oldest `blocks` blocks have departed. `bytes`: of all their frames; 0: they
  // could not be made.
  void departed(Neighbour& n, std::uint32_t blocks, std::uint64_t bytes);

  // The neighbour's State has been taken over.
  void told(const Neighbour& n) {
    if (source_) source_->told(n);
  }
  // Which generations can be served has changed.
  void holdings_changed() { source_ ? source_->look_again() : relay_.look_again(); }
  // Time has passed: that lets a block go where the rate was limited or a socket is stuck.
  void wake();
  // Sends blocks where the uplink was stirred, as long as the limit allows and some socket takes
  // one.
  void step() override;
  TimeUs next_due() override;
  // What waits in the neighbour's socket waits for its side, not for our uplink.
  bool stuck(const Neighbour& n) const { return sockets_.stuck(n, context_.now); }
  // Why no block goes to it; nullopt: nothing stands against it but its turn. For people: the time
  // that this takes grows with the generations.
  std::optional<WhyNot> why_not(const Neighbour& n) const;

  void neighbour_left(const Neighbour& n) override;

 private:
  void pump();
  std::uint32_t at_once(double blocks_per_second) const;
  std::uint32_t busy_max(double blocks_per_second) const;
  void send_run(Neighbour& n, const policy::Choice& first, std::uint32_t at_once);
  SendBlock make(Neighbour& n, const policy::Choice& choice);
  void choose_plain(Neighbour& n, std::optional<std::uint32_t> chosen, SendBlock& out);
  void draw_vector(const Neighbour& n, const std::vector<std::uint8_t>& null, SendBlock& out);
  void mix(const Neighbour& n, std::size_t rows_max, SendBlock& out);

  Uplink& uplink_;
  const Holdings& holdings_;
  Granting& granting_;
  Seeding& seeding_;
  const trust::Trust& trust_;
  Spread& spread_;
  Contributions& contributions_;
  SocketLine sockets_;
  std::optional<policy::SourcePolicy> source_;  // of a source; else the other one
  policy::RelayPolicy relay_;
  codec::CoefficientStream random_;
};

}  // namespace firn::core
