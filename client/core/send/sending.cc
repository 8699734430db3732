#include "client/core/send/sending.h"

#include <algorithm>

#include "client/core/base/constants.h"
#include "client/core/send/choice/late_binding.h"
#include "client/core/send/choice/mixture.h"
#include "client/core/send/choice/plain_blocks.h"
#include "codec/encode.h"

namespace firn::core {

// At most, where blocks wait before the receivers' links [085].
constexpr std::uint32_t kBusyConnectionsElsewhere = 64;
// To draw a vector that is not orthogonal to a null vector; one try in 256 fails.
constexpr int kNullVectorTries = 8;
// Rows that are mixed into a block [053]. More costs CPU; double: +2 % where a source leaves [096].
constexpr std::uint32_t kMixtureRows = 16;

Sending::Sending(const MeshPart& mesh, Uplink& uplink, const Holdings& holdings, Granting& granting,
                 Seeding& seeding, const trust::Trust& trust, Spread& spread,
                 Contributions& contributions)
    : MeshPart(mesh),
      uplink_(uplink),
      holdings_(holdings),
      granting_(granting),
      seeding_(seeding),
      trust_(trust),
      spread_(spread),
      contributions_(contributions),
      relay_(context_.options.seed),
      random_(context_.options.seed, 0x636f646573) {}

void Sending::begin_as_source() {
  source_.emplace(holdings_.shape(), context_.options.dense);
}

void Sending::departed(Neighbour& n, std::uint32_t blocks, std::uint64_t bytes) {
  n.traffic.sent(bytes, context_.now);
  // What stood in a stuck socket did not wait for our uplink.
  if (bytes > 0 && n.pipe.queued() > 0 && !sockets_.stuck(n, context_.now))
    uplink_.block_waited(context_.now - n.pipe.waiting_since());
  if (source_) n.pipe.deepen(uplink_.times_on_way());
  for (std::uint32_t i = 0; i < blocks; ++i) {
    const std::uint32_t number = n.block_departed(bytes / blocks, context_.now);
    if (bytes == 0) seeding_.not_made(n.key, number);
  }
  sockets_.update(n);
  told(n);
}

void Sending::neighbour_left(const Neighbour& n) {
  sockets_.neighbour_left(n.key);
  if (source_) source_->neighbour_left(n);
}

void Sending::wake() {
  if (!uplink_.unlimited() || sockets_.any_stuck(context_.now)) uplink_.stir();
}

// Blocks that are chosen for a neighbour at a time.
std::uint32_t Sending::at_once(double blocks_per_second) const {
  return source_ ? policy::blocks_at_once(blocks_per_second, holdings_.shape().block_bytes) : 1;
}

std::uint32_t Sending::busy_max(double blocks_per_second) const {
  if (!source_) return policy::busy_connections_relay(blocks_per_second);
  const std::uint32_t of_own_link = policy::busy_connections_source(
      blocks_per_second, at_once(blocks_per_second), holdings_.shape().block_bytes);
  return std::max(of_own_link, std::min<std::uint32_t>(of_own_link * uplink_.times_on_way(),
                                                       kBusyConnectionsElsewhere));
}

void Sending::step() {
  granting_.look_anew();
  if (const auto rows_lost = contributions_.review()) {
    holdings_changed();
    if (source_ && *rows_lost) source_->rows_lost(std::as_const(membership_).neighbours());
  }
  if (uplink_.take_stirred()) pump();
}

void Sending::pump() {
  if (holdings_.total_rank() == 0) return;
  const TimeUs now = context_.now;
  if (!source_ && holdings_.whole() && membership_.neighbours().size() > kFewToLookAt) {
    begin_as_source();
    for (const Neighbour& n : std::as_const(membership_).neighbours()) source_->told(n);
  }
  const double rate = uplink_.blocks_per_second(now);
  const bool small_mesh = membership_.small_mesh();
  const std::uint32_t most = busy_max(rate);
  sockets_.set_patience(policy::uplink_patience(rate, most * at_once(rate)));
  const Neighbours& neighbours = membership_.neighbours();
  // Where a neighbour's reader waits for this source, others' blocks would share the link with its.
  const bool rush = source_ && most <= policy::kBusyConnectionsSource && source_->some_hurry();
  policy::Sockets sockets{sockets_.busy(now, most), rush ? 1 : most};
  const policy::RelayPolicy::Circumstances circumstances{small_mesh, trust_.terms().trial_from};
  while (uplink_.ready(now)) {
    const auto choice = source_ ? source_->choose(holdings_, neighbours, small_mesh, sockets, now)
                                : relay_.choose(holdings_, neighbours, circumstances, sockets, now);
    if (!choice) break;
    Neighbour& n = *membership_.find(choice->peer);
    const bool idle = n.pipe.queued() == 0;
    send_run(n, *choice, at_once(rate));
    if (idle) ++sockets.busy;
  }
  uplink_.waiting(sockets_.busy(now, 1) > 0, now);
}

std::optional<WhyNot> Sending::why_not(const Neighbour& n) const {
  if (holdings_.total_rank() == 0) return WhyNot::kNothingHeld;
  const std::uint32_t most = busy_max(uplink_.blocks_per_second(context_.now));
  const policy::Sockets sockets{sockets_.busy(context_.now, most), most};
  const policy::RelayPolicy::Circumstances circumstances{membership_.small_mesh(),
                                                         trust_.terms().trial_from};
  const auto why = source_ ? source_->why_not(holdings_, n, sockets)
                           : relay_.why_not(holdings_, std::as_const(membership_).neighbours(), n,
                                            circumstances, sockets, context_.now);
  return !why && uplink_.held_up() ? WhyNot::kRateLimit : why;
}

// A socket that turns out to be stuck makes way for others.
TimeUs Sending::next_due() {
  if (std::as_const(membership_).neighbours().empty()) return kNever;
  return std::min(sockets_.next_stuck(context_.now), uplink_.next_due(context_.now));
}

// Draws a coding vector. With a null vector z the draw is repeated until v.z != 0: then v is
// outside the receiver's span for certain. Few rows may all be orthogonal to z, so then all are
// mixed.
void Sending::draw_vector(const Neighbour& n, const std::vector<std::uint8_t>& null,
                          SendBlock& out) {
  const std::uint32_t g = out.block.generation;
  const std::uint32_t few = context_.options.mixture_rows;
  const std::size_t rows_max = !null.empty() ? 0 : few > 0 ? few : kMixtureRows;
  for (int tries = 1;; ++tries) {
    if (out.block.recoded) {
      mix(n, rows_max, out);
    } else {
      out.block.coefficients = codec::random_vector(holdings_.blocks_in(g), random_);
    }
    const bool last = null.empty() || tries == kNullVectorTries;
    if (last || codec::dot(out.block.coefficients, null) != 0) return;
  }
}

// Of an open generation: the rows, how they are mixed, and the vector that comes of it.
void Sending::mix(const Neighbour& n, std::size_t rows_max, SendBlock& out) {
  const std::uint32_t g = out.block.generation;
  const RemoteGeneration* known = n.holds.partial().find(g);
  const policy::MixtureFor wanted{n.id, n.holds.takes(), rows_max, known ? &known->mixed : nullptr};
  Holdings::Mix made = holdings_.recode(
      g, policy::choose_mixture(*holdings_.find_open(g), wanted, random_), random_);
  out.slots = std::move(made.slots);
  out.mix = std::move(made.mix);
  out.block.coefficients = std::move(made.vector);
}

// The source block that was chosen, or one of those that the neighbour asks for, by chance:
// neighbours that ask for the same ones are to get different ones, as they send them to each other.
void Sending::choose_plain(Neighbour& n, std::optional<std::uint32_t> chosen, SendBlock& out) {
  const std::uint32_t g = out.block.generation;
  const std::vector<std::uint32_t> blocks = policy::plain_blocks(holdings_, n, g);
  const std::uint32_t i =
      chosen ? *chosen : blocks[random_.below(static_cast<std::uint32_t>(blocks.size()))];
  out.block.source_index = i;
  out.block.unproven = false;
  n.holds.source_block_sent(g, i);
  const OpenGeneration* open = holdings_.find_open(g);
  if (!open) return;
  out.slots = {*open->slot_of(i)};
  out.mix = {1};
}

// The block that was chosen, and of the same generation as many more as make `at_once`, as far as
// the neighbour takes them.
void Sending::send_run(Neighbour& n, const policy::Choice& first, std::uint32_t at_once) {
  std::optional<policy::Choice> next = first;
  for (std::uint32_t made = 0; next;) {
    SendBlock out = make(n, *next);
    if (source_) source_->served(*next, context_.now);
    const bool more = ++made < at_once && uplink_.ready(context_.now);
    next = more ? source_->again(*next, holdings_, membership_.neighbours()) : std::nullopt;
    out.more_follow = next.has_value();
    outbox_.push(std::move(out));
  }
  sockets_.update(n);
  told(n);
}

// The order for a block, which is booked with it.
SendBlock Sending::make(Neighbour& n, const policy::Choice& choice) {
  const std::uint32_t g = choice.generation;
  SendBlock out;
  out.peer = n.key;
  out.block.generation = g;
  const OpenGeneration* open = holdings_.find_open(g);
  out.block.recoded = open != nullptr;
  out.block.unproven = open && open->proven < open->count(n.holds.takes());
  if (choice.plain) {
    choose_plain(n, choice.source_index, out);
  } else if (choice.source_index) {
    out.block.source_index = choice.source_index;
  } else {
    std::vector<std::uint8_t> null;
    if (choice.use_null_vector) null = n.holds.null_vector(g)->z();
    draw_vector(n, null, out);
    out.exchangeable = !out.block.recoded && null.empty();
  }
  out.block.sequence = n.book_block(g, context_.now);
  n.holds.mixture_sent(g, out.slots);
  // What is concluded from a vector later must not be concluded from one that was never sent.
  if (seeding_.sent(out.block, n.key)) out.exchangeable = false;
  if (source_ && spread_.sent(out.block, n)) out.exchangeable = false;
  out.block.state = granting_.riding_state(n);
  uplink_.chose_block(proto::wire_bytes(out.block) + holdings_.shape().block_bytes);
  return out;
}

}  // namespace firn::core
