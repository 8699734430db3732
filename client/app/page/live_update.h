// One server-sent event (WHATWG HTML, section 9.2): what has changed of a page since the last.
//
//   {"regions": {"id": "<html>"}, "cells": [[index, "class", "title"], ...], "failure": "text"}
#pragma once

#include <map>
#include <string>
#include <vector>

#include "client/app/page/content_markup.h"
#include "client/app/page/rank_map.h"

namespace firn::app {

class LiveUpdate {
 public:
  static constexpr std::size_t kCellsMax = 512;  // in an event; others come with the next

  // What the reader has: regions by id; of each cell the class and title. commit() brings both up
  // to date.
  LiveUpdate(std::map<std::string, std::string>& sent_regions, std::vector<std::string>& sent_cells)
      : sent_regions_(sent_regions), sent_cells_(sent_cells) {}

  void regions(const Regions& regions);
  void cells(const RankMap& map, const std::vector<core::PeerStatus>& peers);
  void fail(const std::string& why) { json_["failure"] = why; }

  // The event; a comment where nothing has changed.
  std::string text() const;
  // The reader gets it.
  void commit();

 private:
  std::map<std::string, std::string>& sent_regions_;
  std::vector<std::string>& sent_cells_;
  Regions changed_regions_;
  std::vector<std::pair<std::size_t, std::string>> changed_cells_;
  std::size_t cell_count_ = 0;
  Json json_ = Json::object();
};

}  // namespace firn::app
