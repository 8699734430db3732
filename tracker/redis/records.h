// The bytes in which trackers keep peers in Redis and tell one another of changes. Integers are
// little-endian.
//
//   a peer, in its content's hash          a change, in an entry of the stream
//     0  1     flags                         0   32    content
//     1  2     port                          32  32    peer
//     3  4|16  address                       64  4     age in ms when the entry was written
//                                            68        the peer's record; of one that left
//                                                      its flags alone
//
// Flags: 1 complete, 2 IPv6, 4 left. Other programs may write to the same Redis: what is not of
// this form is refused as a whole.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tracker/redis/letters.h"

namespace firn::tracker {

inline constexpr std::size_t kPeerRecordBytesMax = 19;
// Of an entry; a reader takes twice that.
inline constexpr std::size_t kChangesBytesMax = 64 << 10;

std::string peer_record(const PackedPeer& peer);
// nullopt if it is none.
std::optional<PackedPeer> parse_peer_record(const PeerId& id, std::string_view bytes);

void append_change(std::string& to, const PeerChange& change, Time now);
// Of an entry that was written at `written`. nullopt if it is none.
std::optional<std::vector<PeerChange>> parse_changes(std::string_view bytes, Time written);

void append_id(std::string& to, const ContentId& content);
std::optional<std::vector<ContentId>> parse_ids(std::string_view bytes);

}  // namespace firn::tracker
