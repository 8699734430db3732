// Inside the swarm core: its state, and what its parts (swarm_peers.cc, swarm_receive.cc,
// swarm_send.cc, swarm_upkeep.cc) do with it.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/core/announcer.h"
#include "client/core/departure.h"
#include "client/core/holdings.h"
#include "client/core/manifest_fetch.h"
#include "client/core/neighbour.h"
#include "client/core/peer_book.h"
#include "client/core/policy/constants.h"
#include "client/core/policy/late_binding.h"
#include "client/core/policy/leases.h"
#include "client/core/policy/relay_policy.h"
#include "client/core/policy/source_policy.h"
#include "client/core/rate_limit.h"
#include "client/core/rates.h"
#include "client/core/rescue.h"
#include "client/core/swarm.h"
#include "codec/random.h"

namespace firn::core {

struct SwarmCore::Impl {
  Impl(const ContentId& content_id, Options options, TimeUs now);

  // --- swarm_peers.cc: who we talk to, and everything that is not blocks ---
  void peer_opened(PeerKey peer, const PeerId& id, const std::string& ip, std::uint16_t port,
                   std::uint64_t attempt);
  void book_opened(std::uint64_t attempt, const PeerId& id);
  bool make_room(const std::string& ip);
  void bound_history();
  void peer_closed(PeerKey peer, const std::string& why);
  void message(PeerKey peer, proto::PeerMessage&& message, std::size_t frame_bytes);
  void on(Neighbour& n, proto::Hello&& hello);
  void on(Neighbour& n, proto::State&& state);
  void on(Neighbour& n, proto::ManifestRequest&& request);
  void on(Neighbour& n, proto::ManifestPart&& part);
  void on(Neighbour& n, proto::PeerExchange&& exchange);
  void on(Neighbour& n, proto::Goodbye&& goodbye);
  // Says goodbye and forgets the neighbour; the reference is dead afterwards.
  void drop(Neighbour& n, proto::GoodbyeReason reason, const std::string& detail);
  // drop, and hold it against the peer.
  void punish(const PeerId& id, proto::GoodbyeReason reason, const std::string& what);
  // `why`: what is said of its address from now on.
  void forget(Neighbour& n, bool useless, const std::string& why);
  void send(Neighbour& n, proto::PeerMessage message);
  bool part_if_useless(Neighbour& n);
  void share_peers(Neighbour& n, TimeUs came_since);
  void manifest_part_departed(PeerKey peer);
  void queue_manifest_part(Neighbour& n);
  void send_manifest_parts();
  void send_manifest_part(Neighbour& n);
  std::uint64_t manifest_part_bytes() const;
  Neighbour* manifest_holder();
  void ask_for_manifest();
  void manifest_arrived(Manifest manifest);
  void notice(Notice::Kind kind, std::string text);
  Neighbour* find(PeerKey peer);

  // --- swarm_receive.cc: blocks that arrive, and what becomes of generations ---
  void on(Neighbour& n, proto::Block&& block);
  bool check_block(Neighbour& n, const proto::Block& block);
  void accept_row(Neighbour& n, proto::Block&& block);
  void start_decode(std::uint32_t g);
  void generation_decoded(std::uint32_t g, DecodeOutcome outcome);
  void generation_false(std::uint32_t g);
  void evidence_checked(std::uint32_t g, const std::vector<PeerId>& guilty);
  void row_left_memory();
  void changed(std::uint32_t g);
  void complete_now(std::uint32_t g);
  void lose(std::uint32_t g);
  void discard_rows_of(const PeerId& id);
  void check_usefulness(Neighbour& n);
  std::vector<PeerId> holders_of(std::uint32_t g) const;
  policy::GrantLimits grant_limits();
  // Whether rows of a generation are welcome of which we hold none. Vectors (twice, holdings.h)
  // and their reduced forms stay in memory wherever payloads go, 3 n^2 bytes for a generation; the
  // shape is a stranger's choice, so what may be open at once depends on it.
  bool may_open(std::uint32_t g);
  std::set<std::uint32_t> not_opened;  // turned away so; neighbours hear of them when there is room
  std::set<std::uint32_t> lost;        // told with a share to each, and back at rank 0
  std::uint32_t next_lost = 0;         // from which on they are told next
  // What the down limit counts for a block that is granted; settled when it comes.
  std::uint64_t granted_block_bytes() const {
    return std::uint64_t{holdings->shape().block_bytes} + holdings->generation_size() +
           policy::kBlockFrameBytes;
  }

