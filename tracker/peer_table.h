// The peers of all swarms, each a record of 96 bytes with a number: found by content and id. What a
// record holds of orders and groups is theirs (swarm_table.h, prefix_table.h, swarm.h).
#pragma once

#include <cstdint>

#include "tracker/kind_list.h"
#include "tracker/number_index.h"
#include "tracker/number_ring.h"
#include "tracker/origin.h"
#include "tracker/registry.h"
#include "tracker/seeded_hash.h"

namespace firn::tracker {

struct PeerRecord {
  PackedPeer peer;
  Kind kind = Kind::kHidden;
  bool is_grouped : 1 = false;  // with others of its prefix
  bool is_shared : 1 = false;   // `share` is one
  Time seen{};
  std::uint32_t content = kNone;
  RingLinks ring;                     // by age
  std::uint32_t slot = 0;             // in its group, or, alone of its prefix, in its swarm
  std::uint32_t group = kNone;        // or, alone of its prefix, the link in the prefixes' index
  std::uint32_t share = kNone;        // in the table's shares
  std::uint32_t swarm_share = kNone;  // in its swarm's, where there are any
  std::uint32_t link = kNone;         // in this table's index
  std::uint32_t& free_link() { return link; }
};
static_assert(sizeof(PeerRecord) == 96);  // there may be ten million

// One thread.
class PeerTable {
 public:
  explicit PeerTable(const SeededHash& hash) : hash_(hash) {}

  std::uint32_t size() const { return records_.size(); }
  PeerRecord& operator[](std::uint32_t number) { return records_[number]; }
  const PeerRecord& operator[](std::uint32_t number) const { return records_[number]; }

  std::uint32_t find(std::uint32_t content, const PeerId& id) const;  // kNone: it is not there
  // Not there yet. Records stay where they are.
  std::uint32_t add(std::uint32_t content, const PackedPeer& peer);
  void remove(std::uint32_t number);

 private:
  template <class Table>
  struct Chain {
    Table& table;
    auto& link(std::uint32_t number) const { return table.records_[number].link; }
    std::uint64_t hash(std::uint32_t number) const {
      const PeerRecord& record = table.records_[number];
      return table.hash(record.content, record.peer.endpoint.id);
    }
  };
  std::uint64_t hash(std::uint32_t content, const PeerId& id) const;

  const SeededHash hash_;
  NumberPool<PeerRecord> records_;
  NumberIndex index_;
};

inline Origin origin_of(const PeerRecord& record) {
  return Origin(record.peer.endpoint);
}

}  // namespace firn::tracker
