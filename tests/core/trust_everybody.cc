// The door of trust (client/core/trust/trust.h) with nothing behind it: every row is believed,
// every sender answers for what it sends, and nobody is banned. Linked in place of that folder it
// shows that the core needs no more of it than the door.
#include "client/core/trust/trust.h"

namespace firn::core::trust {

struct Trust::Parts {};

Trust::Trust(const World&, std::string, std::vector<Digest>, bool) {}
Trust::~Trust() = default;

void Trust::greeted(const Neighbour&) {}
void Trust::neighbour_left(const Neighbour&) {}
Admission Trust::admit(const Neighbour&, const proto::Block& block) {
  return {Admission::What::kTake, Standing::kAnswered, !block.recoded};
}
void Trust::placed(const Neighbour&, const proto::Block&, std::uint32_t) {}
void Trust::rows_gone(std::uint32_t, const std::vector<std::uint32_t>*) {}
void Trust::generation(std::uint32_t, Outcome) {}
bool Trust::message(const Neighbour&, Message&&) {
  return true;
}
void Trust::rows_judged(std::uint32_t, const std::vector<std::uint32_t>&,
                        const std::vector<std::uint32_t>&, bool) {}
void Trust::proof_made(PeerKey, std::variant<proto::CheckReply, proto::LeafReply>&&) {}
void Trust::step() {}
TimeUs Trust::next_due() const {
  return kNever;
}
std::optional<Verdict> Trust::next() {
  return std::nullopt;
}
Terms Trust::terms() const {
  static const std::vector<std::uint64_t> kNobody;
  return {false, false, kNever, kNobody};
}
Asks Trust::asks(const Neighbour&, std::uint32_t) {
  return {};
}
bool Trust::plain(std::uint32_t) const {
  return false;
}

}  // namespace firn::core::trust
