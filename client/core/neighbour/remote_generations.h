// What is known of the generations that a neighbour holds in part: a table by generation number,
// in pages, as those under way lie together. Reading one entry costs two steps, whatever the
// content's size; a neighbour that names generations all over it costs a bounded number of pages.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "client/core/rows/generation_set.h"

namespace firn::core {

// Partial generations that are kept of one neighbour: memory it can make us use.
inline constexpr std::uint32_t kRemotePagesMax = 2048;

// A generation that a neighbour has not verified, as its last State tells.
struct RemoteGeneration {
  static constexpr std::uint16_t kNoQuota = 0xffff;

  std::uint32_t in_flight = 0;       // blocks sent to it and not acknowledged
  std::uint32_t sent = 0;            // blocks sent to it, of rows that are still held
  std::uint32_t first_sequence = 0;  // older blocks in flight belong to an earlier life of it
  std::uint16_t rank = 0;
  std::uint16_t quota = kNoQuota;  // it takes this many in flight; kNoQuota: no limit but credit
  bool present = false;
  bool has_null_vector = false;  // Neighbour::null_vector has it
  bool plain = false;            // it takes source blocks alone: RemoteHoldings::wanted_blocks
  SlotSet mixed;                 // slots of ours whose rows were in mixtures for it

  std::uint32_t expected_rank() const { return rank + in_flight; }
  bool quota_used() const { return quota != kNoQuota && in_flight >= quota; }
};

class RemoteGenerations {
 public:
  explicit RemoteGenerations(std::uint32_t generation_count = 0)
      : pages_((generation_count + kPage - 1) / kPage) {}

  // Null where nothing is known.
  const RemoteGeneration* find(std::uint32_t g) const {
    const Page* page = pages_[g / kPage].get();
    return page && page->entries[g % kPage].present ? &page->entries[g % kPage] : nullptr;
  }
  RemoteGeneration* find(std::uint32_t g) {
    return const_cast<RemoteGeneration*>(std::as_const(*this).find(g));
  }
  // The entry, made if there is none: then its first block will have the number `next_sequence`.
  RemoteGeneration& open(std::uint32_t g, std::uint32_t next_sequence) {
    std::unique_ptr<Page>& page = pages_[g / kPage];
    if (!page) {
      page = std::make_unique<Page>();
      ++page_count_;
    }
    RemoteGeneration& entry = page->entries[g % kPage];
    if (!entry.present) {
      entry.present = true;
      entry.first_sequence = next_sequence;
      ++page->present;
    }
    return entry;
  }
  void erase(std::uint32_t g) {
    std::unique_ptr<Page>& page = pages_[g / kPage];
    if (!page || !page->entries[g % kPage].present) return;
    page->entries[g % kPage] = {};
    if (--page->present > 0) return;
    page.reset();
    --page_count_;
  }
  // Whether what a neighbour says of g may take memory.
  bool has_room(std::uint32_t g) const {
    return pages_[g / kPage] != nullptr || page_count_ < kRemotePagesMax;
  }

  // For each entry, f(generation, entry).
  template <typename F>
  void each(F&& f) const {
    each_in(0, static_cast<std::uint32_t>(pages_.size()) * kPage, f);
  }
  // For those of generations from..end-1.
  template <typename F>
  void each_in(std::uint32_t from, std::uint32_t end, F&& f) const {
    for (std::uint32_t g = from; g < end; g = (g / kPage + 1) * kPage) {
      const Page* page = pages_[g / kPage].get();
      const std::uint32_t until = std::min(end, (g / kPage + 1) * kPage);
      for (std::uint32_t at = g; page && at < until; ++at) {
        const RemoteGeneration& entry = page->entries[at % kPage];
        if (entry.present) f(at, entry);
      }
    }
  }

 private:
  static constexpr std::uint32_t kPage = 32;
  struct Page {
    std::array<RemoteGeneration, kPage> entries;
    std::uint32_t present = 0;
  };
  std::vector<std::unique_ptr<Page>> pages_;
  std::uint32_t page_count_ = 0;
};

}  // namespace firn::core