  // --- swarm_send.cc: blocks and states that leave ---
  void pump();
  void send_block(const policy::Choice& choice);
  std::vector<std::uint8_t> draw_vector(std::uint32_t g, const std::vector<std::uint8_t>& null,
                                        SendBlock& out);
  std::uint32_t upload_kib() const;
  void send_initial_state(Neighbour& n);
  bool can_grant(const Neighbour& n);
  bool has_news(const Neighbour& n);
  TimeUs state_due(Neighbour& n);
  TimeUs work_out_state_due(const Neighbour& n);
  void review_grants();
  void send_due_states();
  proto::State make_state(Neighbour& n, std::size_t entries_max);

  // --- swarm_upkeep.cc: what time brings ---
  void step();
  bool small_mesh() const;
  std::size_t neighbours_wanted() const;
  std::size_t neighbours_max() const;
  void dial();
  bool wants_to_dial() const;
  bool lonely() const;
  void announce();
  void check_connections();
  TimeUs exchange_due(bool all) const;
  void exchange_peers();
  void replace_neighbour();
  void refresh_quotas();
  void share_lost_anew();
  void check_stalls();
  bool stands_still(std::uint32_t g, const OpenGeneration& open) const;
  TimeUs stuck_patience() const;
  void review_rescues();
  void check_completion();
  bool duty_done() const;
  bool may_depart();
  void stop();
  TimeUs next_wake();
  Report report() const;

  // --- swarm_view.cc: what people are shown ---
  Standstill standstill();
  PeerStatus status_of(const Neighbour& n) const;

  const ContentId content_id;
  const Options options;
  TimeUs now;
  TimeUs started_at;
  std::vector<Action> actions;

  PeerBook book;
  Announcer announcer;
  ManifestFetch fetch;
  std::map<std::size_t, std::uint32_t> tracked_peers;  // by tracker: the swarm that it told of
  bool tracker_fetch_busy = false;
  bool manifest_found = false;

  std::string manifest_file;
  std::optional<Holdings> holdings;  // from start() on
  std::optional<policy::SourcePolicy> source;
  std::optional<Departure> departure;  // of a source that leaves when that is safe
  policy::RelayPolicy relay;
  Rescue rescue{0};
  // One stream for each part that draws, so that what one part draws changes nothing in another.
  codec::CoefficientStream coding_random;  // coding vectors of blocks
  codec::CoefficientStream null_random;    // null vectors of what stands still

  Neighbours neighbours;
  std::map<PeerId, NeighbourReport> history;
  struct Extra {
    TimeUs told_peers_at = 0;           // it was told of others
    TimeUs gossip_due = 0;              // before then its peer exchange is not listened to
    std::uint64_t blocks_reviewed = 0;  // moved both ways when its use was last looked at
    std::optional<std::uint64_t> manifest_wanted;  // offset of the part it asked for, not yet sent
    bool manifest_part_leaves = false;             // one was sent and is not out of our hands
  };
  std::map<PeerKey, Extra> extra;

  RateMeter sent_rate{1 * kSecond};  // blocks, to everybody
  UplinkMeter uplink;
  RateLimit up;
  RateLimit down;
  bool paused = false;
  std::string store_error;  // while it is paused
  TimeUs progressed_at;
  bool store_finishing = false;
  bool complete = false;
  bool stopped = false;
  TimeUs completed_at = 0;
  std::uint64_t rows_in_memory = 0;
  std::uint32_t rotation = 0;
  TimeUs rotated_at = 0;
  TimeUs stall_checked_at = 0;
  std::uint32_t stall_looked = UINT32_MAX;  // the last generation looked at for a stall
  TimeUs exchanged_at = 0;                  // peer exchange with all
  TimeUs told_news_at = 0;                  // with those who have called us, at least
  bool exchange_news = false;               // since then somebody has come who accepts connections
  TimeUs reviewed_at = 0;                   // replace_neighbour
  TimeUs departure_due = 0;
  bool departure_proven = false;
  TimeUs connections_due = 0;         // when check_connections has something to do, at the earliest
  std::deque<PeerKey> manifest_line;  // neighbours that wait for a part, in order
  bool pump_due = false;              // something has happened that may let a block go
  // The limits allowed nothing more when the last step ended. Kept, as other contents of the
  // process may have had them refilled since: that is no reason to sleep on.
  bool up_waits = false;
  bool down_waits = false;
  // What decides for all neighbours at once when States are due.
  struct GrantRegime {
    bool open = false;  // anything can be granted at all
    bool room = false;  // more is missing than is promised
    bool end = false;
    bool operator==(const GrantRegime&) const = default;
  };
  GrantRegime grant_regime;

  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t blocks_innovative = 0;
  std::uint64_t blocks_redundant = 0;
  std::uint64_t blocks_recoded = 0;
  std::uint64_t blocks_sent = 0;
};

}  // namespace firn::core
