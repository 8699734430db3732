// The bodies of the two pages: all contents, and one of them. Parts that change have ids, by which
// a live page takes them over.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/app/page/form_markup.h"
#include "client/app/page/rank_map.h"
#include "client/app/page/rate_history.h"
#include "client/app/page/status_source.h"
#include "proto/web/live_update.h"

namespace firn::app {

using web::Regions;

// What a page shows part of.
struct PageView {
  std::string path;  // of the page
  MapRange range;
  std::size_t page = 0;  // of a long table
  bool may_change = false;
  std::optional<Refusal> refused;
};

inline constexpr std::size_t kContentsOnPage = 200;

Regions contents_regions(const ContentFacts& facts, const RateHistory::Samples& rates,
                         const PageView& view);
// Of the list: `facts.details` is an array.
std::string contents_page(const ContentFacts& facts, const RateHistory::Samples& rates,
                          const PageView& view);

// With the rows of the map one by one.
Regions content_regions(const ContentFacts& facts, const RankMap& map,
                        const RateHistory::Samples& rates, const PageView& view);
std::string content_page(const ContentFacts& facts, const RankMap& map,
                         const RateHistory::Samples& rates, const PageView& view);

// Says what failed, or what is not there.
std::string failure_page(const std::string& title, const std::string& text);

}  // namespace firn::app
