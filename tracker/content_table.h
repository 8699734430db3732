// The contents that have peers, each with a number, found by its id.
#pragma once

#include <cstdint>

#include "tracker/number_index.h"
#include "tracker/swarm.h"

namespace firn::tracker {

struct ContentRecord {
  ContentId id;
  Swarm swarm;                  // has a peer, but for the moment in which it is made
  std::uint32_t share = kNone;  // in the table's shares
  std::uint32_t link = kNone;   // in this table's index
  std::uint32_t& free_link() { return link; }
};

// One thread.
class ContentTable {
 public:
  explicit ContentTable(const SeededHash& hash) : hash_(hash) {}

  std::uint32_t size() const { return records_.size(); }
  ContentRecord& operator[](std::uint32_t number) { return records_[number]; }
  const ContentRecord& operator[](std::uint32_t number) const { return records_[number]; }

  std::uint32_t find(const ContentId& id) const;  // kNone: it is not there
  // Not there yet. Records stay where they are.
  std::uint32_t add(const ContentId& id);
  void remove(std::uint32_t number);

  template <class Visit>
  void for_each(const Visit& visit) const {
    for (std::uint32_t number = 0; number < records_.end(); ++number)
      if (records_[number].swarm.size() > 0) visit(records_[number]);
  }

 private:
  template <class Table>
  struct Chain {
    Table& table;
    auto& link(std::uint32_t number) const { return table.records_[number].link; }
    std::uint64_t hash(std::uint32_t number) const { return table.hash(table.records_[number].id); }
  };
  std::uint64_t hash(const ContentId& id) const;

  const SeededHash hash_;
  NumberPool<ContentRecord> records_;
  NumberIndex index_;
};

}  // namespace firn::tracker
