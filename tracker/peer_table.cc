#include "tracker/peer_table.h"

#include <cstring>

namespace firn::tracker {

std::uint64_t PeerTable::hash(std::uint32_t content, const PeerId& id) const {
  std::array<std::uint64_t, 5> words{};
  std::memcpy(words.data(), id.bytes.data(), id.bytes.size());
  words.back() = content;
  return hash_(words);
}

std::uint32_t PeerTable::find(std::uint32_t content, const PeerId& id) const {
  return index_.find(hash(content, id), Chain<const PeerTable>{*this}, [&](std::uint32_t number) {
    const PeerRecord& record = records_[number];
    return record.content == content && record.peer.endpoint.id == id;
  });
}

std::uint32_t PeerTable::add(std::uint32_t content, const PackedPeer& peer) {
  const std::uint32_t number = records_.take();
  records_[number].content = content;
  records_[number].peer = peer;
  index_.insert(number, Chain<PeerTable>{*this});
  return number;
}

void PeerTable::remove(std::uint32_t number) {
  index_.remove(number, Chain<PeerTable>{*this});
  records_.give(number);
}

}  // namespace firn::tracker
